package shard

import (
	"context"
	"maps"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hikyaku/hikyaku/internal/queue"
)

// relay carries messages from one shard to another: each exactly once. What is in a lane is durable there. A carrier
// claims it, puts it into its destination with the lane and its sequence as its origin, and settles it. After a crash
// in between the next start asks all queues for that origin (see letGo): what has arrived is not carried again,
// whatever its destination is called by then. A destination remembers as little as it can: each put tells it what is
// the oldest message in the lane.
type relay struct {
	router   *Router
	idle     time.Duration
	mu       sync.Mutex
	carriers map[carries]*carrier
	resting  map[carries]*queue.Lane // lanes whose carriers have ended, for they had nothing to do
	closed   bool
	still    int                     // how many want no carrier to do anything
	wanted   map[carries]*queue.Lane // lanes for which somebody asked meanwhile
	round    context.Context         // of the carriers; ends when they are to stand still
	halt     context.CancelFunc      // ends it
	ending   sync.WaitGroup
	carrying sync.WaitGroup
	carried  atomic.Uint64
	on       deliveries
}

// carries says which lane a carrier has.
type carries struct {
	shard int
	lane  queue.Name
}

// laneIdle is how long a carrier waits at a lane without messages before it ends, and how often somebody looks whether
// one is needed where they have ended.
const laneIdle = time.Minute

func newRelay(r *Router, idle time.Duration) *relay {
	y := &relay{router: r, idle: idle, carriers: map[carries]*carrier{}, resting: map[carries]*queue.Lane{},
		wanted: map[carries]*queue.Lane{}, on: newDeliveries()}
	y.round, y.halt = context.WithCancel(r.closing)
	return y
}

// begin starts a carrier for each lane with messages, after those have gone that have arrived. A lane without any is
// deleted if what it leads to is no more. Else it stays: it knows what came from which origin, and its destination
// would have to remember a new one beside it.
func (y *relay) begin(ctx context.Context) error {
	err := y.eachLane(ctx, func(shard int, s store, st *queue.Stats) error {
		if st.Messages() > 0 {
			y.start(shard, &queue.Lane{Queue: st.Name, Definition: st.Definition})
			return nil
		}
		there, err := y.router.leadsSomewhere(ctx, &st.Definition)
		if err != nil || there {
			return err
		}
		return s.DeleteQueue(ctx, st.Name)
	})
	if err != nil {
		return err
	}
	y.ending.Go(func() { y.watch(y.router.closing) })
	return nil
}

// eachLane lets each lane go of what has arrived, and then calls then with what is in it.
func (y *relay) eachLane(ctx context.Context, then func(shard int, s store, st *queue.Stats) error) error {
	for shard, s := range y.router.stores {
		names, err := s.Queues(ctx)
		if err != nil {
			return err
		}
		for _, n := range names {
			if !reserved(n) {
				continue
			}
			st, err := s.Stats(ctx, n)
			if err == nil {
				err = y.letGo(ctx, shard, &st)
			}
			if err == nil {
				st, err = s.Stats(ctx, n)
			}
			if err == nil {
				err = then(shard, s, &st)
			}
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// quiet ends all carriers, and lets none begin before goOn is called. What they claimed went back.
func (y *relay) quiet() {
	y.mu.Lock()
	y.still++
	y.halt()
	y.mu.Unlock()
	y.carrying.Wait()
	y.mu.Lock()
	defer y.mu.Unlock()
	for c, at := range y.carriers { // those that did not get to their end
		y.wanted[c] = at.lane
	}
	clear(y.carriers)
}

// settleLanes lets all lanes go of what has arrived, as a start does, while all carriers are quiet.
func (y *relay) settleLanes(ctx context.Context) error {
	err := y.eachLane(ctx, func(shard int, _ store, st *queue.Stats) error {
		if st.Messages() > 0 {
			y.start(shard, &queue.Lane{Queue: st.Name, Definition: st.Definition}) // when they go on
		}
		return nil
	})
	if err == nil {
		y.on.forget()
	}
	return err
}

// goOn lets carriers begin again.
func (y *relay) goOn() {
	y.mu.Lock()
	if y.still--; y.still > 0 {
		y.mu.Unlock()
		return
	}
	y.round, y.halt = context.WithCancel(y.router.closing)
	wanted := y.wanted
	y.wanted = map[carries]*queue.Lane{}
	y.mu.Unlock()
	for c, lane := range wanted {
		y.start(c.shard, lane)
	}
}

// watch starts carriers again for lanes with messages: a put that took long may have come when the carrier that was
// asked for had ended.
func (y *relay) watch(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-time.After(y.idle):
		}
		y.mu.Lock()
		resting := maps.Clone(y.resting)
		y.mu.Unlock()
		for c, lane := range resting {
			st, err := y.router.stores[c.shard].Stats(ctx, c.lane)
			if err == nil && st.Messages() > 0 {
				y.start(c.shard, lane)
			}
		}
	}
}

// start lets somebody carry what is in a lane, if nobody does.
func (y *relay) start(shard int, lane *queue.Lane) {
	y.mu.Lock()
	defer y.mu.Unlock()
	c := carries{shard, lane.Queue}
	at := y.carriers[c]
	switch {
	case y.still > 0:
		y.wanted[c] = lane
	case at != nil:
		at.asked = true
	case !y.closed:
		at = &carrier{relay: y, shard: shard, lane: lane}
		y.carriers[c] = at
		delete(y.resting, c)
		round := y.round
		y.carrying.Go(func() { at.run(round) })
	}
}

// rest lets a carrier end, if nobody has asked for it since it was asked last.
func (y *relay) rest(c *carrier) bool {
	y.mu.Lock()
	defer y.mu.Unlock()
	if c.asked {
		c.asked = false
		return false
	}
	at := carries{c.shard, c.lane.Queue}
	delete(y.carriers, at)
	y.resting[at] = c.lane
	return true
}

// end waits until no carrier does anything; the context that they have has ended.
func (y *relay) end() {
	y.mu.Lock()
	y.closed = true
	y.mu.Unlock()
	y.halt()
	y.carrying.Wait()
	y.ending.Wait()
}

// RelayStats describe the relay now.
type RelayStats struct {
	Carried uint64    // messages since the start of the process
	Waiting int64     // messages that have not arrived
	Oldest  time.Time // when the oldest of them was put; zero: none waits
	Lanes   int
}

// Relay tells how far the relay is.
func (r *Router) Relay(ctx context.Context) (RelayStats, error) {
	total := RelayStats{Carried: r.relay.carried.Load()}
	for _, s := range r.stores {
		names, err := s.Queues(ctx)
		if err != nil {
			return total, err
		}
		for _, n := range names {
			if !reserved(n) {
				continue
			}
			st, err := s.Stats(ctx, n)
			if err != nil {
				return total, err
			}
			total.Lanes++
			total.Waiting += st.Messages()
			if st.Messages() == 0 {
				continue
			}
			ps, err := s.Peek(ctx, n, queue.PeekRequest{Max: 1, NoBody: true})
			if err != nil {
				return total, err
			}
			if len(ps) > 0 && (total.Oldest.IsZero() || ps[0].Message.Time.Before(total.Oldest)) {
				total.Oldest = ps[0].Message.Time
			}
		}
	}
	return total, nil
}
