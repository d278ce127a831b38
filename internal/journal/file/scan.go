package file

import (
	"context"
	"errors"
	"fmt"
	"iter"

	"github.com/hikyaku/hikyaku/internal/journal"
)

// extent is a part of the log to walk.
type extent struct {
	s     *segment
	end   int64
	until int64 // no group that begins here or behind it is walked
}

// Scan implements journal.Journal.
func (j *Journal) Scan(ctx context.Context, from journal.Position) iter.Seq2[journal.Group, error] {
	return func(yield func(journal.Group, error) bool) {
		if err := j.scan(ctx, from, yield); err != nil {
			yield(journal.Group{}, fmt.Errorf("scan journal %s: %w", j.dir, err))
		}
	}
}

// scan returns nil when yield said stop, too.
func (j *Journal) scan(ctx context.Context, from journal.Position, yield func(journal.Group, error) bool) error {
	extents, err := j.extents(from)
	if err != nil {
		return err
	}
	for i, e := range extents {
		if i+1 < len(extents) {
			extents[i+1].s.willNeed(0, windowAhead)
		}
		more, err := e.scan(ctx, from, yield)
		if errors.Is(err, errGone) {
			continue // reclaimed meanwhile: all of it was released
		}
		if err != nil || !more {
			return err
		}
	}
	return nil
}

// extents lists the segments with groups after from, as they are now, all of them in the files, and before them the one
// that ends with the group at from: that group is looked at too, as it is by a walk that goes on behind it.
func (j *Journal) extents(from journal.Position) ([]extent, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.closed.Load() {
		return nil, journal.ErrClosed
	}
	if err := j.write(); err != nil && !errors.Is(err, journal.ErrFull) {
		return nil, err
	}
	j.segMu.RLock()
	defer j.segMu.RUnlock()
	var list []extent
	for _, s := range j.segs {
		if last := s.totals.last; last > from || last == from && from >= s.base && from > 0 {
			list = append(list, extent{s, s.end, s.end})
		}
	}
	return list, nil
}

func (e extent) scan(ctx context.Context, from journal.Position, yield func(journal.Group, error) bool) (more bool,
	err error) {
	w := newWalker(e.s, segmentHeaderBytes, e.end)
	w.skipTo(from)
	if rest := e.until - w.offset + windowFirst; rest < windowBytes { // who follows the log reads little at a time
		w.w.ahead = rest
	}
	var records []journal.Record
	for w.offset < e.until {
		if err := ctx.Err(); err != nil {
			return false, err
		}
		if err := w.next(); err != nil {
			if errors.Is(err, errGroup) {
				return false, e.s.damage(w.offset, err.Error())
			}
			return false, err
		}
		if w.header.kind != kindRecords || w.header.position <= from {
			continue
		}
		records = records[:0]
		for i := range w.entries {
			r := &w.entries[i]
			records = append(records, journal.Record{
				Queue:    r.queue,
				Life:     r.life,
				Sequence: r.sequence,
				Head:     w.meta[r.head:][:r.headLen:r.headLen],
			})
		}
		if !yield(journal.Group{Position: w.header.position, Records: records}, nil) {
			return false, nil
		}
	}
	return true, nil
}

// skipTo jumps to the group at p when there is a sound one. When not, the walk begins where it was: p may be any
// number.
func (k *walker) skipTo(p journal.Position) {
	s := k.w.s
	offset := s.offset(p)
	if p < s.base || offset < segmentHeaderBytes || offset >= k.limit || offset%groupAlign != 0 {
		return
	}
	at := newWalker(s, offset, k.limit)
	at.w.ahead = windowFirst
	if at.next() == nil {
		k.offset = at.offset
	}
}
