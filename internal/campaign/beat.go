package campaign

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"time"

	"github.com/hikyaku/hikyaku/internal/queue"
)

const (
	// every is how often counts are kept, and ends are looked for.
	every = time.Second
	// The queues are looked into for the end of a campaign whose counts do not say it, at first and at most so often.
	lookFirst, lookMost = 4 * time.Second, time.Minute
	// rateOver is over how many beats a rate is taken.
	rateOver = 10
)

// pulse is what was counted at the last beats. The registry's lock guards it.
type pulse struct {
	at      [rateOver + 1]time.Time
	settled [rateOver + 1]uint64
	n       int
	look    time.Time // no look into the queues before
	wait    time.Duration
}

func (p *pulse) beat(now time.Time, settled uint64) {
	if p.n == len(p.at) {
		copy(p.at[:], p.at[1:])
		copy(p.settled[:], p.settled[1:])
		p.n--
	}
	p.at[p.n], p.settled[p.n] = now, settled
	p.n++
}

// rate is how many are settled a second.
func (p *pulse) rate() float64 {
	if p.n < 2 {
		return 0
	}
	took := p.at[p.n-1].Sub(p.at[0]).Seconds()
	if took <= 0 {
		return 0
	}
	return float64(p.settled[p.n-1]-p.settled[0]) / took
}

// due tells whether to look into the queues: at once when the counts say that nothing is left, else less and less
// often.
func (p *pulse) due(now time.Time, counted bool) bool {
	if !counted && now.Before(p.look) {
		return false
	}
	p.wait = min(max(2*p.wait, lookFirst), lookMost)
	p.look = now.Add(p.wait)
	return true
}

// beat does once a second what has to be done.
func (r *Registry) beat(ctx context.Context) {
	tick := time.NewTicker(every)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		r.Beat(ctx)
	}
}

// Beat keeps the counts and ends what is over. It is called once a second, without anybody's doing.
func (r *Registry) Beat(ctx context.Context) {
	_ = r.flush(ctx) // what could not be kept is kept with the next beat, or at Close
	now := r.clock()
	for _, c := range r.ending(now) {
		if left, err := r.left(ctx, c); left || err != nil {
			continue // what cannot be found out is looked for again with a later beat
		}
		r.end(ctx, c)
	}
}

// ending are the campaigns that may be over, and are to be looked for in the queues.
func (r *Registry) ending(now time.Time) (cs []*campaign) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, c := range r.all {
		if !c.def.Ended.IsZero() {
			continue
		}
		n := c.tally.read()
		c.pulse.beat(now, n.settled())
		// One that is cancelled need not have been made: its fanout may not be there, or its message was deleted.
		over := c.complete() || c.def.State == Cancelled
		if c.def.State != Paused && over && c.pulse.due(now, c.complete() && n.settled() >= c.made()) {
			cs = append(cs, c)
		}
	}
	return cs
}

// left tells whether something of a campaign is in the queues that are guarded or, unless all was made of it, its
// message in its own.
func (r *Registry) left(ctx context.Context, c *campaign) (bool, error) {
	r.mu.Lock()
	queues, complete, from := slices.Clone(r.guarded), c.complete(), c.def.Queue
	r.mu.Unlock()
	if !complete {
		more, err := r.readers(ctx, from)
		if err != nil {
			return false, err
		}
		queues = append(queues, more...)
	}
	for _, n := range queues {
		where, err := r.store.Parse(ctx, n, Attribute+" = '"+c.id+"'")
		if errors.Is(err, queue.ErrCondition) {
			continue // its messages have no such attribute
		}
		if err != nil {
			return false, err
		}
		if idle, err := r.store.Idle(ctx, n, where); !idle || err != nil {
			return true, err
		}
	}
	return false, nil
}

// readers are the queues into which goes what is put to a queue or topic.
func (r *Registry) readers(ctx context.Context, to string) ([]queue.Name, error) {
	n, err := queue.ParseName(to)
	if err != nil {
		return nil, nil // no message goes there
	}
	topic, err := r.store.TopicStats(ctx, n)
	if errors.Is(err, queue.ErrNotFound) {
		return []queue.Name{n}, nil
	}
	return topic.Subscriptions, err
}

// end notes that nothing of a campaign is left. What cannot be kept is tried with a later beat.
func (r *Registry) end(ctx context.Context, c *campaign) {
	r.changing.Lock()
	defer r.changing.Unlock()
	r.mu.Lock()
	def := c.def
	r.mu.Unlock()
	if def.State == Paused { // meanwhile
		return
	}
	if def.State == Running {
		def.State = Done
	}
	def.Ended = r.clock().UTC()
	_, _ = r.change(ctx, c, def)
}

// change makes a definition durable, and then true. changing is held.
func (r *Registry) change(ctx context.Context, c *campaign, def definition) (View, error) {
	notes := []queue.Note{noteOf(c.id, def)}
	var gone []*campaign
	if !def.Ended.IsZero() {
		notes, gone = r.forgetting(notes)
	}
	// A caller who goes away leaves no state behind that is kept and not in force.
	if _, _, err := r.store.Commit(context.WithoutCancel(ctx), queue.Change{Notes: notes, Needed: true}); err != nil {
		return View{}, err
	}
	r.mu.Lock()
	c.def = def
	for _, old := range gone {
		delete(r.all, old.id)
		if old.def.Key != "" {
			delete(r.byKey, old.def.Queue+" "+old.def.Key)
		}
	}
	r.publish()
	v := r.view(c)
	var told []func()
	for _, changed := range r.follows {
		told = append(told, changed)
	}
	r.mu.Unlock()
	for _, changed := range told {
		changed()
	}
	return v, nil
}

// forgetting makes room for one more that has ended: the notes of those that were the first to end go.
func (r *Registry) forgetting(notes []queue.Note) ([]queue.Note, []*campaign) {
	r.mu.Lock()
	defer r.mu.Unlock()
	var ended []*campaign
	for _, c := range r.all {
		if !c.def.Ended.IsZero() {
			ended = append(ended, c)
		}
	}
	slices.SortFunc(ended,
		func(a, b *campaign) int { return cmp.Compare(a.def.Ended.UnixNano(), b.def.Ended.UnixNano()) })
	ended = ended[:max(0, len(ended)-MostEnded+1)]
	for _, c := range ended {
		notes = append(notes, queue.Note{Room: room, Key: c.id}, queue.Note{Room: room, Key: c.id + countsKey})
		for name := range c.runs {
			notes = append(notes, queue.Note{Room: room, Key: c.id + runKey + name})
		}
	}
	return notes, ended
}

// flush keeps the counts that have changed.
func (r *Registry) flush(ctx context.Context) error {
	var notes []queue.Note
	var taken []*campaign
	for id, c := range *r.counted.Load() {
		if n, changed := c.tally.take(); changed {
			notes = append(notes, noteOf(id+countsKey, n))
			taken = append(taken, c)
		}
	}
	if len(notes) == 0 {
		return nil
	}
	_, _, err := r.store.Commit(ctx, queue.Change{Notes: notes, Needed: true})
	if err != nil {
		for _, c := range taken {
			c.tally.untake()
		}
	}
	return err
}
