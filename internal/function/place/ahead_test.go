package place_test

import (
	"container/heap"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/hikyaku/hikyaku/internal/function/place"
)

func TestAheadStartsTheNextWhereTrafficNeededItBefore(t *testing.T) {
	d := newDesk(t, place.Policy{Kind: place.Ahead, Limit: -1, Idle: time.Minute, Window: 5 * time.Minute})
	// A ramp: one invocation every 4 ms, each 100 ms, to a demand of 5, with starts of 10 ms.
	d.warm(1)
	d.now += time.Second
	var running []*place.Ticket
	running = append(running, d.arrive(place.Use))
	for range 4 {
		d.now += 4 * ms
		w := d.arrive(place.Wait)
		running = append(running, w)
	}
	for n := 1; n < len(d.all); n++ {
		d.ready(n, 10*ms, running[n])
	}
	for _, w := range running {
		d.free(w.Slot, nil)
	}
	if n := len(d.all); n != 5 {
		t.Fatalf("the first ramp has started %d", n)
	}
	// All but what it has learned to keep are stopped.
	d.tick(2 * time.Minute)
	for _, s := range d.off {
		d.p.Gone(d.now, s)
	}
	kept := 5 - len(d.off)
	if kept < 1 || kept > 3 {
		t.Fatalf("%d were kept", kept)
	}
	// The same ramp again finds its instances started in time.
	began := len(d.all)
	for i := range 5 {
		w := &place.Ticket{}
		if d.p.Arrive(d.now, w) == place.Wait {
			t.Fatalf("arrival %d waits: %+v", i, d.p.Counts())
		}
		d.changes()
		d.now += 4 * ms
		for began < len(d.all) && d.now-d.all[began].Since >= 10*ms {
			d.ready(began, 10*ms, nil)
			began++
		}
	}
}

func TestAheadForgets(t *testing.T) {
	d := newDesk(t, place.Policy{Kind: place.Ahead, Limit: -1, Idle: time.Second, Window: time.Minute})
	d.warm(10) // at once: ten were needed when there were none
	d.tick(30 * time.Second)
	if len(d.off) != 0 {
		t.Fatalf("%d were stopped though a burst may come", len(d.off))
	}
	d.tick(time.Minute)
	d.tick(2 * time.Minute)
	if len(d.off) != 10 {
		t.Fatalf("%d of 10 were stopped after minutes without traffic", len(d.off))
	}
}

// A day is what a simulated traffic does: arrivals, how long each works, and how long instances take to start.
type day struct {
	cold, all int
}

type event struct {
	at time.Duration
	do func()
}

type events []event

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

// simulate runs Poisson arrivals with bursts through a policy and counts who had to wait for an instance that was
// started.
func simulate(policy place.Policy, seed uint64) (result day) {
	const start, work = 300 * ms, 40 * ms
	r := rand.New(rand.NewPCG(seed, 1))
	p := place.New(policy)
	var queue events
	var now time.Duration
	at := func(in time.Duration, do func()) { heap.Push(&queue, event{now + in, do}) }
	var act func()
	serve := func(t *place.Ticket) {
		s := t.Slot
		at(work, func() {
			var next *place.Ticket
			if next = p.Free(now, s); next != nil {
				next.Value.(func(*place.Ticket))(next)
			}
			act()
		})
	}
	act = func() {
		starts, stops, _ := p.Changes()
		stops = append([]*place.Slot(nil), stops...)
		for _, s := range starts {
			at(start, func() {
				if t := p.Ready(now, s, start); t != nil {
					result.cold++
					t.Value.(func(*place.Ticket))(t)
				}
				act()
			})
		}
		for _, s := range stops {
			p.Gone(now, s)
		}
	}
	arrive := func() {
		result.all++
		t := &place.Ticket{Value: serve}
		if p.Arrive(now, t) == place.Use {
			serve(t)
		}
		act()
	}
	for at := time.Duration(0); at < 20*time.Minute; at += time.Duration(r.ExpFloat64() * float64(time.Second)) {
		heap.Push(&queue, event{at, arrive})
		if r.IntN(60) == 0 { // a burst now and then
			for range 10 + r.IntN(5) {
				heap.Push(&queue, event{at + time.Duration(r.Int64N(int64(100*ms))), arrive})
			}
		}
	}
	var tick func()
	tick = func() {
		p.Tick(now)
		act()
		if len(queue) > 0 {
			at(10*time.Second, tick)
		}
	}
	at(0, tick)
	for len(queue) > 0 {
		e := heap.Pop(&queue).(event)
		now = e.at
		e.do()
	}
	return result
}

func TestAheadAndWarmHaveFewColdStartsWhereSpreadHasMany(t *testing.T) {
	for seed := range uint64(5) {
		idle := 20 * time.Second
		spread := simulate(place.Policy{Kind: place.Spread, Limit: -1, Idle: idle}, seed)
		warm := simulate(place.Policy{Kind: place.Warm, Limit: -1, Idle: idle}, seed)
		ahead := simulate(place.Policy{Kind: place.Ahead, Limit: -1, Idle: idle}, seed)
		t.Logf("cold starts of %d: spread %d, warm %d, ahead %d", spread.all, spread.cold, warm.cold, ahead.cold)
		if ahead.cold*10 > spread.cold || ahead.cold > warm.cold {
			t.Errorf("seed %d: of %d invocations spread waits for %d starts, warm for %d, ahead for %d", seed,
				spread.all, spread.cold, warm.cold, ahead.cold)
		}
	}
}
