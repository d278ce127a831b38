package function_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hikyaku/hikyaku/internal/function"
	"github.com/hikyaku/hikyaku/internal/waittest"
)

func TestOneCallerHasOneInstance(t *testing.T) {
	p := open(t, function.Config{})
	// whose small share of the processors brings it back slowly
	deploy(t, p, func(d *function.Definition) { d.MemoryMB = 128 })
	for n := range 500 {
		if r := invoke(t, p, `{}`); r.Cold != (n == 0) {
			t.Fatalf("invocation %d: cold is %t", n, r.Cold)
		}
	}
	if s, err := p.Stats("f", ""); err != nil || s.ColdStarts != 1 || len(s.Instances) != 1 {
		t.Errorf("%d were started (%v)", s.ColdStarts, err)
	}
}

func TestWhatTheStartPrintsComesBeforeSTART(t *testing.T) {
	p := open(t, function.Config{})
	for n := range 20 {
		word := fmt.Sprintf("start %d", n)
		deploy(t, p, func(d *function.Definition) {
			d.Environment = map[string]string{"INIT": strings.Repeat(word+"\n", 50) + "its end"}
		})
		r := invoke(t, p, `{"do":"print","text":"now it works"}`)
		log := text(t, p)
		_, log, _ = strings.Cut(log, word)
		contains(t, "the log", log, "\n"+word+"\nits end\nSTART RequestId: "+r.RequestID+
			" Version: $LATEST\nnow it works\nEND RequestId: "+r.RequestID+"\nREPORT RequestId: "+r.RequestID)
	}
}

func TestTheVersionsOfAFunctionShareItsReservedConcurrency(t *testing.T) {
	p := open(t, function.Config{Isolation: function.None, Concurrency: 10})
	reserve := func(version string, n int) {
		t.Helper()
		deploy(t, p, func(d *function.Definition) { d.Version, d.Reserved = version, &n })
	}
	for _, version := range []string{"1", "2", function.Latest} {
		reserve(version, 6) // once, not three times six
	}
	for _, version := range []string{"1", "2", function.Latest} {
		reserve(version, 1)
	}
	dir := t.TempDir()
	over := make(chan error)
	hold := func(version string) (let func()) {
		mark := filepath.Join(dir, version)
		go func() {
			_, err := p.Invoke(t.Context(),
				function.Request{Function: "f", Version: version,
					Payload: []byte(`{"do":"wait","text":"` + mark + `"}`)})
			over <- err
		}()
		waittest.Until(t, "version "+version+" works",
			func() bool { s, _ := p.Stats("f", version); return s.Counts.Busy == 1 })
		return func() {
			t.Helper()
			if err := os.WriteFile(mark, nil, 0o600); err != nil {
				t.Fatal(err)
			}
			if err := <-over; err != nil {
				t.Error(err)
			}
		}
	}
	ask := func(version string) error {
		_, err := p.Invoke(t.Context(), function.Request{Function: "f", Version: version, Payload: []byte("{}")})
		return err
	}
	let := hold("1")
	for _, version := range []string{"1", "2", ""} {
		var throttled *function.ThrottledError
		if err := ask(version); !errors.As(err, &throttled) || throttled.Limit != 1 ||
			throttled.Reason != "ReservedFunctionConcurrentInvocationLimitExceeded" {
			t.Errorf("version %q beside version 1: %v", version, err)
		}
	}
	deploy(t, p, func(d *function.Definition) { d.Name = "g" })
	if _, err := p.Invoke(t.Context(), function.Request{Function: "g", Payload: []byte("{}")}); err != nil {
		t.Errorf("another function: %v", err)
	}
	let()
	for _, version := range []string{"1", "2", ""} {
		if err := ask(version); err != nil {
			t.Errorf("version %q afterwards: %v", version, err)
		}
	}
	for _, version := range []string{"1", "2", function.Latest} {
		if err := p.Remove("f", version); err != nil {
			t.Fatal(err)
		}
	}
	ten := 10 // all of it is free again
	deploy(t, p, func(d *function.Definition) { d.Name, d.Reserved = "h", &ten })
}
