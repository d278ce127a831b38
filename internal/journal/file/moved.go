package file

import (
	"cmp"
	"slices"

	"github.com/hikyaku/hikyaku/internal/journal"
)

// movedTable is what remains in memory of a log segment that was cleaned away: where its survivors are now. Rows are
// not changed once the table is in the journal's list; a table with others takes its place.
type movedTable struct {
	base journal.Position
	rows []movedRow // by slot
	live liveness   // of rows by their index; guarded by Journal.liveMu
}

// find returns the index of a slot's row. near is where it may be: who asks in rising order gives the one after the
// last.
func (t *movedTable) find(slot uint32, near int) (int, bool) {
	if near < len(t.rows) && t.rows[near].slot == slot {
		return near, true
	}
	return slices.BinarySearchFunc(t.rows, slot, func(r movedRow, slot uint32) int { return cmp.Compare(r.slot, slot) })
}

// liveBits makes bits for rows of a table.
func liveBits(rows int) int64 { return int64(rows) * entryBytes }

// setAll makes all rows live.
func (t *movedTable) setAll() {
	for i := range t.rows {
		t.live.set(int64(i), liveBits(len(t.rows)))
	}
}

// slotIn is the slot of an address in a segment or table that begins at base; false when no table can have it.
func slotIn(base journal.Position, a journal.Address) (uint32, bool) {
	offset := int64(a.Position - base)
	if offset < segmentHeaderBytes || offset%groupAlign != 0 {
		return 0, false
	}
	s := slot(offset, a.Index)
	return uint32(s), s < 1<<32
}

func sortMoved(list []*movedTable) {
	slices.SortFunc(list, func(a, b *movedTable) int { return cmp.Compare(a.base, b.base) })
}

// mergeRows merges rows by slot. Where both have a slot, newer wins.
func mergeRows(older, newer []movedRow) []movedRow {
	all := make([]movedRow, 0, len(older)+len(newer))
	for len(older) > 0 && len(newer) > 0 {
		switch {
		case older[0].slot < newer[0].slot:
			all, older = append(all, older[0]), older[1:]
		default:
			if older[0].slot == newer[0].slot {
				older = older[1:]
			}
			all, newer = append(all, newer[0]), newer[1:]
		}
	}
	return append(append(all, older...), newer...)
}

// finder looks addresses up. It remembers where the last one was: addresses mostly come in rising order.
type finder struct {
	segs  []*segment
	moved []*movedTable
	colds []*coldSegment
	seg   int // index in segs of the last one found; -1: none
	table int // index in moved; -1: none
	next  int // row in that table after the last one found
	cold  *coldSegment
}

// finder makes a finder of what there is now. segMu is held, or was: the lists are replaced, never changed.
func (j *Journal) finder() finder {
	return finder{segs: j.segs, moved: j.moved, colds: j.colds, seg: -1, table: -1}
}

// lookup is finder for those who do not hold segMu.
func (j *Journal) lookup() finder {
	j.segMu.RLock()
	defer j.segMu.RUnlock()
	return j.finder()
}

// segment returns the index of the log segment in which a position lies, or -1.
func (f *finder) segment(p journal.Position) int {
	if f.seg >= 0 {
		if s := f.segs[f.seg]; p >= s.base && s.offset(p) < s.reach() {
			return f.seg
		}
	}
	f.seg = segmentIn(f.segs, p)
	return f.seg
}

// row returns the table and the index of the row of a moved record, or -1.
func (f *finder) row(a journal.Address) (table, row int) {
	if f.table < 0 || a.Position < f.moved[f.table].base || f.table+1 < len(f.moved) &&
		a.Position >= f.moved[f.table+1].base {
		i, found := slices.BinarySearchFunc(f.moved, a.Position,
			func(t *movedTable, p journal.Position) int { return cmp.Compare(t.base, p) })
		if !found {
			i--
		}
		f.table, f.next = i, 0
	}
	if f.table < 0 {
		return -1, -1
	}
	t := f.moved[f.table]
	slot, ok := slotIn(t.base, a)
	if !ok {
		return -1, -1
	}
	i, found := t.find(slot, f.next)
	if !found {
		return -1, -1
	}
	f.next = i + 1
	return f.table, i
}

// coldOf returns the cold segment of a number, or nil.
func (f *finder) coldOf(number uint32) *coldSegment {
	if f.cold == nil || f.cold.number != number {
		f.cold = coldIn(f.colds, number)
	}
	return f.cold
}
