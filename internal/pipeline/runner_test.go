package pipeline

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hikyaku/hikyaku/internal/component"
	"github.com/hikyaku/hikyaku/internal/message"
)

// endless is a source that sends numbers until it is stopped.
type endless struct {
	feed
	from int
	fast bool // as many as the pipeline takes; otherwise a hundred a second
}

func (e *endless) Run(ctx context.Context, out component.Out) error {
	for {
		d := component.Delivery{Message: text(fmt.Sprint("m", e.from))}
		if err := e.send(ctx, out, []component.Delivery{d}); err != nil {
			return err
		}
		e.from++
		if !e.fast {
			time.Sleep(10 * time.Millisecond)
		}
	}
}

// starting is a sink whose start is a function.
type starting struct {
	answer
	start func(ctx context.Context) error
}

func (s *starting) Start(ctx context.Context) error { return s.start(ctx) }

// runs runs nodes until the end of the test.
func runs(t *testing.T, o Options, nodes ...Node) (r *Runner, end func() (Result, error)) {
	t.Helper()
	o.Store = &keeper{}
	r, err := NewRunner(nodes, o)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	var result Result
	var ended sync.WaitGroup
	ended.Go(func() { result, err = r.Run(ctx) })
	end = func() (Result, error) {
		cancel()
		ended.Wait()
		return result, err
	}
	t.Cleanup(func() { _, _ = end() })
	return r, end
}

// pair is a source with a sink.
func pair(name string, from component.Source, to component.Sink) []Node {
	return []Node{
		{Name: name, Source: from},
		{Name: name + "_out", Inputs: []string{name}, Sink: to, Settings: Settings{Request: Request{Concurrency: 2}}},
	}
}

// slow takes as long for each batch as several messages need to come.
func slow() *answer {
	return &answer{send: func(_ context.Context, batch []*message.Message) ([]component.Outcome, error) {
		time.Sleep(50 * time.Millisecond)
		return make([]component.Outcome, len(batch)), nil
	}}
}

func not(names ...string) func(string) bool {
	return func(name string) bool { return !slices.Contains(names, name) }
}

func TestAChangeStopsAndStartsOnlyThePartsThatAreNotTheSame(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		stays, goes, comes := &endless{}, &endless{}, &endless{}
		staysTo, goesTo, comesTo := slow(), slow(), slow()
		r, end := runs(t, Options{}, append(pair("a", stays, staysTo), pair("b", goes, goesTo)...)...)
		time.Sleep(time.Second)
		synctest.Wait()
		c, err := r.Change(append(pair("b", comes, comesTo), pair("a", &endless{}, &answer{})...), not("b_out"))
		if err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		if got := fmt.Sprint(c); got != "{[b b_out] [b b_out]}" {
			t.Errorf("changed %s", got)
		}
		before := len(staysTo.got())
		if stays.closed != 0 || staysTo.closed != 0 || before == 0 {
			t.Errorf("the part that is the same was touched, or does nothing: %d", before)
		}
		if goes.closed != 1 || goesTo.closed != 1 {
			t.Errorf("what was replaced is not closed: %d, %d", goes.closed, goesTo.closed)
		}
		goes.once(t, goes.from) // as many as it could send
		if done, back := goes.verdicts(); back != 0 || done != len(goesTo.got()) {
			t.Errorf("of what was replaced %d were delivered, %d given back, %d got", done, back, len(goesTo.got()))
		}
		time.Sleep(time.Second)
		synctest.Wait()
		if len(staysTo.got()) <= before || len(comesTo.got()) == 0 {
			t.Error("after the change nothing moves")
		}
		var names []string
		for _, s := range r.Stats() {
			names = append(names, s.Name)
		}
		equal(t, "nodes", names, []string{"b", "b_out", "a", "a_out"})
		result, err := end()
		if all := len(staysTo.got()) + len(goesTo.got()) + len(comesTo.got()); err != nil ||
			result.Delivered != uint64(all) || result.GivenBack != 0 {
			t.Errorf("%+v, %v; want %d", result, err, all)
		}
		if n := len(r.budget.accounts) + len(r.budget.full); n != 0 {
			t.Errorf("%d accounts are left", n)
		}
	})
}

func TestAWrongGraphChangesNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		from, to := &endless{}, slow()
		r, _ := runs(t, Options{}, pair("a", from, to)...)
		time.Sleep(time.Second)
		synctest.Wait()
		var wrong GraphErrors
		if _, err := r.Change(pair("a", &endless{}, nil), not("a")); !errors.As(err, &wrong) {
			t.Errorf("%v", err)
		}
		synctest.Wait()
		if before := len(to.got()); from.closed != 0 || before == 0 {
			t.Errorf("it was stopped, or does nothing: %d", before)
		}
	})
}

