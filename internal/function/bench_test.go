package function_test

import (
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/hikyaku/hikyaku/internal/function"
	"github.com/hikyaku/hikyaku/internal/function/code"
	"github.com/hikyaku/hikyaku/internal/function/runtimeapi"
)

func benchPool(b *testing.B) *function.Pool {
	p, err := function.New(function.Config{Dir: b.TempDir()})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { p.Close() })
	_, err = p.Deploy(function.Definition{Name: "f", Runtime: "provided", Code: code.Source{Folder: built},
		MemoryMB: 3538, Timeout: time.Minute})
	if err != nil {
		b.Fatal(err)
	}
	return p
}

// BenchmarkWarm is one caller after the other; most of it is the function's own HTTP client.
func BenchmarkWarm(b *testing.B) {
	p := benchPool(b)
	r := function.Request{Function: "f", Payload: []byte(`{"a":1}`)}
	for b.Loop() {
		if _, err := p.Invoke(b.Context(), r); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkWarmLoaders is BenchmarkWarm in the languages whose loaders are ours.
func BenchmarkWarmLoaders(b *testing.B) {
	p := benchPool(b)
	for runtime, handler := range map[string]string{"nodejs": "index.async", "python": "app.handler"} {
		b.Run(runtime, func(b *testing.B) {
			dir := map[string]string{"nodejs": "testdata/node", "python": "testdata/python"}[runtime]
			if _, err := p.Deploy(function.Definition{Name: runtime, Runtime: runtime, Handler: handler,
				Code: code.Source{Folder: dir}, MemoryMB: 3538, Timeout: time.Minute}); err != nil {
				b.Fatal(err)
			}
			r := function.Request{Function: runtime, Payload: []byte(`{"a":1}`)}
			for b.Loop() {
				if _, err := p.Invoke(b.Context(), r); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkWarm16 is 16 callers at once. What this process spends itself is shown, too; the rest of the time is the
// function's.
func BenchmarkWarm16(b *testing.B) {
	p := benchPool(b)
	r := function.Request{Function: "f", Payload: []byte(`{"a":1}`)}
	began := spent(b)
	var wg sync.WaitGroup
	for range 16 {
		wg.Go(func() {
			for range b.N / 16 {
				if _, err := p.Invoke(b.Context(), r); err != nil {
					b.Error(err)
				}
			}
		})
	}
	wg.Wait()
	b.ReportMetric(float64((spent(b)-began).Microseconds())/float64(b.N), "us-ours")
}

// spent is the processor time of this process, to a hundredth of a second.
func spent(b *testing.B) (sum time.Duration) {
	b.Helper()
	text, err := os.ReadFile("/proc/self/stat")
	if err != nil {
		b.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(text), ") ")
	for _, field := range strings.Fields(rest)[11:13] { // in user mode, and in the kernel
		ticks, err := strconv.Atoi(field)
		if err != nil {
			b.Fatal(err)
		}
		sum += time.Duration(ticks) * 10 * time.Millisecond
	}
	return sum
}

// BenchmarkCold starts an instance each time.
func BenchmarkCold(b *testing.B) {
	p := benchPool(b)
	r := function.Request{Function: "f", Payload: []byte(`{"do":"crash after"}`)}
	for b.Loop() {
		if _, err := p.Invoke(b.Context(), r); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkTwoHundred is what 200 idle instances cost this process, beside their own.
func BenchmarkTwoHundred(b *testing.B) {
	for b.Loop() {
		p, err := function.New(function.Config{Dir: b.TempDir()})
		if err != nil {
			b.Fatal(err)
		}
		before := resident(b)
		if _, err := p.Deploy(function.Definition{Name: "f", Runtime: "provided", Code: code.Source{Folder: built},
			Provisioned: 200, InitTimeout: time.Minute}); err != nil {
			b.Fatal(err)
		}
		for {
			s, err := p.Stats("f", "")
			if err != nil {
				b.Fatal(err)
			}
			if s.Counts.Idle == 200 {
				break
			}
			time.Sleep(10 * time.Millisecond)
		}
		b.ReportMetric(float64(resident(b)-before)/(1<<20), "MB")
		if err := p.Close(); err != nil {
			b.Fatal(err)
		}
	}
}

// resident is what this process has in memory.
func resident(b *testing.B) int {
	b.Helper()
	text, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		b.Fatal(err)
	}
	pages, err := strconv.Atoi(strings.Fields(string(text))[1])
	if err != nil {
		b.Fatal(err)
	}
	return pages * os.Getpagesize()
}

// BenchmarkStart is how long a caller waits for an instance that has to start, and, beside it, how long the same
// program takes when it is started by hand until it asks for its first event.
func BenchmarkStart(b *testing.B) {
	const rest = 50 * time.Millisecond // what an instance leaves behind is not a part of the next one's start
	b.Run("pool", func(b *testing.B) {
		p := benchPool(b)
		r := function.Request{Function: "f", Payload: []byte(`{"do":"crash after"}`)}
		var waited time.Duration
		for b.Loop() {
			result, err := p.Invoke(b.Context(), r)
			if err != nil {
				b.Fatal(err)
			}
			waited += result.Waited
			time.Sleep(rest)
		}
		b.ReportMetric(float64(waited.Microseconds())/1000/float64(b.N), "ms-waited")
	})
	b.Run("by hand", func(b *testing.B) {
		var waited time.Duration
		for b.Loop() {
			h := hand{make(chan time.Time, 10)}
			s, err := runtimeapi.Listen(runtimeapi.Config{Handler: h})
			if err != nil {
				b.Fatal(err)
			}
			cmd := exec.Command(built + "/bootstrap")
			cmd.Env = []string{"AWS_LAMBDA_RUNTIME_API=" + s.Addr()}
			began := time.Now()
			if err := cmd.Start(); err != nil {
				b.Fatal(err)
			}
			waited += (<-h.asked).Sub(began)
			_ = cmd.Process.Kill()
			_ = cmd.Wait()
			s.Close()
		}
		b.ReportMetric(float64(waited.Microseconds())/1000/float64(b.N), "ms-waited")
	})
}

type hand struct{ asked chan time.Time }

func (h hand) Asked() {
	select {
	case h.asked <- time.Now():
	default:
	}
}
func (hand) Answered(*runtimeapi.Invocation, runtimeapi.Answer) {}
func (hand) InitFailed(string, []byte)                          {}
func (hand) ExtensionFailed(string, string)                     {}
