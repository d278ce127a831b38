package http

import (
	"cmp"
	"context"
	"math"
	"slices"
	"sync"
	"time"

	"github.com/hikyaku/hikyaku/internal/queue"
)

const (
	// pastStep is the time from one point to the next, pastPoints how many are kept: 15 minutes.
	pastStep   = 5 * time.Second
	pastPoints = 180
	// pastQueues and pastOthers bound of how many queues, and of how many components and doors, points are kept.
	pastQueues = 500
	pastOthers = 500
	// manyQueues is from how many on all queues are looked at slowSteps times as seldom, since a look asks each of
	// them. What it sees is then the value of as many points.
	manyQueues = 1000
	slowSteps  = 3
)

// past records what /-/top would tell, for as long as the door is open. Its memory is bounded: tracks of the sum, of
// pastQueues queues and of pastOthers components and doors, and the look before, which has some 160 bytes a queue.
type past struct {
	busiest *busiest
	began   time.Time // of the first step
	running sync.WaitGroup

	mu     sync.Mutex
	slot   int64 // the step of the newest points, counted from began; -1: there are none
	at     time.Time
	steps  int64 // from that look to the next
	sum    *track
	queues map[queue.Name]*queueTrack
	others map[string]*track // of components and doors, by the keys of a glance's totals
}

// track is the last 15 minutes of one thing: rings of values, each at the remainder of its step.
type track [4][pastPoints]float32

// queueTrack is the track of a queue.
type queueTrack struct {
	track
	wanted int64 // the newest step in which it was among the busiest or the fullest
	seen   int   // where it is in the glance; -1: it is not
}

// unknown is a point of which nothing is known.
var unknown = float32(math.NaN())

func newTrack() (t track) {
	for i := range t {
		for s := range t[i] {
			t[i][s] = unknown
		}
	}
	return t
}

// set notes the values of the steps from first to last.
func (t *track) set(first, last int64, values ...float64) {
	for i, v := range values {
		for s := first; s <= last; s++ {
			t[i][s%pastPoints] = float32(v)
		}
	}
}

func newPast(b *busiest) *past {
	sum := newTrack()
	return &past{busiest: b, slot: -1, steps: 1, sum: &sum, queues: map[queue.Name]*queueTrack{},
		others: map[string]*track{}}
}

// start records until ctx ends; wait waits for the end.
func (p *past) start(ctx context.Context) {
	p.began = time.Now()
	p.running.Go(func() { p.run(ctx) })
}

func (p *past) wait() { p.running.Wait() }

func (p *past) run(ctx context.Context) {
	var last *glance
	next := time.NewTimer(0)
	defer next.Stop()
	for {
		select {
		case <-next.C:
		case <-ctx.Done():
			return
		}
		// Whatever hinders a look, the points that it would have given stay unknown.
		if g, err := p.busiest.see(ctx, last); err == nil {
			p.record(g)
			last = g
		}
		next.Reset(time.Until(p.began.Add(time.Duration(p.step(time.Now())+p.steps) * pastStep)))
	}
}

// step is the number of the step that a moment is in.
func (p *past) step(t time.Time) int64 { return int64(t.Sub(p.began) / pastStep) }

// record notes what was seen.
func (p *past) record(g *glance) {
	p.mu.Lock()
	defer p.mu.Unlock()
	slot := p.step(g.at)
	first := slot // of the points that this look gives
	if p.slot >= 0 && slot-p.slot <= p.steps {
		first = min(p.slot+1, slot)
	}
	p.forget(slot)
	p.slot, p.at, p.steps = slot, g.at, 1
	if len(g.queues) > manyQueues {
		p.steps = slowSteps
	}
	rate := func(r float64) float64 {
		if g.over == 0 {
			return math.NaN()
		}
		return r
	}
	var ready, oldest, in, out float64
	for i := range g.queues {
		q := &g.queues[i]
		ready += float64(q.Ready)
		oldest = max(oldest, q.Oldest)
		in += q.In
		out += q.Out
	}
	p.sum.set(first, slot, ready, oldest, rate(in), rate(out))
	p.choose(g)
	for _, t := range p.queues {
		q := &g.queues[t.seen]
		t.set(first, slot, float64(q.Ready), q.Oldest, rate(q.In), rate(q.Out))
	}
	for i := range g.doors {
		d := &g.doors[i]
		p.other("door "+d.Name).set(first, slot, rate(d.Requests), rate(d.Errors))
	}
	for i := range g.components {
		c := &g.components[i]
		took := c.P99
		if took == 0 {
			took = math.NaN()
		}
		p.other("component "+c.Name).set(first, slot, rate(c.In), rate(c.Out), float64(c.InFlight), took)
	}
	for key := range p.others { // one that a reload took away
		if _, there := g.totals[key]; !there {
			delete(p.others, key)
		}
	}
}

