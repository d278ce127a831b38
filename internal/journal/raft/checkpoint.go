package raft

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
)

// save saves a checkpoint as of an index that is durable, and sends it to the other nodes.
func (r *Replica) save(ctx context.Context, at uint64, write func(io.Writer) error) error {
	if err := r.keep(ctx, at, write); err != nil {
		return err
	}
	r.shipAll(at)
	return nil
}

// keep saves a checkpoint in the local journal. One that is older than the newest, as of an owner that has lost the log
// meanwhile, it does not: what lies behind that may be gone.
func (r *Replica) keep(ctx context.Context, at uint64, write func(io.Writer) error) error {
	r.saving.Lock()
	defer r.saving.Unlock()
	l := r.log
	l.mu.Lock()
	owner := at
	at = max(at, l.compacted) // the log begins there
	if at < l.newest.index {
		l.mu.Unlock()
		return nil
	}
	term, err := l.termLocked(at)
	i, _ := slices.BinarySearchFunc(l.places, at+1, func(p place, x uint64) int { return p.before(x, 0) })
	c := l.confAt(at)
	h := header{at: at, term: term, owner: owner, conf: c.state, book: c.book, state: l.state, older: l.newest,
		places: slices.Clone(l.places[:i])}
	local, position := l.local, l.beforeLocked(at)
	l.mu.Unlock()
	if err != nil {
		return fmt.Errorf("checkpoint at %d: %w", at, err)
	}
	err = local.SaveCheckpoint(ctx, position, func(w io.Writer) error {
		if _, err := w.Write(h.encode()); err != nil {
			return err
		}
		return write(w)
	})
	if err != nil {
		return err
	}
	l.saved(point{at, term, position})
	if err := r.reclaim(ctx); err != nil { // the checkpoint is saved all the same
		r.o.Report(fmt.Errorf("space that the checkpoint at %d does not need: %w", at, err))
	}
	return nil
}

// reclaim releases what the newest checkpoint does not need, where no owner says so, and forgets its places.
func (r *Replica) reclaim(ctx context.Context) error {
	if r.o.Live == nil {
		return nil
	}
	r.mu.Lock()
	owns := r.owner != nil && r.owner.lost == nil
	r.mu.Unlock()
	if owns && r.log.size() < 2*r.swept+placesFew {
		return nil // what is not needed was released already, and the table is small
	}
	_, checkpoint, _, err := r.log.journal().LoadCheckpoint(ctx)
	if err != nil {
		return err
	}
	defer checkpoint.Close() // it was only read
	h, err := readHeader(checkpoint)
	if err != nil || h.none {
		return err
	}
	live, err := r.o.Live(ctx, checkpoint, r.log)
	if err != nil {
		return err
	}
	r.log.sweep(live, h.at)
	r.swept = r.log.size()
	return nil
}

// placesFew are too few to look which are needed.
const placesFew = 1 << 16

// await waits until what this node has is on most nodes up to an index.
func (r *Replica) await(ctx context.Context, index uint64) error {
	defer context.AfterFunc(ctx, r.tell)()
	r.mu.Lock()
	defer r.mu.Unlock()
	for r.applied < index && r.failure == nil && ctx.Err() == nil {
		r.news.Wait()
	}
	return errors.Join(r.failure, ctx.Err())
}
