package q4m

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/hikyaku/hikyaku/internal/bench/harness"
	"github.com/hikyaku/hikyaku/internal/measure"
)

// ledger is a shop that only counts.
type ledger struct {
	since, before, closed atomic.Int64
	lose                  bool // an insert is acknowledged and forgotten
	kept                  *harness.Kept
}

func (l *ledger) connect(context.Context, bool) (hand, error) { return clerk{l}, nil }
func (l *ledger) client(bool) string                          { return "counting" }
func (l *ledger) about() string                               { return "ledger" }
func (l *ledger) keeping() *harness.Kept                      { return l.kept }
func (l *ledger) Close() error                                { return nil }
func (l *ledger) count(context.Context) (int64, error)        { return l.since.Load() + l.before.Load(), nil }

func (l *ledger) reset(_ context.Context, before, since int) error {
	l.before.Store(int64(before))
	l.since.Store(int64(since))
	return nil
}

func (l *ledger) rows(at int64) *atomic.Int64 {
	if at >= moment {
		return &l.since
	}
	return &l.before
}

func (l *ledger) add(_ context.Context, n int, at int64) error {
	l.rows(at).Add(int64(n))
	return nil
}

type clerk struct{ *ledger }

var errEmpty = errors.New("nothing is left")

func (c clerk) take(k kind) error {
	if c.rows(k.at()).Add(-1) < 0 {
		return errEmpty
	}
	return nil
}

func (c clerk) insert(_ string, at int64) error {
	if !c.lose {
		c.rows(at).Add(1)
	}
	return nil
}

func (c clerk) ping() error  { return nil }
func (c clerk) Close() error { c.closed.Add(1); return nil }

func crewOf(t *testing.T, l *ledger, n int, takes kind, stock int, keep bool) *crew {
	t.Helper()
	if err := l.reset(t.Context(), 40, 20); err != nil {
		t.Fatal(err)
	}
	c, err := newCrew(t.Context(), l, n, takes, stock, keep)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.Close(); err != nil || l.closed.Load() != int64(n) {
			t.Errorf("%d of %d connections are closed: %v", l.closed.Load(), n, err)
		}
	})
	return c
}

func TestACrewNeverRunsOutOfWhatItTakes(t *testing.T) {
	for _, n := range []int{1, 3} {
		l := new(ledger)
		c := crewOf(t, l, n, since, 20, true)
		for range 3 {
			s, err := c.Work(t.Context(), harness.Turn{Calls: 100})
			if err != nil || s.N != 100 || len(s.Calls) != 100 || s.Elapsed <= 0 {
				t.Fatalf("%d workers did %d calls in %v: %v", n, s.N, s.Elapsed, err)
			}
		}
		if l.before.Load() != 40 || l.since.Load() < 10 || l.since.Load() > 20 {
			t.Errorf("%d workers left %d and %d rows", n, l.before.Load(), l.since.Load())
		}
		if err := checkRows(t.Context(), c, 60); err != nil {
			t.Error(err)
		}
	}
}

func TestTheSeedsCrewLeavesFewerAndFewer(t *testing.T) {
	l := new(ledger)
	c := crewOf(t, l, 1, since, 20, false)
	if s, err := c.Work(t.Context(), harness.Turn{Calls: 20}); err != nil || s.N != 20 || l.since.Load() != 0 {
		t.Fatalf("%d calls, %d rows are left: %v", s.N, l.since.Load(), err)
	}
	if err := checkRows(t.Context(), c, 60); err != nil {
		t.Error(err)
	}
	if _, err := c.Work(t.Context(), harness.Turn{Calls: 1}); !errors.Is(err, errEmpty) {
		t.Errorf("a take of nothing: %v", err)
	}
}

