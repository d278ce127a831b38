package file

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"sync/atomic"

	"github.com/hikyaku/hikyaku/internal/journal"
)

// news wakes those who follow the log. It costs who tells it next to nothing while nobody does.
type news struct{ came atomic.Pointer[chan struct{}] }

// next is closed when something comes. Look at what is there after the call and before waiting.
func (n *news) next() <-chan struct{} {
	for {
		if c := n.came.Load(); c != nil {
			return *c
		}
		c := make(chan struct{})
		n.came.CompareAndSwap(nil, &c)
	}
}

// tell says that something has come.
func (n *news) tell() {
	if c := n.came.Swap(nil); c != nil {
		close(*c)
	}
}

// Follow implements journal.Journal. Each look begins with the group that was seen last.
func (j *Journal) Follow(ctx context.Context, from journal.Position) iter.Seq2[journal.Group, error] {
	return func(yield func(journal.Group, error) bool) {
		if err := j.follow(ctx, from, yield); err != nil {
			yield(journal.Group{}, fmt.Errorf("follow journal %s: %w", j.dir, err))
		}
	}
}

// follow returns nil when yield said stop.
func (j *Journal) follow(ctx context.Context, from journal.Position, yield func(journal.Group, error) bool) error {
	see := func(g journal.Group, err error) bool {
		from = g.Position
		return yield(g, err)
	}
	for {
		news := j.news.next()
		extents, err := j.durableExtents(from)
		for i := 0; err == nil && i < len(extents); i++ {
			var more bool
			if more, err = extents[i].scan(ctx, from, see); err == nil && !more {
				return nil
			}
		}
		if errors.Is(err, errGone) {
			err = fmt.Errorf("%w: what lies behind position %d was reclaimed meanwhile", journal.ErrReleased, from)
		}
		if err = cmp.Or(err, ctx.Err(), j.usable()); err != nil {
			return err
		}
		select {
		case <-news:
		case <-ctx.Done():
		case <-j.ended:
		case <-j.quit:
		}
	}
}

// durableExtents lists the segments with durable groups after from, if none of these can have been reclaimed.
func (j *Journal) durableExtents(from journal.Position) ([]extent, error) {
	j.mu.Lock()
	upto := j.lastWritten
	if j.opts.Durability == journal.Fsync {
		upto = journal.Position(j.durable.Load())
	}
	var list []extent
	j.segMu.RLock()
	for _, s := range j.segs {
		if s.base <= upto && s.totals.last > from && upto > from {
			list = append(list, extent{s, s.end, min(s.end, s.offset(upto)+1)})
		}
	}
	j.segMu.RUnlock()
	j.mu.Unlock()
	// Whatever is missing in the list has been reclaimed by the horizon that is seen here, or by one before.
	if horizon, ok := j.checkpoints.horizon(); ok && from < horizon {
		return nil, fmt.Errorf("%w: position %d is before the older of the two checkpoints, at %d", journal.ErrReleased,
			from, horizon)
	}
	return list, nil
}
