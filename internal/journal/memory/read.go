package memory

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"iter"

	"github.com/hikyaku/hikyaku/internal/journal"
)

// Read implements journal.Journal.
func (j *Journal) Read(ctx context.Context, addrs []journal.Address, each func(int, journal.Record, error)) error {
	j.disk.mu.Lock()
	before, closed := j.faults.reading, j.closed
	j.faults.reading = nil
	j.disk.mu.Unlock()
	if closed {
		return journal.ErrClosed
	}
	if before != nil {
		before()
	}
	for i, a := range addrs {
		if err := ctx.Err(); err != nil {
			return err
		}
		j.disk.mu.Lock()
		j.faults.reads++
		r, err := j.disk.read(a)
		j.disk.mu.Unlock()
		each(i, r, err)
	}
	return nil
}

// Scan implements journal.Journal.
func (j *Journal) Scan(ctx context.Context, from journal.Position) iter.Seq2[journal.Group, error] {
	j.disk.mu.Lock()
	last, err := j.disk.end, error(nil)
	if j.closed {
		err = journal.ErrClosed
	}
	j.disk.mu.Unlock()
	return func(yield func(journal.Group, error) bool) {
		for err == nil {
			if err = ctx.Err(); err != nil {
				break
			}
			g := j.next(from, last)
			if g.Records == nil || !yield(g, nil) {
				return
			}
			for _, r := range g.Records { // they are valid only until now
				clear(r.Head)
			}
			from = g.Position
		}
		yield(journal.Group{}, err)
	}
}

// Follow implements journal.Journal.
func (j *Journal) Follow(ctx context.Context, from journal.Position) iter.Seq2[journal.Group, error] {
	return func(yield func(journal.Group, error) bool) {
		for {
			g, news, err := j.followed(from)
			switch {
			case err != nil:
				yield(journal.Group{}, err)
				return
			case g.Records != nil && ctx.Err() == nil:
				if from = g.Position; !yield(g, nil) {
					return
				}
				for _, r := range g.Records {
					clear(r.Head)
				}
				continue
			}
			select {
			case <-news:
			case <-ctx.Done():
				yield(journal.Group{}, ctx.Err())
				return
			}
		}
	}
}

// followed returns the next durable group behind from; when there is none, what to wait for, or why none will come.
func (j *Journal) followed(from journal.Position) (g journal.Group, news chan struct{}, err error) {
	j.disk.mu.Lock()
	defer j.disk.mu.Unlock()
	if j.closed {
		return g, nil, journal.ErrClosed
	}
	if saved := j.disk.saved; len(saved) == 2 && from < saved[0].at {
		return g, nil, fmt.Errorf("%w: position %d is before the older of the two checkpoints, at %d",
			journal.ErrReleased, from, saved[0].at)
	}
	if g = j.behind(from, j.disk.synced); g.Records == nil && !errors.Is(j.usable(), journal.ErrRefused) {
		err = j.usable()
	}
	return g, j.disk.news, err
}

// next returns the first group behind from that is not behind last, without bodies; none: one without records.
func (j *Journal) next(from, last journal.Position) journal.Group {
	j.disk.mu.Lock()
	defer j.disk.mu.Unlock()
	return j.behind(from, last)
}

// behind is next with the lock held.
func (j *Journal) behind(from, last journal.Position) journal.Group {
	i, there := j.disk.search(from)
	if there {
		i++
	}
	if i == len(j.disk.groups) || j.disk.groups[i].position > last {
		return journal.Group{}
	}
	g := &j.disk.groups[i]
	out := journal.Group{Position: g.position, Records: make([]journal.Record, len(g.records))}
	for i := range g.records {
		out.Records[i] = g.records[i].Record
		out.Records[i].Head, out.Records[i].Body = bytes.Clone(out.Records[i].Head), nil
	}
	return out
}
