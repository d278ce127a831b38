package shard

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/hikyaku/hikyaku/internal/message"
	"github.com/hikyaku/hikyaku/internal/queue"
)

// carrier carries what is in one lane, until nothing has come for a while.
type carrier struct {
	relay  *relay
	shard  int
	lane   *queue.Lane
	to     queue.Name
	as     queue.Meaning
	wraps  bool   // its messages are wrapped
	source string // the lane as an origin
	asked  bool   // somebody has something for the lane; the relay's lock is held
	failed int    // times that the same did not succeed
	told   time.Time

	settling sync.WaitGroup // of what was delivered last: meanwhile the next messages leave
	on       []queue.Name   // where what is carried now has been put, a name for each put
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
			Bytes: carryBytes, Wait: c.relay.idle, Owner: owner})
		if err == nil && len(cs) == 0 && c.relay.rest(c) {
			return // whoever puts something into the lane asks for another one
		}
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
			c.source = sourceOf(&st.Definition)
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
	err = c.deliver(ctx, msgs)
	on := c.on
	c.on = nil
	if err != nil {
		return err // the next start asks what has arrived
	}
	c.failed = 0
	ss := make([]queue.Settlement, len(cs))
	for i := range cs {
		ss[i] = queue.Settlement{Token: cs[i].Token, Kind: queue.Done}
	}
	c.settling.Wait()
	c.settling.Go(func() {
		if c.settle(ctx, s, ss) {
			c.relay.on.leave(on...)
		}
	})
	return nil
}

// settle settles what has arrived. It tries until it succeeds or the Router ends: then the same goes once more after
// the next start, and its destination knows it.
func (c *carrier) settle(ctx context.Context, s store, ss []queue.Settlement) (settled bool) {
	for {
		_, err := s.Settle(ctx, ss)
		if err == nil {
			c.relay.carried.Add(uint64(len(ss)))
			return true
		}
		select {
		case <-ctx.Done():
			return false
		case <-time.After(longestPause):
		}
	}
}

// deliver puts messages into their destination. What is refused is tried in halves, so that one message that is not
// taken holds up itself alone.
func (c *carrier) deliver(ctx context.Context, msgs []message.Message) error {
	for {
		err := c.onto(ctx, c.to, func(ctx context.Context) error { return c.put(ctx, msgs) })
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

// onto puts something where do does it, and notes that it is there until it is settled in the lane. Meanwhile what it
// was put into is not deleted.
func (c *carrier) onto(ctx context.Context, n queue.Name, do func(context.Context) error) error {
	n = c.relay.router.Resolve(n)
	if err := c.relay.on.enter(ctx, n); err != nil {
		return err
	}
	// What is put is waited for, so that whoever asks next what has arrived hears of it.
	if err := do(context.WithoutCancel(ctx)); err != nil {
		c.relay.on.leave(n)
		return err
	}
	c.on = append(c.on, n)
	return nil
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
	grave := graveOf(c.to)
	return c.onto(ctx, grave, func(ctx context.Context) error {
		return c.keep(ctx, grave, []message.Message{letter})
	})
}
