package function_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/hikyaku/hikyaku/internal/function"
	"github.com/hikyaku/hikyaku/internal/function/bill"
	"github.com/hikyaku/hikyaku/internal/function/place"
	"github.com/hikyaku/hikyaku/internal/waittest"
)

func TestAnInitialisationThatTakesTooLongIsDoneAgainInsideTheInvocation(t *testing.T) {
	p := open(t, function.Config{Isolation: function.None})
	mark := filepath.Join(t.TempDir(), "once")
	deploy(t, p, func(d *function.Definition) {
		d.InitTimeout, d.Environment = 3*time.Second, map[string]string{"INIT": "hang once", "MARK": mark}
	})
	r := invoke(t, p, `"done"`)
	if string(r.Payload) != `"done"` || !r.Cold || r.Usage.Init != 0 {
		t.Fatalf("%+v with %s", r, r.Payload)
	}
	log := text(t, p)
	contains(t, "the log", log, "thinking\nINIT_REPORT Init Duration: ",
		" ms\tPhase: init\tStatus: timeout\nSTART RequestId: "+r.RequestID)
	if strings.Contains(log, "\tInit Duration: ") {
		t.Errorf("the second initialisation is a part of the duration, not beside it:\n%s", log)
	}
	if s, _ := p.Stats("f", ""); s.InitFailures != 1 || s.ColdStarts != 2 {
		t.Errorf("stats: %+v", s)
	}
}

func TestAnInitialisationThatNeverEndsIsTheInvocationsTimeout(t *testing.T) {
	p := open(t, function.Config{})
	deploy(t, p, func(d *function.Definition) {
		d.InitTimeout, d.Timeout, d.Environment = 200*time.Millisecond, 400*time.Millisecond,
			map[string]string{"INIT": "hang"}
	})
	r := invoke(t, p, `{}`)
	if r.ErrorType != "Sandbox.Timedout" {
		t.Errorf("%+v with %s", r, r.Payload)
	}
	contains(t, "the log", text(t, p), "Phase: init\tStatus: timeout\n", "Phase: invoke\tStatus: timeout\n")
}

func TestAFunctionThatCannotStartSaysWhy(t *testing.T) {
	for _, c := range []struct{ init, kind, payload, log string }{
		{"exit", "Runtime.ExitError", "Error: Runtime exited with error: exit status 7", "going away\nINIT_REPORT"},
		{"error", "Init.Broken", `{"errorType":"Init.Broken","errorMessage":"no configuration"}`,
			"Status: error\tError Type: Init.Broken"},
	} {
		t.Run(c.init, func(t *testing.T) {
			p := open(t, function.Config{})
			deploy(t, p, func(d *function.Definition) { d.Environment = map[string]string{"INIT": c.init} })
			for range 2 { // it is tried anew for each
				r := invoke(t, p, `{}`)
				if r.FunctionError != "Unhandled" || r.ErrorType != c.kind {
					t.Errorf("%+v", r)
				}
				contains(t, "the payload", string(r.Payload), c.payload)
			}
			contains(t, "the log", text(t, p), c.log, "\tPhase: init\tStatus: error", "\tPhase: invoke\tStatus: error")
		})
	}
}

func TestATimeoutKillsAndAnswersAsDocumented(t *testing.T) {
	for _, do := range []string{"loop", "sleep"} {
		t.Run(do, func(t *testing.T) {
			p := open(t, function.Config{})
			deploy(t, p, func(d *function.Definition) { d.Timeout = 300 * time.Millisecond })
			r := invoke(t, p, `{"do":"`+do+`","millis":3600000}`)
			if r.FunctionError != "Unhandled" || r.ErrorType != "Sandbox.Timedout" {
				t.Errorf("%+v", r)
			}
			contains(t, "the payload", string(r.Payload), `"errorType":"Sandbox.Timedout"`,
				`"errorMessage":"RequestId: `+r.RequestID+` Error: Task timed out after 0.30 seconds"`)
			contains(t, "the log's end", string(r.LogTail),
				" "+r.RequestID+" Task timed out after 0.30 seconds\nEND RequestId: ", "\tStatus: timeout\t")
			waittest.Until(t, "the instance is gone",
				func() bool { s, _ := p.Stats("f", ""); return len(s.Instances) == 0 })
			if s, _ := p.Stats("f", ""); s.Timeouts != 1 {
				t.Errorf("stats: %+v", s)
			}
		})
	}
}

