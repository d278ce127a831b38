package flow

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/hikyaku/hikyaku/flow"
	"github.com/hikyaku/hikyaku/internal/bench/harness"
	"github.com/hikyaku/hikyaku/internal/measure"
)

// memoryTables are userTables that are no database, and may be told to be wrong.
type memoryTables struct {
	users   int
	asked   atomic.Int64 // queries
	loses   bool         // a user has nothing
	fails   error
	closed  bool
	filling error
}

func (m *memoryTables) fill(_ context.Context, users int) error {
	m.users = users
	return m.filling
}

func (m *memoryTables) ids() flow.Stream[int] {
	return flow.Source(func(_ context.Context, emit func(int) bool) error {
		m.asked.Add(1)
		for i := 1; i <= m.users && emit(i); i++ {
		}
		return nil
	})
}

func (m *memoryTables) contents(ctx context.Context, id int) ([]string, error) {
	found, err := m.contentsOf(ctx, []int{id})
	return found[id], err
}

func (m *memoryTables) contentsOf(_ context.Context, ids []int) (map[int][]string, error) {
	m.asked.Add(1)
	time.Sleep(100 * time.Microsecond)
	found := make(map[int][]string)
	for _, id := range ids {
		for i := range contentsEach {
			found[id] = append(found[id], contentText(id, i))
		}
		if m.loses && id == m.users {
			found[id] = nil
		}
	}
	return found, m.fails
}

func (m *memoryTables) joined(ctx context.Context) (map[int][]string, error) {
	ids, err := flow.Collect(ctx, m.ids())
	if err != nil {
		return nil, err
	}
	return m.contentsOf(ctx, ids)
}

func (m *memoryTables) about() string { return "memory: no database" }

func (m *memoryTables) Close() error {
	m.closed = true
	return nil
}

func lookUpsOf(t *testing.T, m *memoryTables) (*session, error) {
	t.Helper()
	s := &session{Session: harness.Session{Report: measure.NewBenchReport("flow")},
		extent: extent{users: 200, rounds: 2}}
	err := s.lookUps(t.Context(), workUsersPostgres, func(context.Context) (userTables, error) { return m, nil })
	if !m.closed {
		t.Error("the tables were not closed")
	}
	return s, err
}

func TestUsersAreLookedUpInEveryWayAndComparedWithTheJoin(t *testing.T) {
	m := new(memoryTables)
	s, err := lookUpsOf(t, m)
	if err != nil {
		t.Fatal(err)
	}
	var cases []string
	for _, r := range s.Report.Rows {
		cases = append(cases, r.Get("case").(string))
		for _, name := range []string{"total_ms", "ideal_ms", "ratio_ideal", "ratio_sequence", "writers", "users"} {
			if v, ok := r.Number(name); !ok || v <= 0 {
				t.Errorf("%v: %s is %v", r.Get("case"), name, r.Get(name))
			}
		}
		if asked := r.Get("asked"); (asked != nil) != (r.Get("case") == caseLoader) {
			t.Errorf("%v: asked %v", r.Get("case"), asked)
		}
	}
	if got := strings.Join(cases, " "); got != "one-by-one one-by-one-concurrent loader-callers loader join" {
		t.Errorf("cases %s", got)
	}
	if n := m.asked.Load(); n > 2*(2*200+200) {
		t.Errorf("%d queries: a Loader asks for one key at a time", n)
	}
}

func TestLookUpsThatAreWrongAreNoFigure(t *testing.T) {
	broken := errors.New("broken")
	for says, m := range map[string]*memoryTables{"user 200 has": {loses: true}, "one-by-one: broken": {fails: broken},
		"no room": {filling: errors.New("no room")}} {
		s, err := lookUpsOf(t, m)
		if err == nil || !strings.Contains(err.Error(), says) || len(s.Report.Rows) > 0 {
			t.Errorf("%v with %d rows, want something about %q", err, len(s.Report.Rows), says)
		}
	}
}

func TestPoolsLoseNothing(t *testing.T) {
	for name, p := range map[string]pool{"ours": mapPool, "channels": channelPool} {
		s, err := p.Run(t.Context(), 5*time.Millisecond)
		if err != nil || s.N == 0 {
			t.Errorf("%s: %+v, %v", name, s, err)
		}
		loses := pool(func(ctx context.Context, more func() bool) (n, sum int64, err error) {
			n, sum, err = p(ctx, more)
			return n, sum - 1, err
		})
		if _, err := loses.Run(t.Context(), time.Millisecond); err == nil {
			t.Errorf("%s: a wrong sum is a figure", name)
		}
		ctx, cancel := context.WithCancelCause(t.Context())
		broken := errors.New("broken")
		cancel(broken)
		if _, err := p.Run(ctx, time.Hour); !errors.Is(err, broken) {
			t.Errorf("%s with an ended context: %v", name, err)
		}
	}
}

func TestListsThatLackAScoreAreNoFigure(t *testing.T) {
	lists := make(map[student][]score)
	for _, s := range someStudents() {
		lists[s] = someScores(s.id)
	}
	if err := checkLists(lists); err != nil {
		t.Error(err)
	}
	ninth := someStudents()[8]
	lists[ninth] = lists[ninth][:4]
	if err := checkLists(lists); err == nil || !strings.Contains(err.Error(), "9 Mizuno") {
		t.Errorf("a score is missing: %v", err)
	}
	lists[ninth] = someScores(1)
	if err := checkLists(lists); err == nil || !strings.Contains(err.Error(), "9 Mizuno") {
		t.Errorf("the scores are another's: %v", err)
	}
}
