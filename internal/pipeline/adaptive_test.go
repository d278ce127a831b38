package pipeline

import (
	"container/heap"
	"math"
	"math/rand/v2"
	"testing"
	"time"
)

// farEnd is a simulated server: it works on at most workers requests at once and queues the others; beyond refuseAt
// requests it answers at once that it wants less.
type farEnd struct {
	workers  int
	service  time.Duration
	refuseAt int           // 0: never
	spread   float64       // share of a request's time that is random (exponential)
	random   float64       // share of requests that fail whatever the load
	down     bool          // everything fails, after failIn
	failIn   time.Duration // of refusals
	perItem  time.Duration
}

// load is a client that always has something to send and keeps to the limit.
type load struct {
	t       *testing.T
	limiter *adaptive
	far     farEnd
	rand    *rand.Rand
	now     time.Duration
	busy    int
	serving int // of these, taken by the far end
	events  events
	free    times // when each worker of the far end is free
	done    int   // served since the last look
	refused int
	size    func() int
	most    int // no more than this under way: a client that has little to send; 0: no bound
}

type event struct {
	at     time.Duration
	began  time.Duration
	ticket uint64
	s      sample
}

type events []event

// times are a heap, the earliest first.
type times []time.Duration

func (t times) Len() int           { return len(t) }
func (t times) Less(i, j int) bool { return t[i] < t[j] }
func (t times) Swap(i, j int)      { t[i], t[j] = t[j], t[i] }
func (t *times) Push(x any)        { *t = append(*t, x.(time.Duration)) }
func (t *times) Pop() any {
	old := *t
	x := old[len(old)-1]
	*t = old[:len(old)-1]
	return x
}

func (e events) Len() int           { return len(e) }
func (e events) Less(i, j int) bool { return e[i].at < e[j].at }
func (e events) Swap(i, j int)      { e[i], e[j] = e[j], e[i] }
func (e *events) Push(x any)        { *e = append(*e, x.(event)) }
func (e *events) Pop() any {
	old := *e
	x := old[len(old)-1]
	*e = old[:len(old)-1]
	return x
}

// simulation seeds the simulated far ends: another number is another sequence of events.
const simulation = 1

func newLoad(t *testing.T, maximum int, far farEnd) *load {
	return &load{t: t, limiter: newAdaptive(maximum), far: far, rand: rand.New(rand.NewPCG(simulation, 2)),
		size: func() int { return 1 }}
}

func (l *load) send() {
	for l.busy < l.limiter.limit() && (l.most == 0 || l.busy < l.most) {
		l.busy++
		size := l.size()
		e := event{began: l.now, ticket: l.limiter.begin(l.busy, size), s: sample{size: size}}
		switch {
		case l.far.down, l.rand.Float64() < l.far.random:
			e.at, e.s.failed = l.now+max(l.far.failIn, time.Millisecond), 1
		case l.far.refuseAt > 0 && l.serving >= l.far.refuseAt:
			e.at, e.s.failed, e.s.slow = l.now+max(l.far.failIn, time.Millisecond), 1, true
		default:
			l.serving++
			for len(l.free) < l.far.workers {
				heap.Push(&l.free, time.Duration(0))
			}
			l.free = l.free[:l.far.workers]
			took := float64(l.far.service)*(1-l.far.spread+l.far.spread*l.rand.ExpFloat64()) +
				float64(e.s.size)*float64(l.far.perItem)
			l.free[0] = max(l.free[0], l.now) + time.Duration(took)
			e.at = l.free[0]
			heap.Fix(&l.free, 0)
		}
		heap.Push(&l.events, e)
	}
}

// run lets time pass and returns how many requests were served.
func (l *load) run(d time.Duration) int {
	end := l.now + d
	l.done, l.refused = 0, 0
	for l.send(); len(l.events) > 0 && l.events[0].at <= end; l.send() {
		e := heap.Pop(&l.events).(event)
		l.now = e.at
		l.busy--
		e.s.took = e.at - e.began
		e.s.at = time.Unix(0, int64(e.at))
		if e.s.failed == 0 {
			l.done++
			l.serving--
		} else {
			l.refused++
		}
		l.limiter.end(e.ticket, e.s)
	}
	l.now = end
	return l.done
}

// want checks that a span served at least a share of what the far end could.
func (l *load) want(d time.Duration, share float64) {
	l.t.Helper()
	possible := float64(d) / float64(l.far.service) * float64(l.far.workers)
	if n := l.run(d); float64(n) < share*possible {
		l.t.Errorf("served %d of %.0f possible requests in %v, at limit %d; want at least %.0f%%", n, possible, d,
			l.limiter.limit(), 100*share)
	}
}

func TestAdaptiveFindsTheMaximum(t *testing.T) {
	for _, workers := range []int{1, 2, 3, 8, 30, 64, 100, 150} {
		for _, spread := range []float64{0, 0.3, 1} {
			l := newLoad(t, 200, farEnd{workers: workers, service: 50 * time.Millisecond, spread: spread})
			l.run(10 * time.Second)
			l.want(time.Minute, 0.95-0.05*spread)
			if got, most := l.limiter.limit(), int(math.Ceil(2.2*float64(workers)))+3; spread < 1 && got > most {
				t.Errorf("%d workers, spread %v: limit %d, want at most %d: the rest only queues", workers, spread, got,
					most)
			}
		}
	}
}