func TestACrashIsAnErrorAndTheNextInvocationGetsANewInstance(t *testing.T) {
	for event, payload := range map[string]string{
		`{"do":"crash","n":3}`: "Error: Runtime exited with error: exit status 3",
		`{"do":"crash"}`:       "Error: Runtime exited without providing a reason",
	} {
		t.Run(event, func(t *testing.T) {
			p := open(t, function.Config{})
			deploy(t, p, single)
			first := invoke(t, p, `{}`)
			r := invoke(t, p, event)
			if r.FunctionError != "Unhandled" || r.ErrorType != "Runtime.ExitError" || r.Instance != first.Instance {
				t.Errorf("%+v", r)
			}
			contains(t, "the payload", string(r.Payload), "RequestId: "+r.RequestID+" "+payload)
			contains(t, "the log's end", string(r.LogTail), "\tStatus: error\tError Type: Runtime.ExitError\t")
			if again := invoke(t, p, `{}`); !again.Cold || again.Instance == first.Instance ||
				again.FunctionError != "" {
				t.Errorf("afterwards: %+v", again)
			}
		})
	}
}

func TestACrashBehindTheAnswerIsNobodysError(t *testing.T) {
	p := open(t, function.Config{})
	deploy(t, p, single)
	for range 20 {
		if r := invoke(t, p, `{"do":"crash after","n":1}`); string(r.Payload) != `"last words"` ||
			r.FunctionError != "" {
			t.Fatalf("%+v with %s", r, r.Payload)
		}
	}
}

func TestProvisionedInstancesStartBeforeAnybodyAsks(t *testing.T) {
	p := open(t, function.Config{})
	deploy(t, p, func(d *function.Definition) { d.Provisioned = 2 })
	waittest.Until(t, "two instances wait", func() bool { s, _ := p.Stats("f", ""); return s.Counts.Idle == 2 })
	r := invoke(t, p, `{"do":"environment"}`)
	if r.Cold || r.Usage.Init != 0 && !r.Usage.Provisioned {
		t.Errorf("%+v", r)
	}
	contains(t, "the environment", string(r.Payload), "AWS_LAMBDA_INITIALIZATION_TYPE=provisioned-concurrency")
	if strings.Contains(string(r.LogTail), "Init Duration") {
		t.Errorf("nobody has waited for it to start: %s", r.LogTail)
	}
	invoke(t, p, `{"do":"crash"}`)
	waittest.Until(t, "the one that crashed was replaced",
		func() bool { s, _ := p.Stats("f", ""); return s.Counts.Idle == 2 && s.ColdStarts == 3 })
}

func TestIdleInstancesAreStopped(t *testing.T) {
	p := open(t, function.Config{})
	deploy(t, p, func(d *function.Definition) { d.Idle = 30 * time.Millisecond })
	r := invoke(t, p, `{}`)
	waittest.Until(t, "it is gone", func() bool { s, _ := p.Stats("f", ""); return len(s.Instances) == 0 })
	if again := invoke(t, p, `{}`); again.Instance == r.Instance || !again.Cold {
		t.Errorf("%+v", again)
	}
}

func TestFrozenInstancesAreThawedForTheirNextInvocation(t *testing.T) {
	for name, unlimited := range map[string]bool{"by control group": false, "by signal": true} {
		t.Run(name, func(t *testing.T) {
			p := open(t, function.Config{Unlimited: unlimited})
			deploy(t, p, func(d *function.Definition) { single(d); d.Freeze = time.Millisecond })
			first := invoke(t, p, `{}`)
			for range 3 {
				waittest.Until(t, "it is frozen", func() bool {
					s, _ := p.Stats("f", "")
					return len(s.Instances) == 1 && s.Instances[0].State == "frozen"
				})
				if r := invoke(t, p, `"thawed"`); string(r.Payload) != `"thawed"` || r.Instance != first.Instance {
					t.Errorf("%+v", r)
				}
			}
		})
	}
}

