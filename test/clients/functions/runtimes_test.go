package functions_test

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/hikyaku/hikyaku/internal/function"
)

// aWhile is longer than anything takes here.
const aWhile = 5 * time.Minute

// each runs a test in every language.
func each(t *testing.T, test func(t *testing.T, l language)) {
	t.Parallel()
	for _, l := range languages() {
		t.Run(l.name, func(t *testing.T) { test(t, l) })
	}
}

// invoke invokes the function and wants the end of its log.
func invoke(t *testing.T, p *function.Pool, event string) *function.Result {
	t.Helper()
	r, err := p.Invoke(t.Context(), function.Request{Function: "f", Payload: []byte(event), LogTail: true})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// well is invoke of a function that must not fail.
func well(t *testing.T, p *function.Pool, event string) *function.Result {
	t.Helper()
	r := invoke(t, p, event)
	if r.FunctionError != "" {
		t.Fatalf("%s: %s: %s\n%s", event, r.ErrorType, r.Payload, r.LogTail)
	}
	return r
}

func sameJSON(t *testing.T, got []byte, want string) {
	t.Helper()
	var a, b any
	if err := json.Unmarshal(got, &a); err != nil {
		t.Fatalf("%v in %.200s", err, got)
	}
	if err := json.Unmarshal([]byte(want), &b); err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(a, b) {
		t.Errorf("the answer is %.200s, want %.200s", got, want)
	}
}

func TestAnEventComesAndItsAnswerGoesBack(t *testing.T) {
	each(t, func(t *testing.T, l language) {
		p := l.deploy(t, "echo", nil)
		for _, event := range []string{
			`{"name":"飛脚","n":1.5,"list":[true,null,"a \"b\" \\"]}`, `{"emoji":"🏃"}`, `{}`,
			`{"large":"` + strings.Repeat("x", 1<<20) + `"}`,
		} {
			sameJSON(t, well(t, p, event).Payload, event)
		}
	})
}

func TestAnInstanceIsKeptAndItsLogHasWhatItPrints(t *testing.T) {
	each(t, func(t *testing.T, l language) {
		p := l.deploy(t, "pid", nil)
		names := map[string]bool{}
		for n, count := range []string{"Count: 1", "Count: 2", "Count: 3"} {
			r := well(t, p, "{}")
			sameJSON(t, r.Payload, `"SUCCESS"`)
			log := string(r.LogTail)
			_, rest, _ := strings.Cut(log, "Name: ")
			name, _, _ := strings.Cut(rest, "\n")
			names[name] = true
			for _, part := range []string{"START RequestId: " + r.RequestID, count, "END RequestId: " + r.RequestID,
				"REPORT RequestId: " + r.RequestID} {
				if !strings.Contains(log, part) {
					t.Errorf("the log of call %d has no %q:\n%s", n+1, part, log)
				}
			}
			if r.Cold != (n == 0) {
				t.Errorf("call %d: cold is %t", n+1, r.Cold)
			}
		}
		if len(names) != 1 || names[""] {
			t.Errorf("the processes are %v", names)
		}
	})
}

func TestAFailureHasItsTypeAndTheInstanceLivesOn(t *testing.T) {
	each(t, func(t *testing.T, l language) {
		p := l.deploy(t, "fail", nil)
		var first string
		for range 2 {
			r := invoke(t, p, "{}")
			var said struct{ ErrorType, ErrorMessage string }
			if err := json.Unmarshal(r.Payload, &said); err != nil {
				t.Fatalf("%v in %s", err, r.Payload)
			}
			if r.FunctionError != "Unhandled" || said.ErrorType != l.failure || said.ErrorMessage != "too far" {
				t.Errorf("%s: %s", r.FunctionError, r.Payload)
			}
			if first == "" {
				first = r.Instance
			}
			if r.Instance != first {
				t.Errorf("a failure ended the instance:\n%s", r.LogTail)
			}
		}
	})
}

func TestWhatTakesTooLongIsEndedAndTheNextCallFindsAnother(t *testing.T) {
	each(t, func(t *testing.T, l language) {
		timeout := time.Second
		for !l.takesTooLong(t, timeout) {
			if timeout *= 4; timeout > aWhile {
				t.Fatal("the handler does not begin")
			}
		}
	})
}

// takesTooLong has two calls take longer than they may. It is false if a handler had not begun when its time was over:
// the machine is too busy for so little.
func (l language) takesTooLong(t *testing.T, timeout time.Duration) bool {
	t.Helper()
	p := l.deploy(t, "wait1", func(d *function.Definition) {
		d.Environment["WAIT_MS"], d.Timeout = "6000000", timeout
	})
	says := fmt.Sprintf("Task timed out after %.2f seconds", timeout.Seconds())
	var before string
	for range 2 {
		r := invoke(t, p, "{}")
		if r.FunctionError == "" || r.ErrorType != "Sandbox.Timedout" || !strings.Contains(string(r.Payload), says) {
			t.Errorf("%s %s: %s\n%s", r.FunctionError, r.ErrorType, r.Payload, r.LogTail)
		}
		if r.Instance == before {
			t.Error("the instance that took too long serves again")
		}
		if !strings.Contains(string(r.LogTail), "Before wait: ") {
			return false
		}
		before = r.Instance
	}
	return true
}

func TestWorkInTheStartIsDoneOnceAndBeforeTheFirstCall(t *testing.T) {
	each(t, func(t *testing.T, l language) {
		p := l.deploy(t, "wait3", nil)
		first, second := well(t, p, "{}"), well(t, p, "{}")
		if first.Usage.Init < 20*time.Millisecond || second.Usage.Init != 0 {
			t.Errorf("the starts took %v and %v", first.Usage.Init, second.Usage.Init)
		}
		book, err := p.Log("f", "")
		if err != nil {
			t.Fatal(err)
		}
		var order []string
		var all strings.Builder
		lines, _, _ := book.Read(0, 0)
		for _, line := range lines {
			all.WriteString(line.Text + "\n")
			for _, word := range []string{"Before wait", "After wait", "START", "Called", "END", "REPORT"} {
				if strings.Contains(line.Text, word) {
					order = append(order, word)
				}
			}
		}
		if got := strings.Join(order, ", "); got != "Before wait, After wait, START, Called, END, REPORT, START, "+
			"Called, END, REPORT" {
			t.Errorf("the log says %s:\n%s", got, all.String())
		}
	})
}

func TestAHandlerIsToldAboutItsInvocation(t *testing.T) {
	each(t, func(t *testing.T, l language) {
		p := l.deploy(t, "about", nil)
		r := well(t, p, "{}")
		stats, err := p.Stats("f", "")
		if err != nil {
			t.Fatal(err)
		}
		sameJSON(t, r.Payload, `{"id":"`+r.RequestID+`","arn":"`+stats.Deployed.ARN+`","left":true}`)
	})
}

func TestJavaHandlersWithAnInterfaceOfStreams(t *testing.T) {
	t.Parallel()
	for _, l := range languages() {
		if l.handlers["stream"] == "" {
			continue
		}
		event := `{"spaces":   "stay"}`
		if r := well(t, l.deploy(t, "stream", nil), event); string(r.Payload) != event {
			t.Errorf("%s: %s", l.name, r.Payload)
		}
	}
}