func TestWhatDoesNotStartLeavesTheOthersAndIsChangedBack(t *testing.T) {
	for name, start := range map[string]func(ctx context.Context) error{
		"an error": func(context.Context) error { return errDown },
		"too late": func(ctx context.Context) error { <-ctx.Done(); return context.Cause(ctx) },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				stays, staysTo := &endless{}, slow()
				r, end := runs(t, Options{}, append(pair("a", stays, staysTo), pair("b", &endless{}, slow())...)...)
				time.Sleep(time.Second)
				synctest.Wait()
				other := &endless{}
				next := slices.Concat(pair("a", &endless{}, slow()), pair("b", &endless{}, &starting{start: start}),
					pair("c", other, slow()))
				_, err := r.Change(next, not("b", "c"))
				synctest.Wait()
				if !errors.Is(err, errDown) && !errors.Is(err, ErrStartTime) {
					t.Errorf("%v", err)
				}
				if other.from != 0 {
					t.Error("a new part moved messages before all had been started")
				}
				if _, err := r.Push(t.Context(), "b_out", time.Now(), nil); !errors.Is(err, ErrNoSink) {
					t.Errorf("%v", err)
				}
				back, backTo := &endless{}, slow()
				c, err := r.Change(append(pair("a", &endless{}, slow()), pair("b", back, backTo)...), not())
				if got := fmt.Sprint(c, err); got != "{[] [b b_out]} <nil>" {
					t.Error(got)
				}
				time.Sleep(time.Second)
				synctest.Wait()
				if stays.closed != 0 || len(backTo.got()) == 0 {
					t.Error("the part that is the same was touched, or that of before does not go on")
				}
				if _, err := end(); err != nil {
					t.Error(err)
				}
			})
		})
	}
}

// TestAnOverseerIsToldOnceAndOnlyOfWhatIsToRun: a plan tells nobody.
func TestAnOverseerIsToldOnceAndOnlyOfWhatIsToRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		guarded := func(w component.Transform) []Node {
			nodes := pair("a", &endless{}, slow())
			nodes[0].Drains = []string{"outbox"}
			nodes[1].Inputs = []string{"gate"}
			return append(nodes, Node{Name: "gate", Inputs: []string{"a"}, Transform: w})
		}
		first, planned, second := &told{change: same}, &told{change: same}, &told{change: same}
		r, _ := runs(t, Options{}, guarded(first)...)
		if _, err := r.Plan(guarded(planned), not("gate")); err != nil {
			t.Fatal(err)
		}
		if _, err := r.Change(guarded(second), not("gate")); err != nil {
			t.Fatal(err)
		}
		if got := fmt.Sprint(first.of, planned.of, second.of); got != "[[outbox]] [] [[outbox]]" {
			t.Error(got)
		}
	})
}

// told is an overseer that remembers what it was told.
type told struct {
	change
	of [][]string
}

func (o *told) Oversee(queues []string)                                { o.of = append(o.of, queues) }
func (o *told) Stops(*message.Message) (component.Outcome, bool)       { return component.Outcome{}, false }
func (o *told) Heard(_ *message.Message, _ *component.Outcome, _ bool) {}

func TestTheFailureOfOnePartStopsTheOthers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		bad := &feed{err: errDown}
		good := &endless{}
		_, end := runs(t, Options{}, append(pair("a", good, slow()), pair("b", bad, slow())...)...)
		time.Sleep(time.Minute)
		synctest.Wait()
		if good.closed != 1 {
			t.Error("the other part goes on")
		}
		if _, err := end(); !errors.Is(err, errDown) || !strings.Contains(err.Error(), "b") {
			t.Errorf("%v", err)
		}
	})
}

func TestNoMessageMovesBeforeAllPartsHaveBeenStarted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		first := &endless{}
		late := &starting{start: func(context.Context) error { time.Sleep(time.Minute); return nil }}
		_, end := runs(t, Options{}, append(pair("a", first, slow()), pair("b", &endless{}, late)...)...)
		time.Sleep(time.Minute - time.Second)
		synctest.Wait()
		if first.from != 0 {
			t.Errorf("%d messages moved", first.from)
		}
		if _, err := end(); !errors.Is(err, context.Canceled) {
			t.Errorf("%v", err)
		}
	})
}

func TestAFiniteRunIsOnePartAndIsNotChanged(t *testing.T) {
	r, err := NewRunner(append(pair("a", feedOf("1"), slow()), pair("b", feedOf("2", "3"), slow())...),
		Options{Store: &keeper{}, Finite: true})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := r.Change(nil, not()); !errors.Is(err, ErrFinite) {
		t.Errorf("%v", err)
	}
	if result, err := r.Run(t.Context()); err != nil || result.Delivered != 3 || len(result.Nodes) != 4 {
		t.Errorf("%+v, %v", result, err)
	}
	if _, err := r.Run(t.Context()); !errors.Is(err, ErrStarted) {
		t.Errorf("%v", err)
	}
}

// The parts have one bound: what one of them holds another cannot have, and what a part has held that is there no more
// is given back.
func TestThePartsShareTheBoundOfWhatIsInFlight(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		stuck := func() *answer {
			return &answer{send: func(ctx context.Context, _ []*message.Message) ([]component.Outcome, error) {
				<-ctx.Done()
				return nil, ctx.Err()
			}}
		}
		var sources []*endless
		part := func(name string) []Node {
			s := &endless{fast: true}
			sources = append(sources, s)
			return pair(name, s, stuck())
		}
		inFlight := func() (n int) {
			synctest.Wait()
			for _, s := range sources {
				n += s.from
			}
			return n
		}
		r, end := runs(t, Options{MaxInFlight: 100, StopGrace: time.Second}, append(part("a"), part("b")...)...)
		if n := inFlight(); n != 100 {
			t.Errorf("%d of two parts are in flight, want 100", n)
		}
		next := part("c")
		sources = sources[len(sources)-1:]
		if _, err := r.Change(next, not()); err != nil {
			t.Fatal(err)
		}
		if n := inFlight(); n != 100 {
			t.Errorf("%d of the part that is left are in flight, want 100", n)
		}
		_, _ = end()
	})
}