func TestAdaptiveUsesAllItMayWhenTheFarEndHasRoom(t *testing.T) {
	for _, spread := range []float64{0, 0.5, 1} {
		l := newLoad(t, 200, farEnd{workers: 500, service: 20 * time.Millisecond, spread: spread})
		l.run(20 * time.Second)
		if got := l.limiter.limit(); got < 180 {
			t.Errorf("spread %v: limit %d, want nearly 200", spread, got)
		}
	}
}

func TestAdaptiveDoesNotRampSlowly(t *testing.T) {
	for _, workers := range []int{20, 50, 100, 200} {
		l := newLoad(t, 200, farEnd{workers: workers, service: 100 * time.Millisecond})
		for trips := 0; l.limiter.limit() < workers; trips++ {
			if trips > 14 {
				t.Fatalf("%d workers: limit %d after %d round trips", workers, l.limiter.limit(), trips)
			}
			l.run(100 * time.Millisecond)
		}
	}
}

func TestAdaptiveRecoversAfterABrownOut(t *testing.T) {
	l := newLoad(t, 200, farEnd{workers: 100, service: 50 * time.Millisecond})
	l.run(20 * time.Second)
	l.far.down, l.far.failIn = true, 20*time.Millisecond
	l.run(10 * time.Second)
	if got := l.limiter.limit(); got > 2 {
		t.Errorf("limit %d while everything fails, want 1 or 2", got)
	}
	l.far.down = false
	l.run(1500 * time.Millisecond)
	if got := l.limiter.limit(); got < 70 {
		t.Errorf("limit %d 30 round trips after the far end came back, want at least 70", got)
	}
	l.run(3 * time.Second)
	l.want(10*time.Second, 0.95)
}

func TestAdaptiveFollowsAFarEndThatBecomesSlowerForEveryone(t *testing.T) {
	l := newLoad(t, 200, farEnd{workers: 300, service: 20 * time.Millisecond, spread: 0.2})
	l.run(20 * time.Second)
	l.far.service = 90 * time.Millisecond // not a queue: fewer requests would not make it faster
	l.run(10 * time.Second)
	if got := l.limiter.limit(); got < 150 {
		t.Errorf("limit %d; slowness that is not ours must not cost concurrency", got)
	}
}

func TestAdaptiveFollowsCapacity(t *testing.T) {
	l := newLoad(t, 200, farEnd{workers: 120, service: 50 * time.Millisecond})
	l.run(20 * time.Second)
	l.far.workers = 20
	l.run(20 * time.Second)
	if got := l.limiter.limit(); got > 50 {
		t.Errorf("limit %d after the far end shrank to 20 workers", got)
	}
	l.far.workers = 150
	l.run(10 * time.Second)
	l.want(10*time.Second, 0.95)
}

func TestAdaptiveStaysBelowAFarEndThatRefuses(t *testing.T) {
	l := newLoad(t, 200, farEnd{workers: 300, service: 50 * time.Millisecond, refuseAt: 60,
		failIn: 5 * time.Millisecond})
	l.run(20 * time.Second)
	n := l.run(time.Minute)
	if most := float64(n) * 0.02; float64(l.refused) > most {
		t.Errorf("%d refused, %d served: want at most 2%% refused", l.refused, n)
	}
	if possible := 60 * 60.0 / 0.05; float64(n) < 0.85*possible {
		t.Errorf("served %d of %.0f possible", n, possible)
	}
}

func TestAdaptiveBearsFailuresThatHaveNothingToDoWithLoad(t *testing.T) {
	l := newLoad(t, 200, farEnd{workers: 100, service: 50 * time.Millisecond, random: 0.03,
		failIn: 50 * time.Millisecond})
	l.run(20 * time.Second)
	l.want(time.Minute, 0.9)
}

func TestAdaptiveDoesNotTakeLargerBatchesForSlowness(t *testing.T) {
	l := newLoad(t, 100, farEnd{workers: 300, service: 5 * time.Millisecond, perItem: 100 * time.Microsecond})
	l.run(5 * time.Second)
	l.size = func() int { return 1 << l.rand.IntN(11) }
	l.run(20 * time.Second)
	if got := l.limiter.limit(); got < 90 {
		t.Errorf("limit %d, want nearly 100: large batches take longer, and that is all", got)
	}
}

func TestAdaptiveDoesNotGrowUnused(t *testing.T) {
	l := newLoad(t, 200, farEnd{workers: 300, service: 50 * time.Millisecond})
	l.most = 6
	l.run(time.Minute)
	if got := l.limiter.limit(); got > 13 {
		t.Errorf("limit %d with never more than 6 requests under way: it was not tried, so it is not known to be good",
			got)
	}
}

func TestAdaptiveKeepsItsBounds(t *testing.T) {
	for _, maximum := range []int{0, 1, 2, 5} {
		l := newLoad(t, maximum, farEnd{workers: 100, service: 10 * time.Millisecond})
		for range 200 {
			l.far.down = l.rand.IntN(4) == 0
			l.run(50 * time.Millisecond)
			if got := l.limiter.limit(); got < 1 || got > max(1, maximum) {
				t.Fatalf("limit %d outside of 1 to %d", got, maximum)
			}
		}
	}
}
