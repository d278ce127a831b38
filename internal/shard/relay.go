package shard

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hikyaku/hikyaku/internal/message"
	"github.com/hikyaku/hikyaku/internal/queue"
)

// relay carries messages from one shard to another: each exactly once. What is in a lane is durable there. A carrier
// claims it, puts it into its destination with the lane and its sequence as its origin, and settles it. After a crash
// in between it does the same again, and the destination knows the origin. A destination remembers as little as it can:
// each put tells it what is the oldest message in the lane.
type relay struct {
	router   *Router
	mu       sync.Mutex
	carriers map[carries]bool
	closed   bool
	ending   sync.WaitGroup
	carried  atomic.Uint64
}

// carries says which lane a carrier has.
type carries struct {
	shard int
	lane  queue.Name
}

func newRelay(r *Router) *relay { return &relay{router: r, carriers: map[carries]bool{}} }

// begin starts a carrier for each lane with messages. One without any is deleted if what it leads to is no more. Else
// it stays: it knows what came from which origin, and its destination would have to remember a new one beside it.
func (y *relay) begin(ctx context.Context) error {
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
			if err != nil {
				return err
			}
			if st.Messages() > 0 {
				y.start(shard, &queue.Lane{Queue: n, Definition: st.Definition})
			} else if there, err := y.router.leadsSomewhere(ctx, &st.Definition); err != nil {
				return err
			} else if !there {
				if err := s.DeleteQueue(ctx, n); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// start lets somebody carry what is in a lane, if nobody does.
func (y *relay) start(shard int, lane *queue.Lane) {
	y.mu.Lock()
	defer y.mu.Unlock()
	if c := (carries{shard, lane.Queue}); !y.closed && !y.carriers[c] {
		y.carriers[c] = true
		y.ending.Go(func() { (&carrier{relay: y, shard: shard, lane: lane}).run(y.router.closing) })
	}
}

// end waits until no carrier does anything; the context that they have has ended.
func (y *relay) end() {
	y.mu.Lock()
	y.closed = true
	y.mu.Unlock()
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

// carrier carries what is in one lane.
type carrier struct {
	relay  *relay
	shard  int
	lane   *queue.Lane
	to     queue.Name
	as     queue.Meaning
	wraps  bool   // its messages are wrapped
	source string // the lane as an origin
	failed int    // times that the same did not succeed
	told   time.Time

	settling sync.WaitGroup // of what was delivered last: meanwhile the next messages leave
}

// Bounds of what is carried in one group, and of how long a carrier waits after a failure.
const (
	carryMessages = 1000
	carryBytes    = 4 << 20
	shortestPause = 10 * time.Millisecond
	longestPause  = time.Second
	tellAgain     = 30 * time.Second
)

func (c *carrier) run(ctx context.Context) {
	s := c.relay.router.stores[c.shard]
	if err := c.begin(ctx, s); err != nil {
		return // the store or the Router ends: the lane is carried on after the next start
	}
	owner := s.NewOwner("relay to " + c.to.Short())
	defer owner.Close()
	defer c.settling.Wait()
	for ctx.Err() == nil {
		cs, err := s.Claim(ctx, queue.ClaimRequest{From: []queue.From{{Queue: c.lane.Queue}}, Max: carryMessages,
			Bytes: carryBytes, Wait: time.Hour, Owner: owner})
		if err == nil && len(cs) > 0 {
			err = c.carry(ctx, s, cs)
		}
		if err != nil && !c.pause(ctx, err) {
			return
		}
	}
}

// begin makes the lane, if it is not there, and learns where it leads.
func (c *carrier) begin(ctx context.Context, s store) error {
	for {
		_, err := s.Configured().CreateQueue(ctx, c.lane.Queue, c.lane.Definition)
		var st queue.Stats
		if err == nil || errors.Is(err, queue.ErrExists) {
			st, err = s.Stats(ctx, c.lane.Queue)
		}
		if err == nil {
			c.to, c.as, err = leadsTo(&st.Definition)
			c.wraps = wraps(&st.Definition)
		}
		if err == nil {
			// The number is this lane's alone, also when it is deleted and made anew.
			c.source = fmt.Sprintf("relay %d/%d", c.shard, st.ID)
			return nil
		}
		if !c.pause(ctx, err) {
			return err
		}
	}
}

// pause waits after a failure, longer each time, and tells of it. It returns false when there is nothing more to do.
func (c *carrier) pause(ctx context.Context, err error) (goOn bool) {
	if ctx.Err() != nil || errors.Is(err, queue.ErrClosed) {
		return false
	}
	if time.Since(c.told) > tellAgain {
		c.told = time.Now()
		c.relay.router.report(fmt.Errorf("relay from shard %d to %s waits: %w", c.shard, c.to.Short(), err))
	}
	wait := min(longestPause, shortestPause<<min(c.failed, 10))
	c.failed++
	select {
	case <-ctx.Done():
		return false
	case <-time.After(wait):
		return true
	}
}

// carry puts messages where they are to go, and lets them be settled. It goes on until all have gone, or the Router
// ends.
func (c *carrier) carry(ctx context.Context, s store, cs []queue.Claim) error {
	oldest, err := s.Peek(ctx, c.lane.Queue, queue.PeekRequest{Max: 1, NoBody: true})
	if err != nil {
		return err
	}
	mark := cs[0].Sequence
	if len(oldest) > 0 { // one that sleeps may be older than what can be claimed
		mark = min(mark, oldest[0].Sequence)
	}
	msgs := make([]message.Message, len(cs))
	for i := range cs {
		m := &cs[i].Message
		if c.wraps {
			if err := unwrap(m); err != nil {
				return err
			}
		}
		m.Origin = message.Origin{Source: c.source, Offset: cs[i].Sequence, Mark: mark}
		msgs[i] = *m
	}
	if err := c.deliver(ctx, msgs); err != nil {
		return err
	}
	c.failed = 0
	ss := make([]queue.Settlement, len(cs))
	for i := range cs {
		ss[i] = queue.Settlement{Token: cs[i].Token, Kind: queue.Done}
	}
	c.settling.Wait()
	c.settling.Go(func() { c.settle(ctx, s, ss) })
	return nil
}

// settle settles what has arrived. It tries until it succeeds or the Router ends: then the same goes once more after
// the next start, and its destination knows it.
func (c *carrier) settle(ctx context.Context, s store, ss []queue.Settlement) {
	for {
		_, err := s.Settle(ctx, ss)
		if err == nil {
			c.relay.carried.Add(uint64(len(ss)))
			return
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(longestPause):
		}
	}
}

// deliver puts messages into their destination. What is refused is tried in halves, so that one message that is not
// taken holds up itself alone.
func (c *carrier) deliver(ctx context.Context, msgs []message.Message) error {
	for {
		err := c.put(ctx, msgs)
		switch {
		case err == nil:
			return nil
		case len(msgs) > 1 && (lasting(err) || errors.Is(err, queue.ErrQueueFull)):
			half := len(msgs) / 2
			if err := c.deliver(ctx, msgs[:half]); err != nil {
				return err
			}
			msgs = msgs[half:]
			continue
		case lasting(err):
			err = c.bury(ctx, &msgs[0], err)
		}
		if err == nil {
			return nil
		}
		if !c.pause(ctx, err) {
			return err
		}
	}
}

// lasting tells whether the same put would fail again.
func lasting(err error) bool {
	for _, why := range []error{queue.ErrNotFound, queue.ErrMismatch, queue.ErrTooLarge, queue.ErrDefinition,
		queue.ErrUnheard, queue.ErrBadName} {
		if errors.Is(err, why) {
			return true
		}
	}
	return false
}

// put puts messages where the lane leads. Dead letters that no subscription takes go to the queue of the topic's name,
// and one that is not there is made for them: nobody else would keep them.
func (c *carrier) put(ctx context.Context, msgs []message.Message) error {
	r := c.relay.router
	if c.as == queue.AQueue {
		_, err := r.Put(ctx, c.to, msgs)
		return err
	}
	results, err := r.PublishEach(ctx, c.to, msgs)
	if err != nil && len(msgs) == 1 && msgs[0].Death != nil &&
		(errors.Is(err, queue.ErrNotFound) || errors.Is(err, queue.ErrUnheard)) {
		return c.keep(ctx, c.to, msgs)
	}
	if err != nil {
		return err
	}
	var unheard []message.Message
	for i := range results {
		if results[i].Unheard && msgs[i].Death != nil {
			unheard = append(unheard, msgs[i])
		}
	}
	if len(unheard) > 0 {
		return c.keep(ctx, c.to, unheard)
	}
	return nil
}

// keep puts dead letters into a queue, which is made if it is not there.
func (c *carrier) keep(ctx context.Context, n queue.Name, msgs []message.Message) error {
	r := c.relay.router
	_, err := r.Configured().CreateQueue(ctx, n, queue.Definition{})
	if err != nil && !errors.Is(err, queue.ErrExists) {
		return err
	}
	_, err = r.Put(ctx, n, msgs)
	return err
}

// bury makes a message a dead letter that its destination does not take. Nobody else would know of it.
func (c *carrier) bury(ctx context.Context, m *message.Message, why error) error {
	letter := *m
	if letter.Death == nil {
		letter.Death = &message.Death{Queue: c.to.String(), Reason: why.Error(), Time: time.Now()}
	}
	return c.keep(ctx, graveOf(c.to), []message.Message{letter})
}