// other is the track of a component or a door. What comes when there are too many is recorded nowhere.
func (p *past) other(key string) *track {
	t := p.others[key]
	if t == nil {
		made := newTrack()
		if t = &made; len(p.others) < pastOthers {
			p.others[key] = t
		}
	}
	return t
}

// forget makes unknown what was 15 minutes before the steps after the newest, up to slot.
func (p *past) forget(slot int64) {
	for s := max(p.slot+1, slot-pastPoints+1); s <= slot; s++ {
		gone := func(t *track) {
			for i := range t {
				t[i][s%pastPoints] = unknown
			}
		}
		gone(p.sum)
		for _, t := range p.queues {
			gone(&t.track)
		}
		for _, t := range p.others {
			gone(t)
		}
	}
}

// choose gives tracks to the queues that are the busiest and the fullest now. Where there is no room, those leave that
// were so longest ago, and begin anew when they come back.
func (p *past) choose(g *glance) {
	for _, t := range p.queues {
		t.seen = -1
	}
	for i := range g.queues {
		if t := p.queues[g.queues[i].name]; t != nil {
			t.seen = i
		}
	}
	for name, t := range p.queues {
		if t.seen < 0 {
			delete(p.queues, name)
		}
	}
	var comes []int
	for _, i := range wanted(g.queues) {
		if t := p.queues[g.queues[i].name]; t != nil {
			t.wanted = p.slot
		} else {
			comes = append(comes, i)
		}
	}
	var leave []queue.Name // the one that goes first stands last
	for _, i := range comes {
		if len(p.queues) >= pastQueues {
			if leave == nil {
				leave = p.leaving()
			}
			delete(p.queues, leave[len(leave)-1])
			leave = leave[:len(leave)-1]
		}
		p.queues[g.queues[i].name] = &queueTrack{track: newTrack(), seen: i, wanted: p.slot}
	}
	for i := 0; i < len(g.queues) && len(p.queues) < pastQueues; i++ {
		if name := g.queues[i].name; p.queues[name] == nil {
			p.queues[name] = &queueTrack{track: newTrack(), seen: i, wanted: -1}
		}
	}
}

// leaving are the queues that have tracks, those that were wanted longest ago last.
func (p *past) leaving() []queue.Name {
	names := make([]queue.Name, 0, len(p.queues))
	for name := range p.queues {
		names = append(names, name)
	}
	slices.SortFunc(names, func(a, b queue.Name) int { return cmp.Compare(p.queues[b].wanted, p.queues[a].wanted) })
	return names
}

// wanted are the places of the busiest and of the fullest queues, once each: of each kind at most half of those that
// have room, so that nobody has to leave who is among them.
func wanted(queues []seenQueue) []int {
	var chosen []int
	twice := map[int]bool{}
	for _, by := range []func(*seenQueue) float64{topSorts[busiestTop], topSorts["ready"]} {
		var some []int
		for i := range queues {
			if by(&queues[i]) > 0 {
				some = append(some, i)
			}
		}
		slices.SortFunc(some, func(a, b int) int { return cmp.Compare(by(&queues[b]), by(&queues[a])) })
		for _, i := range some[:min(len(some), pastQueues/2)] {
			if !twice[i] {
				twice[i] = true
				chosen = append(chosen, i)
			}
		}
	}
	return chosen
}

// since is what a track has, up to now, the oldest first, and when its newest points are from. nil has none.
func (p *past) since(now time.Time, t *track, lines int) (rows []Points, at time.Time) {
	last, at := p.slot, p.at
	if p.slot < 0 {
		at = now
	} else if late := p.step(now) - p.slot - p.steps; late > 0 { // nothing was seen when something was due
		last, at = last+late, at.Add(time.Duration(late)*pastStep)
	}
	for i := range lines {
		row := make(Points, pastPoints)
		for k := range row {
			s := last - pastPoints + 1 + int64(k)
			row[k] = unknown
			if t != nil && s >= 0 && s <= p.slot && s > p.slot-pastPoints {
				row[k] = t[i][s%pastPoints]
			}
		}
		rows = append(rows, row)
	}
	return rows, at
}
