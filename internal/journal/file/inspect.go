package file

import (
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"

	"github.com/hikyaku/hikyaku/internal/journal"
)

func sortRows(rows []manifestSegment) {
	slices.SortFunc(rows, func(a, b manifestSegment) int { return cmp.Compare(a.base, b.base) })
}

// openSegment opens the file of a row as far as that is possible.
func (x *inspection) openSegment(row manifestSegment, newest bool) error {
	f := &segmentFindings{row: row, newest: newest}
	x.segments = append(x.segments, f)
	s := &segment{base: row.base, generation: row.generation, name: segmentName(x.dir, row.base),
		end: segmentHeaderBytes}
	file, err := x.fs.Open(s.name, true)
	if missing(err) {
		f.damages = append(f.damages, Damage{File: s.name, What: "the segment is missing, but the manifest lists it",
			Lost: "all its groups"})
		return nil
	}
	if err != nil {
		return err
	}
	s.f = file
	var damage *journal.DamageError
	if err := s.checkHeader(); errors.As(err, &damage) {
		d := Damage{File: s.name, Length: segmentHeaderBytes, What: damage.What}
		if s.size < segmentHeaderBytes {
			d.Lost = "all its groups"
			f.damages = append(f.damages, d)
			x.unusable = append(x.unusable, s.name)
			return file.Close()
		}
		f.header = &d
		f.damages = append(f.damages, d)
	} else if err != nil {
		return errors.Join(err, file.Close())
	}
	f.s = s
	x.total += s.size
	return nil
}

// inspectSegment walks all of a segment, over gaps too.
func (x *inspection) inspectSegment(ctx context.Context, f *segmentFindings) error {
	s := f.s
	if s == nil {
		return nil
	}
	defer func() { x.progress(x.done, x.total) }()
	before := x.done
	defer func() { x.done = before + s.size }()
	if err := x.inspectEnd(ctx, f); err != nil {
		return err
	}
	limit := s.size
	if f.tail != nil {
		limit = f.tail.end
	} else if f.row.end > 0 && f.row.end <= s.size {
		limit = f.row.end
	}
	f.totals = s.totals
	f.end = segmentHeaderBytes
	w := newWalker(s, segmentHeaderBytes, limit)
	for w.offset < limit {
		if err := ctx.Err(); err != nil {
			return err
		}
		x.progress(before+w.offset, x.total)
		err := w.next()
		if err == nil {
			if err := f.group(w); err != nil {
				return err
			}
			continue
		}
		if !errors.Is(err, errGroup) {
			return err
		}
		on, err := x.overGap(ctx, f, w.offset, limit, err)
		if err != nil {
			return err
		}
		if on == limit {
			break
		}
		w.offset = on
	}
	if !f.newest && !f.ended && !f.noEnd {
		f.noEnd = true
		f.damages = append(f.damages,
			Damage{File: s.name, Offset: f.end, What: "the end mark of the segment is missing"})
	}
	return nil
}

// inspectEnd looks where the newest segment ends. It leaves the tail empty when more is wrong there than a tear: then
// the walk tells.
func (x *inspection) inspectEnd(ctx context.Context, f *segmentFindings) error {
	s := f.s
	if !f.newest {
		return nil
	}
	synced, err := x.note.synced(s)
	var damage *journal.DamageError
	if errors.As(err, &damage) {
		f.damages = append(f.damages, Damage{File: s.name, Offset: s.size, What: damage.What, Lost: "what was in it"})
	}
	if f.row.end > 0 {
		if f.row.end > s.size {
			return nil // the walk tells
		}
		switch err := s.goesOn(f.row.end, synced, x.doubted); {
		case err == nil:
			return nil
		case !errors.As(err, &damage):
			return err
		}
		f.damages = append(f.damages, Damage{File: x.list, What: fmt.Sprintf("in %s: %s", damage.Where, damage.What)})
		f.row.end = 0 // as after a crash
	}
	t, err := examineTail(ctx, s, synced)
	if err != nil {
		return err
	}
	switch err := t.damage(s); {
	case err == nil:
		f.tail = t
		x.report.TornBytes = t.torn()
	case t.synced >= s.at(t.end) && errors.As(err, &damage):
		f.damages = append(f.damages,
			Damage{File: s.name, Offset: t.end, What: damage.What, Lost: "what was appended there"})
	}
	return nil
}

// group counts the group last read and verifies its bodies.
func (f *segmentFindings) group(w *walker) error {
	at := w.at()
	f.last, f.end = w.header.position, w.offset
	f.ended = w.header.kind == kindEnd
	if w.header.kind != kindRecords {
		return nil
	}
	f.totals.add(f.last, w.entries)
	return w.verifyBodies(func(i int, err error) {
		f.damages = append(f.damages, Damage{
			File:   f.s.name,
			Offset: at + w.entries[i].body,
			Length: int64(w.entries[i].bodyLen),
			What:   fmt.Sprintf("record %d of the group at position %d: %v", i, f.last, err),
			Record: &journal.Address{Position: f.last, Index: uint32(i)},
			Lost:   "the body of this record",
		})
	})
}

// overGap judges the place where the walk found no group, and returns where it can go on: limit when nowhere.
func (x *inspection) overGap(ctx context.Context, f *segmentFindings, from, limit int64, why error) (int64, error) {
	s := f.s
	to, err := findGroup(s, from, limit)
	if err != nil {
		return 0, err
	}
	if to == limit && f.newest && f.row.end == 0 { // behind the last group
		f.tail = &tailState{end: from, last: f.last, totals: f.totals, broken: why}
		err := f.tail.lookBehind(ctx, s)
		x.report.TornBytes = f.tail.torn()
		return limit, err
	}
	d := Damage{File: s.name, Offset: from, Length: to - from, What: why.Error(),
		Lost: fmt.Sprintf("the groups in these %d bytes", to-from)}
	if to == limit && !f.newest {
		f.noEnd = true
		if from >= limit-sealBytes {
			d.Lost = ""
		}
	}
	f.damages = append(f.damages, d)
	f.gaps = append(f.gaps, gap{from, to})
	return to, nil
}

// findGroup returns the offset of the first sound group behind from, or limit.
func findGroup(s *segment, from, limit int64) (int64, error) {
	w := window{s: s}
	want := mark(s.generation)
	for offset := from + groupAlign; offset+groupHeaderBytes <= limit; offset += groupAlign {
		b, err := w.bytes(offset, groupHeaderBytes, limit)
		if err != nil {
			return 0, err
		}
		if binary.LittleEndian.Uint32(b) != want {
			continue
		}
		switch err := newWalker(s, offset, limit).next(); {
		case err == nil:
			return offset, nil
		case !errors.Is(err, errGroup):
			return 0, err
		}
	}
	return limit, nil
}
