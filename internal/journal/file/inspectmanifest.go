package file

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"errors"
	"path/filepath"
	"slices"
	"strings"

	"github.com/hikyaku/hikyaku/internal/journal"
)

// readManifest finds the list of segments, if need be from the files themselves.
func (x *inspection) readManifest(names []string) error {
	ms, err := x.stableManifests()
	if err != nil {
		return err
	}
	m := ms.current
	for _, d := range []*journal.DamageError{ms.damage, ms.doubt} {
		if d != nil {
			x.doubted = true
			x.add(Damage{File: fileOf(d), What: d.What})
		}
	}
	var found []manifestSegment
	for _, name := range names {
		base, ok := parseSegmentName(name)
		if !ok || m != nil && m.lists(base) {
			continue
		}
		path := filepath.Join(x.dir, name)
		row, holds, err := x.strangeSegment(path, base)
		if missing(err) {
			continue // a journal in use has taken it away
		}
		if err != nil {
			return err
		}
		if row == nil {
			x.unusable = append(x.unusable, path)
			x.add(Damage{File: path, What: "no manifest lists this segment, and its header cannot be read",
				Lost: "what it held"})
			continue
		}
		if m != nil && !holds {
			continue // was being made when the process died
		}
		if m != nil {
			x.add(Damage{File: path, What: "no manifest lists this segment, but it holds groups"})
		}
		found = append(found, *row)
	}
	if m == nil && (len(found) > 0 || begun(names)) {
		d := damageAt(manifestName(x.dir, 0), 0, "the manifest is missing")
		for _, sl := range ms.slots {
			if !sl.missing {
				d = sl.damage
			}
		}
		x.add(Damage{File: fileOf(d), What: d.What})
		m = &manifest{reclaimed: true}
		x.guessed = true
		if m.colds, err = x.strangeColds(names); err != nil {
			return err
		}
	}
	if m == nil {
		return nil
	}
	x.manifest, x.list = m.clone(), manifestName(x.dir, m.turn)
	if x.doubted {
		if err := x.addColds(names); err != nil {
			return err
		}
	}
	if len(found) > 0 {
		x.manifest.clean = false
		x.manifest.segments = append(x.manifest.segments, found...)
		sortRows(x.manifest.segments)
	}
	return nil
}

// stableManifests reads the manifest until two readings agree, or nothing is wrong: a running journal may be writing
// it.
func (x *inspection) stableManifests() (*manifests, error) {
	var before *manifests
	for {
		ms, err := readManifests(x.fs, x.dir)
		if err != nil || ms.damage == nil && ms.doubt == nil && ms.current != nil {
			return ms, err
		}
		if before != nil && bytes.Equal(before.slots[0].content, ms.slots[0].content) &&
			bytes.Equal(before.slots[1].content, ms.slots[1].content) {
			return ms, nil
		}
		before = ms
	}
}

// fileOf is the file of damage at its beginning.
func fileOf(d *journal.DamageError) string {
	name, _, _ := strings.Cut(d.Where, ", offset ")
	return name
}

// readNote reads what was synced.
func (x *inspection) readNote() error {
	n, broken, err := readNote(x.fs, x.dir)
	if err != nil {
		return err
	}
	if broken != nil {
		x.add(Damage{File: fileOf(broken), What: broken.What, settling: "taken away: the next start makes it anew"})
	}
	x.note = n
	return nil
}

// addColds adds whole cold segments that the manifest does not list: one that is from before a cleaning lacks them.
func (x *inspection) addColds(names []string) error {
	for _, name := range names {
		number, ok := parseColdName(name)
		if !ok || slices.ContainsFunc(x.manifest.colds, func(row manifestCold) bool { return row.number == number }) {
			continue
		}
		row, err := x.wholeCold(number)
		if err != nil {
			return err
		}
		if row != nil {
			x.add(Damage{File: coldName(x.dir, number), What: "no manifest lists this cold segment, but it is whole"})
			x.manifest.colds = append(x.manifest.colds, *row)
		}
	}
	slices.SortFunc(x.manifest.colds, func(a, b manifestCold) int { return cmp.Compare(a.number, b.number) })
	return nil
}

// wholeCold returns the row of a cold segment, nil when it was not written to its end.
func (x *inspection) wholeCold(number uint32) (row *manifestCold, err error) {
	name := coldName(x.dir, number)
	f, err := x.fs.Open(name, true)
	if missing(err) {
		return nil, nil // as above
	}
	if err != nil {
		return nil, err
	}
	c := &coldSegment{number: number}
	c.name, c.f, c.moved = name, f, true
	defer func() { err = errors.Join(err, c.shut(journal.ErrClosed)) }()
	if c.size, err = f.Size(); err != nil || c.size < segmentHeaderBytes {
		return nil, err
	}
	b := make([]byte, segmentHeaderBytes)
	if err := c.readAt(b, 0); err != nil {
		return nil, err
	}
	got, generation, _, err := decodeFirstBlock(coldMagic, b)
	if err != nil || got != uint64(number) {
		return nil, nil //nolint:nilerr // it is not whole
	}
	c.generation = generation
	w := newWalker(&c.segment, segmentHeaderBytes, c.size)
	for w.offset < c.size {
		if err := w.next(); errors.Is(err, errGroup) {
			return nil, nil
		} else if err != nil {
			return nil, err
		}
		if w.header.kind == kindFooter {
			return &manifestCold{number: number, generation: generation, footer: w.at(), end: w.offset}, nil
		}
	}
	return nil, nil
}

// strangeSegment looks at a segment that no manifest lists. The row is nil when its header cannot be read.
func (x *inspection) strangeSegment(name string, base journal.Position) (row *manifestSegment, holds bool, err error) {
	f, err := x.fs.Open(name, true)
	if err != nil {
		return nil, false, err
	}
	s := &segment{name: name, f: f, base: base}
	defer s.shut(journal.ErrClosed)
	if s.size, err = f.Size(); err != nil || s.size < segmentHeaderBytes {
		return nil, false, err
	}
	b := make([]byte, segmentHeaderBytes)
	if err := s.readAt(b, 0); err != nil {
		return nil, false, err
	}
	h, err := decodeSegmentHeader(b)
	if err != nil || h.base != base {
		return nil, false, nil
	}
	s.generation = h.generation
	if err := s.readAt(b[:groupHeaderBytes], segmentHeaderBytes); err == nil {
		holds = binary.LittleEndian.Uint32(b) == mark(s.generation) || x.note.generation == s.generation &&
			x.note.last > base
	}
	w := newWalker(s, segmentHeaderBytes, s.size)
	for {
		if err := w.next(); errors.Is(err, errGroup) {
			next, err := findGroup(s, w.offset, s.size)
			if err != nil {
				return nil, false, err
			}
			if next == s.size {
				break
			}
			w.offset = next
		} else if err != nil {
			return nil, false, err
		}
	}
	row = &manifestSegment{base: base, generation: h.generation}
	if w.header.kind == kindEnd {
		row.end = w.offset
	}
	return row, holds || w.header.length > 0, nil
}
