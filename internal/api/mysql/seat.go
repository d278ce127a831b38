package mysql

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/hikyaku/hikyaku/internal/condition"
	"github.com/hikyaku/hikyaku/internal/message"
	"github.com/hikyaku/hikyaku/internal/queue"
)

// seat is what a connection has of the queues: owner mode, and the row that it owns. It knows no SQL. Its connection
// does one thing at a time, but go-mysql-server may read a table and compute a statement's columns in two goroutines,
// so a row that is being ended may be looked at.
//
// Owner mode begins with a wait and lasts until the row is ended or given back, also when the wait brought no row. It
// covers all databases: whoever owns a row sees that row and no other.
type seat struct {
	store queue.Service
	owner queue.Owner   // its claims end with the connection
	lease time.Duration // of rows taken from now on; 0: as long as the connection lives

	mu   sync.Mutex // not held while anything is waited for
	mode bool
	held *held // nil in owner mode: nothing came, or the row was deleted

	waited bool // the last wait did not find its row at once
}

// now is what the seat has at the moment. The held must not be changed.
func (s *seat) now() (mode bool, h *held) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.mode, s.held
}

func (s *seat) set(mode bool, h *held) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.mode, s.held = mode, h
}

// renamed follows a queue that got another name.
func (s *seat) renamed(from, to queue.Name) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.held != nil && s.held.queue == from {
		s.held = &held{queue: to, claim: s.held.claim}
	}
}

// held is the row that a seat owns.
type held struct {
	queue queue.Name // its full name
	claim queue.Claim
}

// wish is one table of a wait, with a condition or without.
type wish struct {
	queue queue.Name
	where *condition.Expr
}

// errNotOwner: what needs owner mode was asked for outside of it.
var errNotOwner = errors.New("the connection is not in owner mode: queue_wait() comes first")

// wait ends the row owned before, and takes a row that one of the wishes wants, the first of them that has one; it
// waits for one up to timeout. It returns the wish's place, from 1, or 0 when nothing came. patient is called before it
// really waits; it returns the context to wait in and what to call when the waiting is over. still is asked when a row
// has come after a wait; with an error of its own the row goes back.
func (s *seat) wait(ctx context.Context, wishes []wish, timeout time.Duration,
	patient func(context.Context) (context.Context, func()), still func() error) (place int, lost bool, err error) {
	if lost, err = s.end(ctx); err != nil {
		return 0, lost, err
	}
	from := make([]queue.From, len(wishes))
	for i, w := range wishes {
		from[i] = queue.From{Queue: w.queue, Where: w.where}
	}
	r := queue.ClaimRequest{From: from, Owner: s.owner, Lease: s.lease}
	claims, err := s.store.Claim(ctx, r)
	s.waited = false
	if err == nil && len(claims) == 0 && timeout > 0 {
		s.waited = true
		waiting, over := patient(ctx)
		r.Wait, r.Hold = timeout, func(context.Context, int64, int64) error { return still() }
		claims, err = s.store.Claim(waiting, r)
		over()
	}
	if err != nil {
		return 0, lost, err
	}
	if len(claims) == 0 {
		s.set(true, nil)
		return 0, lost, nil
	}
	c := claims[0]
	c.Message = message.Message{} // it is read when somebody asks for it: a connection may own its row for days
	s.set(true, &held{queue: c.Queue, claim: c})
	return c.From + 1, lost, nil
}

// end settles the row that is owned, durably, and leaves owner mode. lost tells that the row was no longer ours: its
// lease had ended, or its table was emptied or is gone.
func (s *seat) end(ctx context.Context) (lost bool, err error) {
	return s.settle(ctx, queue.Done, false)
}

// abort gives the row back, to its old place, and leaves owner mode. Outside of it the error is errNotOwner.
func (s *seat) abort(ctx context.Context) (lost bool, err error) {
	if mode, _ := s.now(); !mode {
		return false, errNotOwner
	}
	return s.settle(ctx, queue.Back, false)
}

// remove deletes the row that is owned and stays in owner mode.
func (s *seat) remove(ctx context.Context) (lost bool, err error) {
	return s.settle(ctx, queue.Done, true)
}

// settle ends the claim, if there is one. After an error the seat is as before.
func (s *seat) settle(ctx context.Context, how queue.SettleKind, mode bool) (lost bool, err error) {
	if _, h := s.now(); h != nil {
		errs, err := s.store.Settle(ctx, []queue.Settlement{{Token: h.claim.Token, Kind: how}})
		if err == nil {
			err = errs[0]
		}
		if lost = errors.Is(err, queue.ErrStale) || errors.Is(err, queue.ErrNotFound); err != nil && !lost {
			return false, err
		}
	}
	s.set(mode, nil)
	return lost, nil
}

// rowid is the sequence of the row that is owned; ok is false when there is none. Outside of owner mode the error is
// errNotOwner.
func (s *seat) rowid() (seq uint64, ok bool, err error) {
	switch mode, h := s.now(); {
	case !mode:
		return 0, false, errNotOwner
	case h == nil:
		return 0, false, nil
	default:
		return h.claim.Sequence, true, nil
	}
}

// close gives back what is owned: the connection is over.
func (s *seat) close() {
	s.owner.Close()
	s.set(false, nil)
}
