package file

import (
	"cmp"
	"slices"

	"github.com/hikyaku/hikyaku/internal/journal"
)

// spot is where the record of an address is, or s is nil: nowhere.
type spot struct {
	s     *segment
	group int64  // offset of its group
	index uint32 // in that group
	i     int    // which of the addresses asked for
}

// compareSpots orders spots as they are best read.
func compareSpots(a, b spot) int {
	switch {
	case a.s == b.s:
		return cmp.Or(cmp.Compare(a.group, b.group), cmp.Compare(a.index, b.index))
	case a.s == nil:
		return -1
	case b.s == nil:
		return +1
	}
	return cmp.Or(cmp.Compare(a.s.base, b.s.base), cmp.Compare(a.s.name, b.s.name))
}

// locateAll finds the places of addresses, sorted for reading.
func (j *Journal) locateAll(addrs []journal.Address, end journal.Position) []spot {
	places := make([]spot, len(addrs))
	f := j.lookup()
	sorted := true
	for i, a := range addrs {
		places[i] = f.locate(i, a, end)
		sorted = sorted && (i == 0 || compareSpots(places[i-1], places[i]) <= 0)
	}
	if !sorted {
		slices.SortFunc(places, compareSpots)
	}
	return places
}

// locate finds the present place of one address.
func (j *Journal) locate(i int, a journal.Address, end journal.Position) spot {
	f := j.lookup()
	return f.locate(i, a, end)
}

func (f *finder) locate(i int, a journal.Address, end journal.Position) spot {
	if a.Position > end {
		return spot{i: i}
	}
	if n := f.segment(a.Position); n >= 0 {
		s := f.segs[n]
		if offset := s.offset(a.Position); offset >= segmentHeaderBytes && offset%groupAlign == 0 {
			return spot{s: s, group: offset, index: a.Index, i: i}
		}
		return spot{i: i}
	}
	if n, row := f.row(a); n >= 0 {
		r := &f.moved[n].rows[row]
		if c := f.coldOf(r.cold); c != nil {
			return spot{s: &c.segment, group: int64(r.group) * groupAlign, index: uint32(r.index), i: i}
		}
	}
	return spot{i: i}
}
