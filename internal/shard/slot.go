package shard

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/hikyaku/hikyaku/internal/journal"
	"github.com/hikyaku/hikyaku/internal/queue"
)

// slot is where a shard's store is: one after the other, when its journal is opened again after a failure. In between
// it answers with why there is none.
type slot struct {
	shard  int
	now    atomic.Pointer[tenure]
	ending atomic.Bool // the Router closes
}

// tenure is a store in its slot.
type tenure struct {
	store    store
	away     error // why it does not serve; nil: it does
	prepared bool  // it is open, and the Router puts in order what concerns it
}

func newSlot(shard int, s store) *slot {
	l := &slot{shard: shard}
	l.now.Store(&tenure{store: s})
	return l
}

// leave lets nobody ask the store any more, whose journal has failed.
func (l *slot) leave(why error) {
	l.now.Store(&tenure{store: l.now.Load().store, away: fmt.Errorf("%w: shard %d: %w", queue.ErrUnavailable, l.shard,
		why)})
}

// prepare has those who are within ask a store, and nobody else yet.
func (l *slot) prepare(s store) {
	l.now.Store(&tenure{store: s, away: l.now.Load().away, prepared: true})
}

// serve lets everybody ask the store that was prepared.
func (l *slot) serve() { l.now.Store(&tenure{store: l.now.Load().store}) }

// serves tells whether a store serves here that came after the one of a tenure.
func (l *slot) serves(after *tenure) error {
	if t := l.now.Load(); t.away != nil {
		return t.away
	} else if t.store == after.store {
		return fmt.Errorf("%w: shard %d is to be opened again", queue.ErrUnavailable, l.shard)
	}
	return nil
}

// within is the context of who puts in order what concerns a store that does not serve yet.
func within(ctx context.Context) context.Context { return context.WithValue(ctx, withinKey{}, true) }

type withinKey struct{}

// in is the store, for one call.
func (l *slot) in(ctx context.Context) (store, error) {
	t := l.now.Load()
	if t.away == nil || t.prepared && ctx.Value(withinKey{}) != nil {
		return t.store, nil
	}
	return nil, t.away
}

// told is what a call of a store is answered with: one that was closed, since its journal is opened again, comes back.
func (l *slot) told(s store, err error) error {
	if err == nil || !errors.Is(err, queue.ErrClosed) || l.ending.Load() {
		return err
	}
	if t := l.now.Load(); t.away != nil {
		return t.away
	} else if t.store != s {
		return fmt.Errorf("%w: shard %d was opened again meanwhile (%w)", queue.ErrUnavailable, l.shard,
			journal.ErrReopen)
	}
	return err
}

// Resolve implements queue.Shard. All stores do it alike, open or not.
func (l *slot) Resolve(n queue.Name) queue.Name { return l.now.Load().store.Resolve(n) }

// Checkpoint saves the state of the store that has it now.
func (l *slot) Checkpoint(ctx context.Context) error {
	s, err := l.in(ctx)
	if err != nil {
		return err
	}
	return l.told(s, s.Checkpoint(ctx))
}

// JournalStats are those of the last store there was.
func (l *slot) JournalStats() journal.Stats { return l.now.Load().store.JournalStats() }

// Close closes the store, for good.
func (l *slot) Close() error {
	l.ending.Store(true)
	return l.now.Load().store.Close()
}

// Claim implements queue.Shard.
func (l *slot) Claim(ctx context.Context, r queue.ClaimRequest) ([]queue.Claim, error) {
	s, err := l.in(ctx)
	if err != nil {
		return nil, err
	}
	if o, ours := r.Owner.(*tenant); ours && o.slot == l {
		if r.Owner, err = o.of(s); err != nil {
			return nil, err
		}
	}
	cs, err := s.Claim(ctx, r)
	return cs, l.told(s, err)
}

// NewOwner implements queue.Shard.
func (l *slot) NewOwner(name string) queue.Owner { return &tenant{slot: l, name: name} }

// tenant is an owner of claims in a slot. What it held of a store that is gone went back when its log was read again.
type tenant struct {
	slot *slot
	name string

	mu     sync.Mutex
	closed bool
	in     store       // whose owner it has
	owner  queue.Owner // nil: none yet
}

// of is the owner of a store.
func (o *tenant) of(s store) (queue.Owner, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.closed {
		return nil, fmt.Errorf("claim: %w: its owner is closed", queue.ErrStale)
	}
	if o.in != s {
		o.in, o.owner = s, s.NewOwner(o.name)
	}
	return o.owner, nil
}

// Close implements queue.Owner.
func (o *tenant) Close() {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.closed = true; o.owner != nil {
		o.owner.Close()
	}
}

// Configured implements queue.Shard.
func (l *slot) Configured() queue.Definer {
	return slotDefiner{l, func(s store) queue.Definer { return s.Configured() }}
}

// Noted implements queue.Shard.
func (l *slot) Noted(notes ...queue.Note) queue.Noted {
	return slotNoted{slotDefiner{l, func(s store) queue.Definer { return s.Noted(notes...) }}, notes}
}

// slotDefiner makes definitions in the store that a slot has at each call.
type slotDefiner struct {
	slot *slot
	by   func(store) queue.Definer
}

type slotNoted struct {
	slotDefiner
	notes []queue.Note
}

// If implements queue.Noted.
func (d slotNoted) If(is ...queue.NoteIs) queue.Definer {
	return slotDefiner{d.slot, func(s store) queue.Definer { return s.Noted(d.notes...).If(is...) }}
}

func (d slotDefiner) CreateQueue(ctx context.Context, n queue.Name, def queue.Definition) (bool, error) {
	s, err := d.slot.in(ctx)
	if err != nil {
		return false, err
	}
	created, err := d.by(s).CreateQueue(ctx, n, def)
	return created, d.slot.told(s, err)
}

func (d slotDefiner) AlterQueue(ctx context.Context, n queue.Name, def queue.Definition) error {
	s, err := d.slot.in(ctx)
	if err != nil {
		return err
	}
	return d.slot.told(s, d.by(s).AlterQueue(ctx, n, def))
}

func (d slotDefiner) CreateTopic(ctx context.Context, n queue.Name, labels map[string]string) (bool, error) {
	s, err := d.slot.in(ctx)
	if err != nil {
		return false, err
	}
	created, err := d.by(s).CreateTopic(ctx, n, labels)
	return created, d.slot.told(s, err)
}
