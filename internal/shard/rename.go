package shard

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/hikyaku/hikyaku/internal/queue"
)

// renamesRoom has a note in the shard of a queue that was renamed, until the other shards know its name.
const renamesRoom = "hikyaku/renames pending"

// RenameQueue implements queue.Service. The queue stays in its shard. Queues in other shards whose dead letters go to
// it follow before it returns, or, after an error, before the next rename.
func (r *Router) RenameQueue(ctx context.Context, from, to queue.Name) error {
	from, to = r.Resolve(from), r.Resolve(to)
	if reserved(to) {
		return errReserved(to)
	}
	if err := to.Check(); err != nil {
		return err
	}
	unlock, err := lock(ctx, r.naming, from, to)
	if err != nil {
		return err
	}
	defer unlock()
	if err := r.owed.pay(ctx); err != nil {
		return err
	}
	shard, s, err := r.of(from)
	if err != nil {
		return err
	}
	if there, err := s.Has(ctx, from); err != nil || !there {
		return cmp.Or(err, fmt.Errorf("%w: %s", queue.ErrNotFound, from.Short()))
	}
	if from == to {
		return nil
	}
	back, err := r.makeWay(ctx, to, shard)
	if err != nil {
		return err
	}
	note := queue.Note{Room: renamesRoom, Key: from.String() + "\x00" + to.String(), Value: []byte{}}
	ctx = context.WithoutCancel(ctx) // else nobody would know whether there is something to tell
	before := r.slots[shard].now.Load()
	if err := s.RenameNoted(ctx, from, to, note); err != nil {
		if r.unknown(shard, before, err); !errors.Is(err, queue.ErrUnavailable) {
			back()
		} // else both names are looked for in its shard until that says which it has
		return err
	}
	r.leave(ctx, from)
	return r.owed.do(func() error { return r.tellRenamed(ctx, shard, note, from, to) })
}

// makeWay lets everybody look for a queue by its new name in its shard, if nothing has that name; back takes that back.
func (r *Router) makeWay(ctx context.Context, to queue.Name, shard int) (back func(), err error) {
	if there, err := r.HasTopic(ctx, to); err != nil || there {
		return nil, cmp.Or(err, takenError("topic", to))
	}
	return r.move(ctx, to, shard)
}

// tellRenamed lets the queues of other shards whose dead letters went to a queue send them there by its new name.
func (r *Router) tellRenamed(ctx context.Context, shard int, note queue.Note, from, to queue.Name) error {
	for i, s := range r.stores {
		if i == shard { // it knows
			continue
		}
		if err := s.RenameDeadLetters(ctx, from, to); err != nil {
			return fmt.Errorf("shard %d: queues whose dead letters go to %s: %w", i, from.Short(), err)
		}
	}
	note.Value = nil
	return r.stores[shard].KeepNotes(ctx, note)
}

// tellPending tells what was still to be told when the process ended.
func (r *Router) tellPending(ctx context.Context) error {
	for shard := range r.stores {
		if err := r.tellPendingOf(ctx, shard); err != nil {
			return err
		}
	}
	return nil
}

func (r *Router) tellPendingOf(ctx context.Context, shard int) error {
	notes, err := r.stores[shard].Notes(ctx, renamesRoom)
	if err != nil {
		return err
	}
	for _, note := range notes {
		first, second, _ := strings.Cut(note.Key, "\x00")
		from, err := queue.ParseName(first)
		if err != nil {
			return err
		}
		to, err := queue.ParseName(second)
		if err != nil {
			return err
		}
		if err := r.tellRenamed(ctx, shard, note, from, to); err != nil {
			return err
		}
	}
	return nil
}

// nowCalled is the name by now of the queue that had a name.
func (r *Router) nowCalled(ctx context.Context, n queue.Name) (queue.Name, error) {
	_, s, err := r.of(n)
	if err != nil {
		return n, err
	}
	if there, err := s.Has(ctx, n); err != nil || there {
		return n, err
	}
	for _, s := range r.stores {
		if now, ok, err := s.NowCalled(ctx, n); err != nil || ok {
			return now, err
		}
	}
	return n, nil
}

// takenError says that a name is in use.
func takenError(what string, n queue.Name) error {
	return fmt.Errorf("%w: there is a %s %s already", queue.ErrExists, what, n.Short())
}
