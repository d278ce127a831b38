package place_test

import (
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/hikyaku/hikyaku/internal/function/place"
)

// model is what must be true of a placer, kept in the plainest way.
type model struct {
	p       *place.Placer
	policy  place.Policy
	now     time.Duration
	running map[*place.Slot]*place.Ticket // who works where; nil: it is starting as a part of nobody, see starting
	start   []*place.Slot
	idle    []*place.Slot // the one used last at the end
	back    []*place.Slot // answered, not come back
	stop    []*place.Slot
	waiting []*place.Ticket
	closed  bool
}

func (m *model) inflight() int { return len(m.running) + len(m.waiting) }

// serve notes that a ticket was given a slot, which must have been free.
func (m *model) serve(t *rapid.T, w *place.Ticket, s *place.Slot) {
	if w.Slot != s {
		t.Fatalf("the ticket names slot %p, not %p", w.Slot, s)
	}
	if m.running[s] != nil {
		t.Fatal("two invocations share an instance")
	}
	m.running[s] = w
}

// unwait notes that a ticket waits no more: it must have waited longest of its machine.
func (m *model) unwait(t *rapid.T, w *place.Ticket) {
	i := slices.Index(m.waiting, w)
	if i < 0 {
		t.Fatal("one is served that does not wait")
	}
	if len(m.waiting) > 0 && m.policy.Kind != place.Spread && i != 0 {
		t.Fatal("one is served before another that has waited longer")
	}
	m.waiting = slices.Delete(m.waiting, i, i+1)
}

// offered notes whom a slot serves that could serve somebody.
func (m *model) offered(t *rapid.T, s *place.Slot, w *place.Ticket) {
	if w == nil {
		if m.policy.Kind != place.Spread && len(m.waiting) > 0 {
			t.Fatal("an instance is idle while somebody waits")
		}
		m.idle = append(m.idle, s)
		return
	}
	m.unwait(t, w)
	m.serve(t, w, s)
}

func (m *model) changes(t *rapid.T) {
	start, stop, _ := m.p.Changes()
	for _, s := range start {
		if m.closed {
			t.Fatal("an instance is started after the end")
		}
		m.start = append(m.start, s)
	}
	for _, s := range stop {
		for _, list := range []*[]*place.Slot{&m.idle, &m.start, &m.back} {
			if i := slices.Index(*list, s); i >= 0 {
				if list != &m.idle && !m.closed {
					t.Fatal("an instance is stopped that was not idle")
				}
				*list = slices.Delete(*list, i, i+1)
			}
		}
		if m.running[s] != nil {
			t.Fatal("an instance is stopped that works")
		}
		m.stop = append(m.stop, s)
	}
}

func draw[T any](t *rapid.T, name string, from []T) (T, int) {
	i := rapid.IntRange(0, len(from)-1).Draw(t, name)
	return from[i], i
}

func (m *model) workers() (all []*place.Slot) {
	m.p.Slots(func(s *place.Slot) bool {
		if m.running[s] != nil {
			all = append(all, s)
		}
		return true
	})
	return all
}

func (m *model) step(t *rapid.T) {
	m.now += time.Duration(rapid.Int64Range(0, int64(20*time.Millisecond)).Draw(t, "later"))
	switch what := rapid.SampledFrom([]string{"arrive", "arrive", "arrive", "ready", "ready", "answered", "free",
		"free", "failed", "gone", "cancel", "tick", "long", "close"}).Draw(t, "what"); {
	case what == "arrive":
		m.arrive(t)
	case what == "ready" && len(m.start) > 0:
		s, i := draw(t, "slot", m.start)
		m.start = slices.Delete(m.start, i, i+1)
		m.offered(t, s, m.p.Ready(m.now, s, 10*time.Millisecond))
	case what == "answered" && len(m.running) > 0:
		s, _ := draw(t, "slot", m.workers())
		m.p.Answered(m.now, s)
		delete(m.running, s)
		m.back = append(m.back, s)
	case what == "free" && len(m.back) > 0:
		s, i := draw(t, "slot", m.back)
		m.back = slices.Delete(m.back, i, i+1)
		m.offered(t, s, m.p.Free(m.now, s))
	case what == "failed" && len(m.start) > 0:
		s, i := draw(t, "slot", m.start)
		m.start = slices.Delete(m.start, i, i+1)
		if w := m.p.Failed(m.now, s); w != nil {
			m.unwait(t, w)
			m.serve(t, w, s)
		} else if m.policy.Kind != place.Spread && len(m.waiting) > 0 {
			t.Fatal("one cannot start, and nobody who waits is told")
		}
	case what == "gone":
		all := slices.Concat(m.workers(), m.start, m.idle, m.back, m.stop)
		if len(all) == 0 {
			return
		}
		s, _ := draw(t, "slot", all)
		m.p.Gone(m.now, s)
		m.p.Gone(m.now, s) // it is told twice, as it may be
		delete(m.running, s)
		for _, list := range []*[]*place.Slot{&m.idle, &m.start, &m.back, &m.stop} {
			*list = slices.DeleteFunc(*list, func(o *place.Slot) bool { return o == s })
		}
	case what == "cancel" && len(m.waiting) > 0:
		w, i := draw(t, "ticket", m.waiting)
		if !m.p.Cancel(m.now, w) {
			t.Fatal("one that waits cannot be cancelled")
		}
		m.waiting = slices.Delete(m.waiting, i, i+1)
	case what == "tick":
		m.p.Tick(m.now)
	case what == "long":
		m.now += 2 * time.Minute
		m.p.Tick(m.now)
	case what == "close" && rapid.IntRange(0, 9).Draw(t, "really") == 0 && !m.closed:
		m.closed = true
		for _, w := range m.p.Close(m.now) {
			i := slices.Index(m.waiting, w)
			if i < 0 {
				t.Fatal("one was waiting that was not")
			}
			m.waiting = slices.Delete(m.waiting, i, i+1)
		}
		if len(m.waiting) > 0 {
			t.Fatal("one still waits after the end")
		}
	}
	m.changes(t)
	m.check(t)
}

