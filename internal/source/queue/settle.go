package queue

import (
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/hikyaku/hikyaku/internal/component"
	"github.com/hikyaku/hikyaku/internal/journal"
	"github.com/hikyaku/hikyaku/internal/queue"
)

const (
	maxSettles = 1000
	// pendingSettles: as many as there are claims under way may wait, which the pipeline bounds.
	pendingSettles = math.MaxInt32
	// backDelay is how long a message sleeps that the pipeline gave back while it runs, where it does not say.
	backDelay = time.Second
	// settleTries is how often a commit is tried that found no room.
	settleTries = 5
)

// end ends a claim as the pipeline says.
func (s *Source) end(t queue.Token, o component.Outcome) {
	if o.Receipt != nil {
		s.keepReceipts(t, o.Receipt)
	}
	if o.Verdict == component.Delivered {
		s.post(queue.Settlement{Token: t, Kind: queue.Done})
		return
	}
	s.mu.Lock()
	stopping := s.running.Err() != nil
	s.mu.Unlock()
	if stopping {
		s.post(queue.Settlement{Token: t, Kind: queue.Back, Uncounted: true})
		return
	}
	delay := o.After
	if delay <= 0 {
		delay = backDelay
	}
	s.post(queue.Settlement{Token: t, Kind: queue.Back, Delay: delay, Uncounted: o.Held})
}

// giveBack ends claims that were never sent.
func (s *Source) giveBack(claims []queue.Claim) {
	for i := range claims {
		s.post(queue.Settlement{Token: claims[i].Token, Kind: queue.Back, Uncounted: true})
	}
}

// post hands a settlement to the next commit.
func (s *Source) post(st queue.Settlement) {
	if err := s.settles.Post(st); err != nil {
		component.EndReceipts(s.takeReceipts([]queue.Settlement{st}), err)
		s.mu.Lock()
		defer s.mu.Unlock()
		delete(s.held, st.Token) // the source is closed: the claim ends with its owner
		s.fail(err)
	}
}

// settle commits settlements together.
func (s *Source) settle(ctx context.Context, sts []queue.Settlement) []error {
	err := s.commit(ctx, sts)
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, st := range sts {
		delete(s.held, st.Token)
	}
	if err != nil && !errors.Is(err, journal.ErrReopen) { // else the queue comes back, and so do the messages
		s.fail(err)
	}
	if s.finishing && len(s.held) == 0 || s.failed != nil {
		s.stir()
	}
	return nil
}

// commit keeps settlements. A claim that is over already is no error: its message was, or will be, handed out again.
func (s *Source) commit(ctx context.Context, sts []queue.Settlement) error {
	rs := s.takeReceipts(sts)
	if len(rs) > 0 {
		if over, err := s.commitWith(ctx, sts, rs); over {
			return err
		}
	}
	var err error
	for try := range settleTries {
		if _, err = s.store.Settle(ctx, sts); !errors.Is(err, queue.ErrNoRoom) {
			break
		}
		if try < settleTries-1 && pause(ctx) != nil {
			break
		}
	}
	if err != nil {
		component.EndReceipts(rs, err)
		return s.unsettled(len(sts), err)
	}
	component.PutReceipts(ctx, s.store, rs)
	return nil
}

// unsettled is the error where settlements could not be kept.
func (s *Source) unsettled(n int, err error) error {
	return fmt.Errorf("%d settled messages of %s could not be taken out of the queue, and will be handed out again: %w",
		n, s.wants[0].name.Short(), err)
}

// fail notes the first failure, which ends Run. The lock is held.
func (s *Source) fail(err error) {
	if s.failed == nil {
		s.failed = err
	}
}
