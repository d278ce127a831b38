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
	if index >= l.older || l.older == 1 { // that is where a log begins
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
