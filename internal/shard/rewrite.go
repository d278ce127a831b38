package shard

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"time"

	"github.com/hikyaku/hikyaku/internal/journal"
	"github.com/hikyaku/hikyaku/internal/queue"
)

// Rewrite makes, of the journal of a single store, those of several shards, or the other way round. Everything goes
// with it, as it is: messages with their numbers, attempts, delays and leases, what was settled and is kept for a seek,
// deduplication ids, snapshots, definitions and notes. What is on its way between shards arrives first: that changes
// the old journals as a start does. Claims last as long as they would have; their tokens are good where the queue keeps
// its number: in shard 0. to are empty. Nobody else has any of the journals.
//
// progress is told how many of so many messages were read, copied or read again. The result is what there was: call
// Compare with the new journals, opened anew.
func Rewrite(ctx context.Context, from, to []journal.Journal, progress func(done, total int64)) (*queue.Inventory,
	error) {
	if len(from) > 1 && len(to) > 1 {
		return nil, fmt.Errorf("%d shards cannot become %d: make one of them first", len(from), len(to))
	}
	if len(from) > 1 {
		if err := arrive(ctx, from); err != nil {
			return nil, err
		}
	}
	folded, err := foldAll(ctx, from)
	if err != nil {
		return nil, err
	}
	steps := newSteps(folded, 3, progress)
	before, err := inventory(ctx, folded, steps.add)
	if err != nil {
		return nil, err
	}
	place, err := placeAll(folded, len(to))
	if err != nil {
		return nil, err
	}
	for i, j := range to {
		into := queue.Rewritten{Journal: j, Copied: steps.add, Notes: placeNotes(i, len(to))}
		if len(to) > 1 {
			into.Numbers = numbersOf(len(to)).most()
		}
		var parts []queue.Part
		for _, f := range folded {
			p := whole(f)
			queues, notes := p.Queue, p.Note
			p.Queue = func(n queue.Name) bool { return queues(n) && place.queue(n) == i }
			p.Topic = func(n queue.Name) bool { return place.topic(n) == i }
			p.Note = func(n queue.Note) bool { return i == notesShard && notes(n) }
			parts = append(parts, p)
		}
		if err := queue.Rewrite(ctx, into, parts...); err != nil {
			return nil, fmt.Errorf("shard %d of %d: %w", i, len(to), err)
		}
	}
	return before, nil
}

// Compare sees that journals have what an Inventory says, every byte of it.
func Compare(ctx context.Context, want *queue.Inventory, of []journal.Journal,
	progress func(done, total int64)) error {
	got, err := Inventory(ctx, of, progress)
	if err != nil {
		return err
	}
	if names := want.Differs(got, 5); len(names) > 0 {
		return fmt.Errorf("what was written is not what there was: %s", strings.Join(names, ", "))
	}
	return nil
}

// Inventory reads all that journals have, which are one store or all shards of one, every body included. They may be
// open for reading only.
func Inventory(ctx context.Context, of []journal.Journal, progress func(done, total int64)) (*queue.Inventory, error) {
	folded, err := foldAll(ctx, of)
	if err != nil {
		return nil, err
	}
	return inventory(ctx, folded, newSteps(folded, 1, progress).add)
}

// steps count messages.
type steps struct {
	done, total int64
	tell        func(done, total int64)
}

func newSteps(folded []*queue.Folded, rounds int64, tell func(done, total int64)) *steps {
	s := &steps{tell: tell}
	for _, f := range folded {
		s.total += rounds * f.Messages()
	}
	return s
}

func (s *steps) add(n int64) {
	s.done += n
	s.tell(s.done, s.total)
}

// foldAll reads journals, and sees that they are one store or all shards of one, in their order.
func foldAll(ctx context.Context, js []journal.Journal) (folded []*queue.Folded, err error) {
	for i, j := range js {
		f, err := queue.Fold(ctx, j)
		if err != nil {
			return nil, err
		}
		of, shard := 1, 0
		if value := f.Note(countRoom, countKey); value != nil {
			if of, shard, err = parsePlace(value); err != nil {
				return nil, err
			}
		}
		if of != len(js) || shard != i {
			return nil, &CountError{i, of, len(js)}
		}
		folded = append(folded, f)
	}
	return folded, nil
}

// whole is all of a journal but for what belongs to its being a shard.
func whole(f *queue.Folded) queue.Part {
	return queue.Part{From: f, Topic: func(queue.Name) bool { return true },
		Queue: func(n queue.Name) bool { return !reserved(n) },
		Note:  func(n queue.Note) bool { return n.Room != countRoom }}
}

func inventory(ctx context.Context, folded []*queue.Folded, read func(int64)) (*queue.Inventory, error) {
	v := queue.NewInventory(folded...)
	for _, f := range folded {
		if err := v.Add(ctx, whole(f), read); err != nil {
			return nil, err
		}
	}
	return v, nil
}

// placeAll says where in so many shards everything goes.
func placeAll(folded []*queue.Folded, shards int) (*places, error) {
	p := newPlaces(shards)
	for _, f := range folded {
		for _, n := range f.Topics() {
			if reserved(n) {
				return nil, errReserved(n)
			}
		}
		for n, topic := range f.Queues() {
			if reserved(n) && len(folded) == 1 {
				return nil, errReserved(n)
			}
			if home := p.topic(topic); topic != (queue.Name{}) && home != p.said(n) {
				p.set(n, home)
			}
		}
	}
	return &p, nil
}

// placeNotes are what a start of several shards expects in each.
func placeNotes(i, n int) (notes []queue.Note) {
	if n == 1 {
		return nil
	}
	notes = append(notes, queue.Note{Room: countRoom, Key: countKey, Value: fmt.Appendf(nil, "%d of %d", i, n)})
	if i == n-1 {
		notes = append(notes, queue.Note{Room: countRoom, Key: wholeKey, Value: []byte("yes")})
	}
	return notes
}

// arrivalPatience is how long nothing may have arrived before it is said that something cannot.
const arrivalPatience = 10 * time.Second

// arrive lets everything arrive that is on its way between shards.
func arrive(ctx context.Context, js []journal.Journal) (err error) {
	var trouble atomic.Pointer[error]
	r, err := Open(ctx, Options{Journals: js, Report: func(err error) { trouble.Store(&err) },
		Store: queue.Options{OnDemand: true, Limits: queue.Limits{Messages: 1 << 50, Bytes: 1 << 60, Queues: 1 << 30}}})
	if err != nil {
		return err
	}
	last, since := int64(-1), time.Now()
	for {
		st, err := r.Relay(ctx)
		if err == nil && st.Waiting == 0 {
			return r.Close()
		}
		if st.Waiting != last {
			last, since = st.Waiting, time.Now()
		}
		if err == nil && time.Since(since) > arrivalPatience {
			err = fmt.Errorf("%d messages on their way between shards cannot arrive: start the server, make room for "+
				"them, and try again", st.Waiting)
			if why := trouble.Load(); why != nil {
				err = fmt.Errorf("%w (%w)", err, *why)
			}
		}
		if err == nil {
			select {
			case <-ctx.Done():
				err = ctx.Err()
			case <-time.After(10 * time.Millisecond):
			}
		}
		if err != nil {
			return errors.Join(err, r.Close())
		}
	}
}