func (m *model) arrive(t *rapid.T) {
	w := &place.Ticket{}
	full := m.closed || m.policy.Limit >= 0 && m.inflight() >= m.policy.Limit
	verdict := m.p.Arrive(m.now, w)
	if (verdict == place.Refuse) != full {
		t.Fatalf("with %d of %d it says %d", m.inflight(), m.policy.Limit, verdict)
	}
	switch verdict {
	case place.Use:
		i := slices.Index(m.idle, w.Slot)
		if i < 0 || m.policy.Kind != place.Spread && i != len(m.idle)-1 {
			t.Fatal("it is not given the idle one that was used last")
		}
		m.idle = slices.Delete(m.idle, i, i+1)
		m.serve(t, w, w.Slot)
	case place.Wait:
		if m.policy.Kind != place.Spread && len(m.idle) > 0 {
			t.Fatal("it waits though an instance is idle")
		}
		m.waiting = append(m.waiting, w)
	}
}

func (m *model) check(t *rapid.T) {
	want := place.Counts{Starting: len(m.start), Idle: len(m.idle), Busy: len(m.running), Finishing: len(m.back),
		Stopping: len(m.stop),
		Running:  len(m.running), Waiting: len(m.waiting)}
	if got := m.p.Counts(); got != want {
		t.Fatalf("it counts %+v, the model %+v", got, want)
	}
	if len(m.waiting) > len(m.start)+len(m.back) && (m.policy.Limit < 0 || m.policy.Kind == place.Spread) {
		t.Fatalf("%d wait, and only %d come: %+v", len(m.waiting), len(m.start)+len(m.back), want)
	}
	if !m.closed && m.policy.Limit >= 0 && m.policy.Kind == place.Warm &&
		len(m.start)+len(m.idle)+len(m.running)+len(m.back) > max(m.policy.Limit, m.policy.Provisioned) {
		t.Fatalf("there are more instances than may work: %+v", want)
	}
	if _, ok := m.p.Next(m.now); len(m.waiting) > len(m.start) && len(m.back) > 0 && !ok && m.policy.Limit < 0 {
		// Who waits for one that comes back is looked after in time, unless that time is over and one was started.
		m.p.Tick(m.now)
		m.changes(t)
		if len(m.waiting) > len(m.start) {
			t.Fatalf("somebody waits, and nobody will look: %+v", want)
		}
	}
}

// finish lets everything that is under way come to its end: then nobody may wait.
func (m *model) finish(t *rapid.T) {
	for range 10_000 {
		m.now += time.Second
		m.p.Tick(m.now)
		m.changes(t)
		switch {
		case len(m.start) > 0:
			s := m.start[0]
			m.start = m.start[1:]
			m.offered(t, s, m.p.Ready(m.now, s, time.Millisecond))
		case len(m.running) > 0:
			s := m.workers()[0]
			delete(m.running, s)
			m.offered(t, s, m.p.Free(m.now, s))
		case len(m.back) > 0:
			s := m.back[0]
			m.back = m.back[1:]
			m.offered(t, s, m.p.Free(m.now, s))
		default:
			if len(m.waiting) > 0 {
				t.Fatalf("%d wait for ever: %+v", len(m.waiting), m.p.Counts())
			}
			return
		}
		m.changes(t)
	}
	t.Fatal("it does not come to an end")
}

func TestThePlacerKeepsItsRulesWhateverHappens(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		policy := place.Policy{
			Kind:   rapid.SampledFrom([]place.Kind{place.Warm, place.Spread, place.Ahead}).Draw(t, "kind"),
			Limit:  rapid.SampledFrom([]int{-1, -1, 1, 3}).Draw(t, "limit"),
			Idle:   time.Minute,
			Freeze: rapid.SampledFrom([]time.Duration{0, time.Second}).Draw(t, "freeze"),
		}
		if policy.Kind != place.Spread {
			policy.Provisioned = rapid.IntRange(0, 2).Draw(t, "provisioned")
		}
		m := &model{p: place.New(policy), policy: policy, now: time.Hour, running: map[*place.Slot]*place.Ticket{}}
		for range rapid.IntRange(1, 200).Draw(t, "steps") {
			m.step(t)
		}
		m.finish(t)
	})
}
