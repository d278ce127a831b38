package function_test

import (
	"archive/zip"
	"bytes"
	"context"
	"errors"
	"io"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/hikyaku/hikyaku/internal/function"
	"github.com/hikyaku/hikyaku/internal/function/code"
	"github.com/hikyaku/hikyaku/internal/function/loader"
)

// zipped is an archive with one file, which may be run.
func zipped(t *testing.T, name, text string) []byte {
	t.Helper()
	var buf bytes.Buffer
	w := zip.NewWriter(&buf)
	h := &zip.FileHeader{Name: name, Method: zip.Deflate}
	h.SetMode(0o755)
	f, err := w.CreateHeader(h)
	if err == nil {
		_, err = io.WriteString(f, text)
	}
	if err == nil {
		err = w.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	return buf.Bytes()
}

// climbing is an archive with a file that would land outside of its folder.
func climbing(t *testing.T) []byte { return zipped(t, "../bootstrap", "") }

// Whatever one function does, another one answers, and its instance stays.
func TestWhateverOneFunctionDoesOthersAreUntouched(t *testing.T) {
	p := open(t, function.Config{LogBytes: 100_000})
	deploy(t, p, func(d *function.Definition) { d.MemoryMB = 128 })
	deploy(t, p, func(d *function.Definition) { d.Name, d.MemoryMB, d.Timeout = "endless", 128, 300*time.Millisecond })
	deploy(t, p, func(d *function.Definition) { d.Name, d.MemoryMB = "other", 1769 })
	deploy(t, p, func(d *function.Definition) {
		d.Name, d.Environment = "broken", map[string]string{"INIT": "exit"}
	})
	ctx, cancel := context.WithCancel(t.Context())
	over := make(chan int)
	go func() {
		n := 0
		defer func() { over <- n }()
		for ; ctx.Err() == nil; n++ {
			r, err := p.Invoke(t.Context(), function.Request{Function: "other", Payload: []byte(strconv.Itoa(n))})
			if err != nil || r.FunctionError != "" || string(r.Payload) != strconv.Itoa(n) {
				t.Errorf("invocation %d of the other: %+v, %v", n, r, err)
				return
			}
		}
	}()
	faults := []struct{ function, event, kind string }{
		{"f", `{"do":"crash","n":3}`, "Runtime.ExitError"},
		{"f", `{"do":"crash after"}`, ""},
		{"f", `{"do":"twice"}`, ""},
		{"f", `{"do":"stranger"}`, ""},
		{"f", `{"do":"error","text":"x"}`, "Oops"},
		{"f", `{"do":"large","n":7000000}`, "Function.ResponseSizeTooLarge"},
		{"f", `no JSON {`, ""},
		{"endless", `{"do":"loop"}`, "Sandbox.Timedout"},
		{"endless", `{"do":"sleep","millis":100000}`, "Sandbox.Timedout"},
		{"endless", `{"do":"flood"}`, "Sandbox.Timedout"},
		{"broken", `{}`, "Runtime.ExitError"},
	}
	if p.Machine().Limits.Memory {
		faults = append(faults, faults[0])
		faults[0].event, faults[0].kind = `{"do":"leak"}`, "Runtime.OutOfMemory"
	}
	for _, f := range faults {
		r, err := p.Invoke(t.Context(), function.Request{Function: f.function, Payload: []byte(f.event)})
		if err != nil || r.ErrorType != f.kind {
			t.Errorf("%s with %s: %+v, %v", f.function, f.event, r, err)
		}
	}
	cancel()
	n := <-over
	if s, err := p.Stats("other", ""); err != nil || s.ColdStarts != 1 || s.Invocations != int64(n) {
		t.Errorf("the other was invoked %d times: %+v, %v", n, s, err)
	}
}

func TestAFailureComesWithWhatToDo(t *testing.T) {
	p := open(t, function.Config{})
	for _, c := range []struct{ event, init, says string }{
		{`{"do":"sleep","millis":1000000}`, "", "raise its timeout, which is 300ms, or see in its log what it waits " +
			"for (hikyaku function logs f)"},
		{`{"do":"crash","n":1}`, "", "its log says more (hikyaku function logs f)"},
		{`{"do":"error","text":"x"}`, "", "its log says more (hikyaku function logs f)"},
		{`{}`, "exit", "its log says more (hikyaku function logs f)"},
		{`{}`, "", ""},
	} {
		deploy(t, p, func(d *function.Definition) {
			if d.Environment = map[string]string{"INIT": c.init}; strings.Contains(c.says, "300ms") {
				d.Timeout = 300 * time.Millisecond
			}
		})
		if r := invoke(t, p, c.event); r.Advice != c.says {
			t.Errorf("%s: %s: %q, want %q", c.event, r.ErrorType, r.Advice, c.says)
		}
	}
	scripted(t, p, "python3", "testdata/python", "app.missing")
	if r := invoke(t, p, `{}`); r.Advice != `see to its handler "app.missing" and to what its code has to bring along` {
		t.Errorf("%q", r.Advice)
	}
	if p.Machine().Limits.Memory {
		deploy(t, p, func(d *function.Definition) { d.MemoryMB = 128 })
		if r := invoke(t, p, `{"do":"leak"}`); r.Advice != "give it more memory than 128 MB, or see what it keeps" {
			t.Errorf("%q", r.Advice)
		}
	}
	deploy(t, p, single)
	if r := invoke(t, p,
		`{"do":"large","n":7000000}`); r.Advice != "let it answer with at most 6291456 bytes, or stream" {
		t.Errorf("%q", r.Advice)
	}
}

func TestARuntimeThatThisMachineLacksIsSaidWhenAFunctionIsDeployed(t *testing.T) {
	p := open(t, function.Config{})
	t.Setenv("PATH", t.TempDir())
	for runtime, program := range map[string]string{"nodejs20.x": "node", "python3.12": "python3", "java21": "java"} {
		_, err := p.Deploy(function.Definition{Name: "f", Runtime: runtime, Handler: "a.b",
			Code: code.Source{Folder: built}})
		if !errors.Is(err, loader.ErrMissing) || !strings.HasPrefix(err.Error(), "function f: ") ||
			!strings.Contains(err.Error(), program+" is not on this machine's PATH: install it") {
			t.Errorf("%s: %v", runtime, err)
		}
	}
}

// An answer that comes about when its time is over is taken, or it is too late; never both, and the next invocation has
// its own.
func TestAnAnswerAtTheLastMomentIsTakenOrTooLate(t *testing.T) {
	p := open(t, function.Config{})
	deploy(t, p, func(d *function.Definition) {
		single(d)
		d.Timeout = 30 * time.Millisecond
		d.InitTimeout = time.Minute
	})
	for n := range 30 {
		r := invoke(t, p, `{"do":"sleep","millis":`+strconv.Itoa(25+n/3)+`}`)
		if late := r.ErrorType == "Sandbox.Timedout"; late == (string(r.Payload) == `"slept"`) {
			t.Errorf("%s: %s", r.ErrorType, r.Payload)
		}
		if log := string(r.LogTail); strings.Count(log, "END RequestId: "+r.RequestID) != 1 ||
			strings.Count(log, "START RequestId: "+r.RequestID) != 1 {
			t.Errorf("the log:\n%s", log)
		}
	}
}