func TestSpreadShowsTwoMachines(t *testing.T) {
	p := open(t, function.Config{Isolation: function.None})
	deploy(t, p, func(d *function.Definition) { d.Policy = place.Spread })
	var seen []string
	for n := range 6 {
		var got struct{ N int }
		r := answer(t, p, `{"do":"pid"}`, &got)
		if got.N != n/2+1 || r.Cold != (n < 2) {
			t.Errorf("invocation %d is number %d of its instance, cold: %v", n, got.N, r.Cold)
		}
		seen = append(seen, r.Instance)
		idle(t, p)
	}
	if seen[0] == seen[1] || seen[0] != seen[2] || seen[1] != seen[3] {
		t.Errorf("the instances take turns: %q", seen)
	}
}

func TestTheBillKeepsTheRulesOfThen(t *testing.T) {
	p := open(t, function.Config{Bill: bill.Old})
	deploy(t, p, nil)
	r := invoke(t, p, `{}`)
	if r.Charge.Billed%(100*time.Millisecond) != 0 || r.Charge.Billed < r.Usage.Duration {
		t.Errorf("%+v", r.Charge)
	}
}

func TestClosingRefusesWhoWaitsAndEndsWhatRuns(t *testing.T) {
	p := open(t, function.Config{})
	deploy(t, p, func(d *function.Definition) { d.Environment = map[string]string{"INIT": "hang"} })
	deploy(t, p, func(d *function.Definition) { d.Name = "g" })
	var wg sync.WaitGroup
	wg.Go(func() {
		if _, err := p.Invoke(t.Context(), function.Request{Function: "f"}); !errors.Is(err, function.ErrClosed) {
			t.Errorf("who waited is told %v", err)
		}
	})
	wg.Go(func() {
		r, err := p.Invoke(t.Context(), function.Request{Function: "g", Payload: []byte(`{"do":"loop"}`)})
		if err != nil || r.ErrorType != "Runtime.ExitError" {
			t.Errorf("what ran: %+v, %v", r, err)
		}
	})
	waittest.Until(t, "both are there", func() bool {
		f, _ := p.Stats("f", "")
		g, _ := p.Stats("g", "")
		return f.Counts.Waiting == 1 && g.Counts.Busy == 1
	})
	if err := p.Close(); err != nil {
		t.Error(err)
	}
	wg.Wait()
	if _, err := p.Invoke(t.Context(), function.Request{Function: "g"}); !errors.Is(err, function.ErrClosed) {
		t.Errorf("afterwards: %v", err)
	}
	if _, err := p.Deploy(definition()); !errors.Is(err, function.ErrClosed) {
		t.Errorf("deploying afterwards: %v", err)
	}
}

func TestTemporaryFilesAreTheInstancesOwn(t *testing.T) {
	p := open(t, function.Config{Isolation: function.None})
	deploy(t, p, nil)
	var env []string
	answer(t, p, `{"do":"environment"}`, &env)
	dir := ""
	for _, v := range env {
		if rest, ok := strings.CutPrefix(v, "TMPDIR="); ok {
			dir = rest
		}
	}
	if info, err := os.Stat(dir); err != nil || !info.IsDir() || info.Mode().Perm() != 0o700 {
		t.Fatalf("TMPDIR is %q: %v", dir, err)
	}
	invoke(t, p, `{"do":"crash"}`)
	waittest.Until(t, "the folder is gone",
		func() bool { _, err := os.Stat(dir); return errors.Is(err, os.ErrNotExist) })
}

func TestAFolderWithOtherThingsInItIsLeftAlone(t *testing.T) {
	dir := t.TempDir()
	if err := os.MkdirAll(filepath.Join(dir, "code", "mine"), 0o755); err != nil {
		t.Fatal(err)
	}
	if _, err := function.New(function.Config{Dir: dir}); err == nil ||
		!strings.Contains(err.Error(), "give it an empty one") {
		t.Errorf("%v", err)
	}
	if _, err := os.Stat(filepath.Join(dir, "code", "mine")); err != nil {
		t.Error(err)
	}
	again := t.TempDir()
	for range 2 { // its own is taken again
		p, err := function.New(function.Config{Dir: again})
		if err != nil {
			t.Fatal(err)
		}
		if err := p.Close(); err != nil {
			t.Error(err)
		}
	}
}
