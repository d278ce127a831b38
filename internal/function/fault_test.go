package function_test

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/hikyaku/hikyaku/internal/function"
	"github.com/hikyaku/hikyaku/internal/function/code"
	"github.com/hikyaku/hikyaku/internal/function/loader"
	"github.com/hikyaku/hikyaku/internal/waittest"
)

func TestAFunctionThatLeaksMeetsItsLimitAlone(t *testing.T) {
	p := open(t, function.Config{})
	if !p.Machine().Limits.Memory { // it would meet the machine's
		if why := p.Machine().Limits.Why; why == "" {
			t.Error("nothing limits memory, and nobody says why")
		}
		return
	}
	deploy(t, p, func(d *function.Definition) { d.MemoryMB = 128 })
	deploy(t, p, func(d *function.Definition) { single(d); d.Name = "g" })
	other, err := p.Invoke(t.Context(), function.Request{Function: "g", Payload: []byte(`{"do":"pid"}`)})
	if err != nil {
		t.Fatal(err)
	}
	r := invoke(t, p, `{"do":"leak"}`)
	if r.ErrorType != "Runtime.OutOfMemory" {
		t.Errorf("%+v with %s", r, r.Payload)
	}
	contains(t, "the payload", string(r.Payload), "signal: killed", "128 MB")
	if r.Usage.PeakMB < 100 || r.Usage.PeakMB > 140 {
		t.Errorf("it has used %d MB", r.Usage.PeakMB)
	}
	if again, err := p.Invoke(t.Context(),
		function.Request{Function: "g", Payload: []byte(`{"do":"pid"}`)}); err != nil ||
		again.Instance != other.Instance {
		t.Errorf("the other function: %+v, %v", again, err)
	}
	if again := invoke(t, p, `{}`); again.FunctionError != "" {
		t.Errorf("afterwards: %+v", again)
	}
}

func TestPrintingWithoutEndStaysWithinTheBook(t *testing.T) {
	p := open(t, function.Config{LogBytes: 10_000})
	deploy(t, p, func(d *function.Definition) { d.Timeout = 500 * time.Millisecond })
	r := invoke(t, p, `{"do":"flood"}`)
	if r.ErrorType != "Sandbox.Timedout" {
		t.Errorf("%+v", r)
	}
	if len(r.LogTail) > 4<<10 {
		t.Errorf("the log's end has %d bytes", len(r.LogTail))
	}
	contains(t, "the log's end", string(r.LogTail), "xxxxx\n", "REPORT RequestId: "+r.RequestID)
	book, err := p.Log("f", "")
	if err != nil {
		t.Fatal(err)
	}
	lines, _, missed := book.Read(0, 0)
	if size := len(joined(lines)); size > 10_000 || missed == 0 {
		t.Errorf("%d bytes are kept, %d lines dropped", size, missed)
	}
}

func TestAnAnswerThatIsTooLargeIsAnError(t *testing.T) {
	p := open(t, function.Config{})
	deploy(t, p, single)
	r := invoke(t, p, `{"do":"large","n":7000000}`)
	if r.FunctionError != "Unhandled" || r.ErrorType != "Function.ResponseSizeTooLarge" {
		t.Errorf("%+v", r)
	}
	contains(t, "the payload", string(r.Payload), "Response payload size exceeded maximum allowed payload size "+
		"(6291556 bytes).")
	if again := invoke(t, p, `{}`); again.Instance != r.Instance {
		t.Error("the instance was not kept")
	}
	waittest.Until(t, "the runtime is told", func() bool { return strings.Contains(text(t, p), "told 413") })
	if r := invoke(t, p, `{"do":"large","n":6291456}`); len(r.Payload) != 6291456 {
		t.Errorf("the largest: %+v", r)
	}
}

func TestASecondAnswerIsRefused(t *testing.T) {
	p := open(t, function.Config{})
	deploy(t, p, nil)
	if r := invoke(t, p, `{"do":"twice"}`); string(r.Payload) != `"first"` {
		t.Errorf("%s", r.Payload)
	}
	waittest.Until(t, "the runtime is told", func() bool { return strings.Contains(text(t, p), "told 403") })
	contains(t, "the log", text(t, p), "InvalidStateTransition")
	if r := invoke(t, p, `"third"`); string(r.Payload) != `"third"` {
		t.Errorf("afterwards: %s", r.Payload)
	}
}

func TestAnAnswerToAnotherInvocationIsRefused(t *testing.T) {
	p := open(t, function.Config{})
	deploy(t, p, nil)
	r := invoke(t, p, `{"do":"stranger"}`)
	if string(r.Payload) != `"mine"` {
		t.Errorf("%s", r.Payload)
	}
	contains(t, "the log's end", string(r.LogTail), "told 400")
}

func TestAnAnswerThatIsNoJSONIsPassedOn(t *testing.T) {
	p := open(t, function.Config{})
	deploy(t, p, nil)
	if r := invoke(t, p, `not JSON {`); string(r.Payload) != `not JSON {` || r.FunctionError != "" {
		t.Errorf("%+v with %s", r, r.Payload)
	}
}

