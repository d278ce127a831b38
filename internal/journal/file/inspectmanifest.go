package file

import (
	"errors"
	"path/filepath"

	"github.com/hikyaku/hikyaku/internal/journal"
)

// readManifest finds the list of segments, if need be from the files themselves.
func (x *inspection) readManifest(names []string) error {
	m, broken, err := readManifest(x.fs, x.dir)
	if err != nil {
		return err
	}
	listed := func(base journal.Position) bool {
		if m == nil {
			return false
		}
		for _, rows := range [][]manifestSegment{m.segments, m.dropped} {
			for _, row := range rows {
				if row.base == base {
					return true
				}
			}
		}
		return false
	}
	var found []manifestSegment
	for _, name := range names {
		base, ok := parseSegmentName(name)
		if !ok || listed(base) {
			continue
		}
		path := filepath.Join(x.dir, name)
		row, holds, err := x.strangeSegment(path, base)
		if err != nil {
			return err
		}
		if row == nil {
			x.unusable = append(x.unusable, path)
			x.add(Damage{File: path, What: "no manifest lists this segment, and its header cannot be read", Lost: "what it held"})
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
	if m == nil && (len(found) > 0 || len(broken) > 0) {
		what := "the manifest is missing"
		if len(broken) > 0 {
			what = broken[0].Error()
		}
		x.add(Damage{File: manifestName(x.dir, 0), What: what})
		m = &manifest{reclaimed: true}
		x.guessed = true
		if m.colds, err = x.strangeColds(names); err != nil {
			return err
		}
	}
	if m == nil {
		return nil
	}
	x.manifest = m.clone()
	if len(found) > 0 {
		x.manifest.clean = false
		x.manifest.segments = append(x.manifest.segments, found...)
		sortRows(x.manifest.segments)
	}
	return nil
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
	got, generation, _, err := decodeSegmentHeader(b)
	if err != nil || got != base {
		return nil, false, nil
	}
	s.generation = generation
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
	row = &manifestSegment{base: base, generation: generation}
	if w.header.kind == kindEnd {
		row.end = w.offset
	}
	return row, w.header.length > 0, nil
}
