package deployment_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/hikyaku/hikyaku/internal/deployment"
	"github.com/hikyaku/hikyaku/internal/function"
	"github.com/hikyaku/hikyaku/internal/queue"
	"github.com/hikyaku/hikyaku/internal/waittest"
)

// reserve makes the function that records, with a reserved concurrency.
func reserve(t *testing.T, r *deployment.Registry, s deployment.Settings, c deployment.Code, n int) {
	t.Helper()
	if _, err := r.Create(t.Context(), "f", s, c, nil); err != nil {
		t.Fatal(err)
	}
	if _, err := r.Change(t.Context(), "f",
		func(f *deployment.Function) error { f.Reserved = &n; return nil }); err != nil {
		t.Fatal(err)
	}
}

// enqueue queues events of the function.
func enqueue(t *testing.T, r *deployment.Registry, n int) {
	t.Helper()
	for i := range n {
		if _, err := r.Enqueue(t.Context(),
			function.Request{Function: "f", Payload: fmt.Appendf(nil, `{"n":%d}`, i)}); err != nil {
			t.Fatal(err)
		}
	}
}

func throttled(t *testing.T, r *deployment.Registry) int64 {
	t.Helper()
	s, ok := r.Deployed("f", function.Latest)
	if !ok {
		t.Fatal("the function was not wanted")
	}
	return s.Throttled
}

// With room for one invocation, each event is claimed when there is room: none waits as a throttled one does, also none
// of those that a start finds.
func TestEventsOfAFunctionWithOnePlaceAreNotThrottled(t *testing.T) {
	dir := t.TempDir()
	r, _, end := open(t, dir)
	settings, code, record := recorder(t)
	const all = 300
	reserve(t, r, settings, code, 1)
	enqueue(t, r, all)
	if n := throttled(t, r); n != 0 {
		t.Errorf("%d invocations were throttled", n)
	}
	end()
	r, s, _ := open(t, dir)
	empty(t, s, events("f"))
	if n := throttled(t, r); n != 0 {
		t.Errorf("%d invocations were throttled after a restart", n)
	}
	if times, pids := recorded(t, record); len(times) != all || len(pids) > 20 {
		t.Errorf("%d of %d events were invoked, in %d processes", len(times), all, len(pids))
	}
}

// An event that finds the only place taken by somebody who waits for an answer is throttled, as the provider has it;
// those behind it are not, and all are invoked when there is room.
// Those that wait longer than a moment are told of.
func TestEventsBehindAThrottledOneStayInTheQueue(t *testing.T) {
	t.Parallel()
	told := make(chan string, 100)
	r, s, _ := open(t, t.TempDir(), func(c *deployment.Config) { c.Report = func(err error) { told <- err.Error() } })
	settings, code, record := recorder(t)
	gate := filepath.Join(t.TempDir(), "gate")
	settings.Environment["GATE"] = gate
	reserve(t, r, settings, code, 1)
	answered := make(chan error, 1)
	go func() {
		_, err := r.Invoke(t.Context(), function.Request{Function: "f", Payload: []byte("{}")})
		answered <- err
	}()
	waittest.Until(t, "the first event is in the function",
		func() bool { times, _ := recorded(t, record); return len(times) == 1 })
	enqueue(t, r, 100)
	waittest.Until(t, "the second one is throttled", func() bool { return throttled(t, r) == 1 })
	wantTold(t, told, "events of function f wait: function f: too many invocations at once: the limit is 1")
	if err := os.WriteFile(gate, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := <-answered; err != nil {
		t.Fatal(err)
	}
	empty(t, s, events("f"))
	if n := throttled(t, r); n != 1 {
		t.Errorf("%d invocations were throttled", n)
	}
	if times, _ := recorded(t, record); len(times) != 101 {
		t.Errorf("%d of 101 were invoked", len(times))
	}
	wantTold(t, told, "events of function f are invoked again")
}

// wantTold waits for a report that begins so; another one is an error.
func wantTold(t *testing.T, told <-chan string, want string) {
	t.Helper()
	select {
	case got := <-told:
		if !strings.HasPrefix(got, want) {
			t.Errorf("it is told that %q, wanted %q", got, want)
		}
	case <-time.After(20 * time.Second):
		t.Errorf("nothing is told, wanted %q", want)
	}
}

// A mapping whose function has no room for it says so, and that it goes on.
func TestAMappingThatIsThrottledSaysSo(t *testing.T) {
	t.Parallel()
	told := make(chan string, 100)
	r, s, _ := open(t, t.TempDir(), func(c *deployment.Config) { c.Report = func(err error) { told <- err.Error() } })
	settings, code, _ := recorder(t)
	reserve(t, r, settings, code, 0)
	from := queue.Name{Namespace: "default", Name: "work"}
	put(t, s, from, "first")
	if _, err := r.Map(t.Context(), deployment.Mapping{Queue: from.String(), Function: "f",
		SourceARN: "arn:aws:sqs:us-east-1:0:work"}); err != nil {
		t.Fatal(err)
	}
	wantTold(t, told, "queue work does not feed function f: function f: too many invocations at once: the limit is 0")
	one := 1
	if _, err := r.Change(t.Context(), "f",
		func(f *deployment.Function) error { f.Reserved = &one; return nil }); err != nil {
		t.Fatal(err)
	}
	wantTold(t, told, "queue work feeds function f again")
	empty(t, s, from)
}

// A reserved concurrency of 0 switches a function off: its events go where those go that are given up, at once.
func TestEventsOfAFunctionThatIsSwitchedOffAreGivenUpAtOnce(t *testing.T) {
	r, s, _ := open(t, t.TempDir())
	settings, code, _ := recorder(t)
	settings.DeadLetter = "arn:aws:sqs:us-east-1:default:dead"
	put(t, s, queue.Name{Namespace: "default", Name: "dead"}, "first")
	reserve(t, r, settings, code, 0)
	enqueue(t, r, 3)
	empty(t, s, events("f"))
	if n := throttled(t, r); n != 0 {
		t.Errorf("%d invocations were tried", n)
	}
	claims, err := s.Claim(t.Context(),
		queue.ClaimRequest{From: []queue.From{{Queue: queue.Name{Namespace: "default", Name: "dead"}}}, Max: 10})
	if err != nil || len(claims) != 4 {
		t.Fatalf("%d dead letters, %v", len(claims)-1, err)
	}
}

// The batches of a mapping wait for room, too.
func TestBatchesForAFunctionWithOnePlaceWaitForIt(t *testing.T) {
	r, s, _ := open(t, t.TempDir())
	settings, code, record := recorder(t)
	settings.Environment["REST"] = "3ms"
	reserve(t, r, settings, code, 1)
	from := queue.Name{Namespace: "default", Name: "work"}
	put(t, s, from, make([]string, 200)...)
	if _, err := r.Map(t.Context(),
		deployment.Mapping{Queue: from.String(), Function: "f", SourceARN: "arn:aws:sqs:us-east-1:0:work",
			Batch: 1}); err != nil {
		t.Fatal(err)
	}
	empty(t, s, from)
	if times, _ := recorded(t, record); len(times) != 200 {
		t.Errorf("%d of 200 batches were invoked", len(times))
	}
	if n := throttled(t, r); n != 0 {
		t.Errorf("%d invocations were throttled", n)
	}
}