func TestCodeThatCannotRunIsRefusedWhenItIsDeployed(t *testing.T) {
	p := open(t, function.Config{})
	empty, locked := t.TempDir(), t.TempDir()
	if err := os.WriteFile(filepath.Join(locked, "bootstrap"), []byte("#!/bin/sh\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name string
		d    function.Definition
		is   error
		says string
	}{
		{"no bootstrap", function.Definition{Runtime: "provided", Code: code.Source{Folder: empty}}, loader.ErrMissing,
			"there is none at " + empty},
		{"not executable", function.Definition{Runtime: "provided", Code: code.Source{Folder: locked}},
			loader.ErrMissing, "set its mode to 755"},
		{"no folder", function.Definition{Runtime: "provided", Code: code.Source{Folder: "/no/such"}}, code.ErrNoCode,
			"/no/such"},
		{"no zip", function.Definition{Runtime: "provided", Code: code.Source{Zip: []byte("PK")}}, code.ErrNoCode,
			"no zip or jar"},
		{"no program", function.Definition{Runtime: "command", Command: []string{"no-such-program"},
			Code: code.Source{Folder: empty}}, loader.ErrMissing, "no-such-program is not on this machine's PATH"},
		{"a zip that climbs out", function.Definition{Runtime: "provided", Code: code.Source{Zip: climbing(t)}},
			code.ErrUnsafe, "../bootstrap"},
		{"no Java client", function.Definition{Runtime: "java17", Handler: "a.B::c", Code: code.Source{Folder: empty}},
			loader.ErrMissing, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.d.Name = "broken"
			_, err := p.Deploy(c.d)
			if !errors.Is(err, c.is) || !strings.Contains(err.Error(), c.says) ||
				!strings.Contains(err.Error(), "function broken: ") {
				t.Errorf("%v", err)
			}
		})
	}
	if _, err := p.Invoke(t.Context(), function.Request{Function: "broken"}); !errors.Is(err, function.ErrUnknown) {
		t.Errorf("invoking it: %v", err)
	}
}

func TestABootstrapThatIsNoProgramIsAnError(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "bootstrap"), []byte("no program"), 0o755); err != nil {
		t.Fatal(err)
	}
	p := open(t, function.Config{})
	deploy(t, p, func(d *function.Definition) { d.Code = code.Source{Folder: dir} })
	r := invoke(t, p, `{}`)
	if r.ErrorType != "Runtime.InvalidEntrypoint" {
		t.Errorf("%+v with %s", r, r.Payload)
	}
	contains(t, "the payload", string(r.Payload), "function f: ", "exec format error")
}

func TestAWaitThatTheCallerEndsCostsNothing(t *testing.T) {
	p := open(t, function.Config{})
	deploy(t, p, func(d *function.Definition) { d.Environment = map[string]string{"INIT": "hang"} })
	ctx, cancel := context.WithCancel(t.Context())
	over := make(chan error)
	go func() {
		_, err := p.Invoke(ctx, function.Request{Function: "f"})
		over <- err
	}()
	waittest.Until(t, "it waits", func() bool { s, _ := p.Stats("f", ""); return s.Counts.Waiting == 1 })
	cancel()
	if err := <-over; !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
	if s, _ := p.Stats("f", ""); s.Counts.Waiting != 0 || s.Counts.Running != 0 || s.Invocations != 0 {
		t.Errorf("%+v", s)
	}
}

func TestManyAtOnceAreAllServed(t *testing.T) {
	p := open(t, function.Config{})
	deploy(t, p, nil)
	const all = 60
	results := make(chan error, all)
	for n := range all {
		go func() {
			event, err := json.Marshal(n)
			if err == nil {
				var r *function.Result
				if r, err = p.Invoke(t.Context(), function.Request{Function: "f", Payload: event}); err == nil &&
					string(r.Payload) != string(event) {
					err = errors.New("somebody else's answer: " + string(r.Payload))
				}
			}
			results <- err
		}()
	}
	for range all {
		if err := <-results; err != nil {
			t.Error(err)
		}
	}
	if s, _ := p.Stats("f", ""); s.Invocations != all || s.Counts.Running != 0 || s.ColdStarts > all {
		t.Errorf("%+v", s)
	}
}

func TestARuntimeThatDoesNotComeBackIsStoppedWhenItsTimeIsOver(t *testing.T) {
	p := open(t, function.Config{})
	deploy(t, p, func(d *function.Definition) { single(d); d.Timeout = 3 * time.Second })
	first := invoke(t, p, `{"do":"hang after"}`)
	if string(first.Payload) != `"last words"` || first.FunctionError != "" {
		t.Errorf("%+v with %s", first, first.Payload)
	}
	if again := invoke(t, p, `"next"`); string(again.Payload) != `"next"` || again.Instance == first.Instance {
		t.Errorf("%+v with %s", again, again.Payload)
	}
	contains(t, "the log", text(t, p), "The instance is stopped: its runtime or an extension was not done")
}
