package queue

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/hikyaku/hikyaku/internal/component"
	"github.com/hikyaku/hikyaku/internal/journal"
	"github.com/hikyaku/hikyaku/internal/message"
	"github.com/hikyaku/hikyaku/internal/queue"
)

const (
	// patience is how long one claim waits for a message. Nothing depends on it: a message that comes ends the wait.
	patience = time.Minute
	// finishPatience bounds the wait when Run may end: what others hold or delay of the queues is looked at so often.
	finishPatience = 50 * time.Millisecond
	// mostHeld bounds the claims that are under way or not durably settled: a disk that stands still takes no
	// settlements, and the far end goes on. It is ten times what a pipeline has under way unless it is told otherwise.
	mostHeld = 500_000
)

// Run claims messages and sends them until ctx ends, or until what Finish says.
func (s *Source) Run(ctx context.Context, out component.Out) error {
	run, cancel := context.WithCancel(ctx)
	s.mu.Lock()
	s.running = run
	s.mu.Unlock()
	s.startKeeper(context.WithoutCancel(ctx))
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		s.awaitFinish(run)
	}()
	defer func() {
		cancel() // from now on what comes back was not meant to be handed out
		<-ended
	}()

	for {
		claims, err := s.claim(run)
		if err != nil {
			s.giveBack(claims)
			return err
		}
		if len(claims) == 0 && s.over(ctx) {
			return nil
		}
		for i := range claims {
			if err := s.send(run, &claims[i], out); err != nil {
				s.giveBack(claims[i:])
				return err
			}
		}
	}
}

// claim waits for messages. None without an error: the wait was ended, or nothing came.
func (s *Source) claim(ctx context.Context) ([]queue.Claim, error) {
	wait, cancel := context.WithCancel(ctx)
	defer cancel()
	r := queue.ClaimRequest{Max: s.max, Wait: patience, Lease: s.lease, Owner: s.owner}
	s.mu.Lock()
	if s.failed != nil {
		defer s.mu.Unlock()
		return nil, s.failed
	}
	if len(s.held) >= s.mostHeld {
		s.mu.Unlock()
		return nil, pause(ctx)
	}
	s.interrupt = cancel
	if s.finishing {
		r.Wait = finishPatience
	}
	s.mu.Unlock()
	r.From = s.wanted(ctx) // a change that comes later finds the wait, and ends it
	claims, err := s.store.Claim(wait, r)
	s.mu.Lock()
	s.interrupt = nil
	for i := range claims {
		s.held[claims[i].Token] = claims[i].Deadline
	}
	s.mu.Unlock()
	switch {
	case err == nil:
		return claims, nil
	case ctx.Err() != nil:
		return claims, ctx.Err()
	case wait.Err() != nil && errors.Is(err, wait.Err()):
		return claims, nil // something is to be looked at
	case errors.Is(err, queue.ErrNoRoom), errors.Is(err, queue.ErrTooManyWaiters), errors.Is(err, journal.ErrReopen):
		return claims, pause(ctx)
	}
	return claims, fmt.Errorf("claim from %s: %w", s.wants[0].name.Short(), err)
}

// pause keeps a claim that fails for a while from being tried without a rest.
func pause(ctx context.Context) error {
	t := time.NewTimer(time.Second)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// send sends one claimed message.
func (s *Source) send(ctx context.Context, c *queue.Claim, out component.Out) error {
	m := c.Message
	if m.Row != nil {
		m.Body, m.Row = c.Body(), nil
	}
	if m.Hops[message.Claimed] == 0 {
		m.Hops.Mark(message.Claimed, time.Now())
	}
	token := c.Token
	return out.Send(ctx, component.Delivery{
		Message:  &m,
		Attempt:  c.Attempt,
		Queue:    c.Queue.String(),
		Receipts: true,
		Settle:   func(o component.Outcome) { s.end(token, o) },
	})
}

// over tells whether Run may end: nothing feeds the queues, nothing in them matches, and every settlement is kept.
func (s *Source) over(ctx context.Context) bool {
	s.mu.Lock()
	finishing, under := s.finishing, len(s.held)
	s.mu.Unlock()
	if !finishing || under > 0 {
		return false
	}
	for _, f := range s.wanted(ctx) {
		if idle, err := s.store.Idle(ctx, f.Queue, f.Where); err != nil || !idle {
			return false
		}
	}
	return true
}

// awaitFinish notes when nothing feeds the queues any more.
func (s *Source) awaitFinish(ctx context.Context) {
	var feeding <-chan struct{}
	select {
	case feeding = <-s.feeding:
	case <-ctx.Done():
		return
	}
	select {
	case <-feeding:
	case <-ctx.Done():
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.finishing = true
	s.stir()
}

// stir ends a wait for messages, so that Run looks around. The lock is held.
func (s *Source) stir() {
	if s.interrupt != nil {
		s.interrupt()
	}
}
