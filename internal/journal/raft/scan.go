package raft

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"math"
	"slices"

	"github.com/hikyaku/hikyaku/internal/journal"
)

// Read is journal.Journal's.
func (l *log) Read(ctx context.Context, addrs []journal.Address, each func(int, journal.Record, error)) error {
	local := make([]journal.Address, 0, len(addrs))
	which := make([]int, 0, len(addrs))
	for i, a := range addrs {
		at, there := l.find(a)
		if !there {
			each(i, journal.Record{}, journal.ErrReleased)
			continue
		}
		local, which = append(local, at), append(which, i)
	}
	return l.journal().Read(ctx, local, func(i int, rec journal.Record, err error) {
		var damage *journal.DamageError
		if errors.As(err, &damage) {
			d := *damage
			d.Record = addrs[which[i]]
			err = &d
		}
		each(which[i], rec, err)
	})
}

// Scan is journal.Journal's, of all that is here.
func (l *log) Scan(ctx context.Context, from journal.Position) iter.Seq2[journal.Group, error] {
	return l.scan(ctx, uint64(from), math.MaxUint64)
}

// scan walks the groups behind an index, up to last, as journal.Journal's Scan does.
func (l *log) scan(ctx context.Context, from, last uint64) iter.Seq2[journal.Group, error] {
	return func(yield func(journal.Group, error) bool) {
		for g, err := range l.entries(ctx, from, last) {
			if err != nil || g.Records != nil {
				if !yield(g, err) {
					return
				}
			}
		}
	}
}

// scanWhole is scan, but ends when something of what lies behind an index may have been reclaimed in the meantime,
// with journal.ErrReleased: every index has an entry, so a gap tells.
func (l *log) scanWhole(ctx context.Context, from, last uint64) iter.Seq2[journal.Group, error] {
	return func(yield func(journal.Group, error) bool) {
		next := max(from, firstIndex) + 1
		gone := func() error {
			return fmt.Errorf("%w: what lies behind position %d was reclaimed meanwhile", journal.ErrReleased, next-1)
		}
		for g, err := range l.entries(ctx, from, last) {
			if err == nil && uint64(g.Position) != next {
				err = gone()
			}
			next++
			if err != nil || g.Records != nil {
				if !yield(g, err) || err != nil {
					return
				}
			}
		}
		if next <= last {
			yield(journal.Group{}, gone())
		}
	}
}

// firstIndex is where a log begins: nothing was ever there.
const firstIndex = 1

// entries walks the entries behind an index, up to last. Records is nil of one that carries no group.
func (l *log) entries(ctx context.Context, from, last uint64) iter.Seq2[journal.Group, error] {
	return func(yield func(journal.Group, error) bool) {
		for g, err := range l.journal().Scan(ctx, l.before(from)) {
			if err != nil {
				yield(journal.Group{}, err)
				return
			}
			m, err := markOf(g)
			if err != nil {
				yield(journal.Group{}, err)
				return
			}
			if m.what != markEntry || m.index <= from || !l.has(m.index, g.Position) {
				continue
			}
			if m.index > last {
				return
			}
			e := journal.Group{Position: journal.Position(m.index)}
			if m.group {
				e.Records = g.Records[1:]
			}
			if !yield(e, nil) {
				return
			}
		}
	}
}

// reaches tells whether no group behind an index may be gone.
func (l *log) reaches(index uint64) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if index >= l.older || l.older == firstIndex {
		return nil
	}
	return fmt.Errorf("%w: position %d is before the older of the two checkpoints, at %d", journal.ErrReleased, index,
		l.older)
}

// hasAll tells whether all entries behind an index are there.
func (l *log) hasAll(index uint64) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return index >= l.compacted
}

// size is how many places there are.
func (l *log) size() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.places)
}

// first is the local position of the first thing at an index or behind it.
func (l *log) first(index uint64) (journal.Position, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	i, _ := slices.BinarySearchFunc(l.places, index, func(p place, x uint64) int { return cmp.Compare(p.index, x) })
	if i == len(l.places) {
		return 0, false
	}
	return l.places[i].at, true
}

// checkpoint is the index of the newest checkpoint of an owner's; 0: there is none.
func (l *log) checkpoint() uint64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.none {
		return 0
	}
	return l.newest.index
}

// journal is the local journal.
func (l *log) journal() journal.Journal {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.local
}
