//go:build linux

package crash

import (
	"bufio"
	"context"
	"flag"
	"net/http"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

var watch = flag.Duration("watch", 6*time.Second, "how long TestNothingGrowsUnderLoad watches a server; memory is "+
	"judged from two minutes on")

// usage is what a server takes at one moment.
type usage struct{ memory, handles, goroutines int64 }

// TestNothingGrowsUnderLoad puts and takes through all doors for a while and looks what the server takes: the last
// quarter of the time must not need more than the one before.
func TestNothingGrowsUnderLoad(t *testing.T) {
	t.Parallel()
	here := t.TempDir()
	write(t, filepath.Join(here, "code.py"), recording)
	data := filepath.Join(here, "data")
	s := serve(t, allDoors(here, data, 1))
	s.subscribeReaders(t)
	book := newPromises(t)
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	over := putThroughAll(ctx, t, s, book, 5*time.Millisecond)
	takeFrom(ctx, over, s, book, "jobs", "letters", "readers", "entries")
	const samples = 80
	var all []usage
	tick := time.NewTicker(*watch / samples)
	defer tick.Stop()
	for range samples {
		<-tick.C
		all = append(all, s.usage(t))
	}
	stop()
	over.Wait()
	before, after := middle(all[samples/2:samples*3/4]), middle(all[samples*3/4:])
	t.Logf("%v: %s", *watch, book)
	t.Logf("of the third quarter and the last: memory %d and %d MiB, handles %d and %d, goroutines %d and %d",
		before.memory>>20, after.memory>>20, before.handles, after.handles, before.goroutines, after.goroutines)
	if after.handles > before.handles+8 || after.goroutines > before.goroutines+16 {
		t.Error("handles or goroutines grow")
	}
	if *watch >= 2*time.Minute && after.memory > before.memory*11/10+8<<20 {
		t.Error("memory grows")
	}
	s.stop(t)
	checkJournal(t, data)
}

// middle are the medians of samples.
func middle(of []usage) usage {
	pick := func(value func(usage) int64) int64 {
		var xs []int64
		for _, u := range of {
			xs = append(xs, value(u))
		}
		slices.Sort(xs)
		return xs[len(xs)/2]
	}
	return usage{
		pick(func(u usage) int64 { return u.memory }), pick(func(u usage) int64 { return u.handles }),
		pick(func(u usage) int64 { return u.goroutines }),
	}
}

// usage is what the program takes now; of its goroutines its metrics tell.
func (s *served) usage(t *testing.T) usage {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+s.address(t, "http")+"/metrics", nil)
	if err != nil {
		t.Fatal(err)
	}
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatalf("%v\n%s", err, s.log())
	}
	defer answer.Body.Close()
	goroutines := int64(-1)
	for lines := bufio.NewScanner(answer.Body); lines.Scan(); {
		if n, ok := strings.CutPrefix(lines.Text(), "go_goroutines "); ok {
			if goroutines, err = strconv.ParseInt(n, 10, 64); err != nil {
				t.Fatal(err)
			}
		}
	}
	if goroutines < 0 {
		t.Fatal("the metrics do not tell how many goroutines there are")
	}
	return usage{s.memory(t), int64(s.handles(t)), goroutines}
}