func TestACrewEndsWithItsTimeOrItsContext(t *testing.T) {
	c := crewOf(t, new(ledger), 2, before, 40, true)
	s, err := c.Work(t.Context(), harness.Turn{Time: 5 * time.Millisecond})
	if err != nil || s.N == 0 || s.Elapsed < 5*time.Millisecond {
		t.Errorf("%d calls in %v: %v", s.N, s.Elapsed, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := c.Work(ctx, harness.Turn{Time: time.Hour}); !errors.Is(err, context.Canceled) {
		t.Errorf("after its context: %v", err)
	}
}

func TestALostRowIsNoFigure(t *testing.T) {
	l := &ledger{lose: true}
	c := crewOf(t, l, 1, "", 0, false)
	if _, err := c.Work(t.Context(), harness.Turn{Calls: 3}); err != nil {
		t.Fatal(err)
	}
	if err := checkRows(t.Context(), c, 60); err == nil ||
		!strings.Contains(err.Error(), "60 rows are in the table, there should be 63") {
		t.Errorf("%v", err)
	}
}

func TestARowThatWasNotSyncedIsNoFigure(t *testing.T) {
	for _, takes := range []kind{"", since} {
		l := &ledger{kept: harness.KeptBy(func() (uint64, error) { return 7, nil })}
		c := crewOf(t, l, 1, takes, 10, false)
		if _, err := c.Work(t.Context(), harness.Turn{Calls: 3}); err != nil {
			t.Fatal(err)
		}
		if err := checkRows(t.Context(), c, 60); err == nil ||
			!strings.Contains(err.Error(), "0 syncs: 3 are the least") {
			t.Errorf("%q: %v", takes, err)
		}
	}
}

// noted is a worker that notes when it was its turn.
type noted struct {
	name  string
	order *[]string
	n     int64
}

func (w noted) Work(context.Context, harness.Turn) (harness.Sample, error) {
	*w.order = append(*w.order, w.name)
	return harness.Sample{N: w.n, Elapsed: time.Second, Calls: []time.Duration{time.Second}}, nil
}

func (noted) Close() error { return nil }

func TestWhoIsFirstChangesFromRoundToRound(t *testing.T) {
	var order []string
	a, b := &harness.Contender{Name: "a", Worker: noted{"a", &order, 4}},
		&harness.Contender{Name: "b", Worker: noted{"b", &order, 2}}
	ticks := 0
	if err := harness.InTurns(t.Context(), 2, harness.Turn{Calls: 1}, []*harness.Contender{a, b},
		func() { ticks++ }); err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(order, ""); got != "abba" || ticks != 2 {
		t.Errorf("the order is %s, after %d rounds", got, ticks)
	}
	if r := harness.Ratios(a, b, harness.ByRate); len(r) != 2 || r[0] != 2 || r[1] != 2 {
		t.Errorf("the ratios are %v", r)
	}
	if sum := a.Sum(); sum.N != 8 || sum.Elapsed != 2*time.Second || len(a.Series()) != 2 {
		t.Errorf("the sum is %+v", sum)
	}
	idle := &harness.Contender{Name: "idle", Worker: noted{"idle", &order, 0}}
	if err := harness.InTurns(t.Context(), 1, harness.Turn{Calls: 1}, []*harness.Contender{idle},
		func() {}); err == nil {
		t.Error("a slice in which nothing was done is a figure")
	}
}

func TestOnlyPeersThatAreThereAreAskedFor(t *testing.T) {
	s := &session{Session: harness.Session{Report: measure.NewBenchReport("q4m")}}
	side := func(name string, rate int64) *harness.Contender {
		return &harness.Contender{Name: name,
			Got: []harness.Sample{{N: rate, Elapsed: time.Second,
				Calls: []time.Duration{time.Second / time.Duration(rate)}}}}
	}
	s.compared(workTakeSince, 1, 6000,
		[]*harness.Contender{side(harness.CaseOurs, 1000), side(caseMariaDB, 500), side(harness.CaseLimit, 1100)},
		goalsOfOne(workTakeSince))
	s.compared(workTakeSince, 16, 6000, []*harness.Contender{side(harness.CaseOurs, 1000), side(caseMariaDB, 50)},
		goalsOfMany(workTakeSince))
	s.compared(workInsert, 16, 6000, []*harness.Contender{side(harness.CaseOurs, 1000), side(casePostgres, 50)},
		goalsOfMany(workInsert))
	for i, want := range map[int][2]any{
		0: {"to MariaDB >= 2.2, p50 to limit <= 1.25", "no: to MariaDB"},
		3: {"to MariaDB >= 15", "yes"},
		5: {nil, nil},
	} {
		if r := s.Report.Rows[i]; r.Get("asked") != want[0] || r.Get("met") != want[1] {
			t.Errorf("row %d: asked %v, met %v", i, r.Get("asked"), r.Get("met"))
		}
	}
}
