package raft

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"slices"

	"github.com/hikyaku/hikyaku/internal/journal"
)

// scan walks the groups behind an index, up to last, as journal.Journal's Scan does.
func (l *log) scan(ctx context.Context, from, last uint64) iter.Seq2[journal.Group, error] {
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
			if !m.group {
				continue
			}
			if !yield(journal.Group{Position: journal.Position(m.index), Records: g.Records[1:]}, nil) {
				return
			}
		}
	}
}

// reaches tells whether no group behind an index may be gone.
func (l *log) reaches(index uint64) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if index >= l.older || l.older == 0 {
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
	return l.newest
}

// journal is the local journal.
func (l *log) journal() journal.Journal {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.local
}
