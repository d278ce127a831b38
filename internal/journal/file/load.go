package file

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/hikyaku/hikyaku/internal/journal"
)

const lockName = "lock"

// load brings the journal to the state in which the last process left it.
func (j *Journal) load(ctx context.Context) error {
	if !j.opts.ReadOnly {
		if err := j.fs.MkdirAll(j.dir); err != nil {
			return err
		}
		if j.opts.SegmentBytes == 0 {
			v, err := j.fs.Volume(j.dir)
			if err != nil {
				return err
			}
			j.opts.SegmentBytes = SegmentBytesOn(v.Bytes)
		}
		lock, err := j.fs.Lock(filepath.Join(j.dir, lockName))
		if err != nil {
			return err
		}
		j.lock = lock
		if j.watch, err = j.newWatch(); err != nil {
			return err
		}
		// A process that was killed may have left names that are there but not durable.
		if err := j.fs.SyncDir(j.dir); err != nil {
			return err
		}
	}
	names, err := j.fs.ReadDir(j.dir)
	if err != nil {
		return err
	}
	m, err := findManifest(j.fs, j.dir, names)
	if err != nil {
		return err
	}
	if m == nil {
		m = &manifest{}
		if j.opts.ReadOnly {
			return fmt.Errorf("there is no journal in %s", j.dir)
		}
		if err := m.write(j.fs, j.dir); err != nil {
			return err
		}
	} else if !j.opts.ReadOnly {
		if err := m.confirm(j.fs, j.dir); err != nil {
			return err
		}
	}
	j.manifest = m.clone()
	for i, row := range m.segments {
		s, err := openSegment(j.fs, j.dir, row, j.opts.ReadOnly)
		if err != nil {
			return err
		}
		j.segs = append(j.segs, s)
		if i < len(m.segments)-1 {
			if err := s.readEnd(row.end, true); err != nil {
				return err
			}
			s.setSealed()
		}
	}
	if err := j.loadCold(m.colds); err != nil {
		return err
	}
	if err := j.checkpoints.find(j.fs, j.dir, names); err != nil {
		return err
	}
	if !j.opts.ReadOnly {
		if err := j.clearAway(names, m); err != nil {
			return err
		}
	}
	if err := j.openTail(ctx, m); err != nil {
		return err
	}
	// The log was made durable up to a checkpoint before the checkpoint was: if it ends before, its end was lost.
	if at := j.checkpoints.newest(); at > j.End() && !j.opts.ReadOnly {
		return j.tail.damage(j.tail.end, fmt.Sprintf("the log ends at position %d, before the checkpoint at position %d", j.End(), at))
	}
	return nil
}

// findManifest returns the manifest in force, or nil in a folder in which no journal has begun.
func findManifest(fsys FS, dir string, names []string) (*manifest, error) {
	m, broken, err := readManifest(fsys, dir)
	if err != nil || m != nil {
		return m, err
	}
	begun := slices.ContainsFunc(names, func(name string) bool {
		_, isSegment := parseSegmentName(name)
		_, isCold := parseColdName(name)
		return isSegment || isCold || strings.HasPrefix(name, checkpointPrefix)
	})
	switch {
	case !begun:
		return nil, nil
	case len(broken) > 0:
		return nil, broken[0]
	default:
		return nil, damageAt(filepath.Join(dir, manifestPrefix+"0"), 0, "the manifest is missing, but there are segments or checkpoints")
	}
}

// openSegment opens the file of a row and checks its header.
func openSegment(fsys FS, dir string, row manifestSegment, readOnly bool) (*segment, error) {
	s := &segment{base: row.base, generation: row.generation, name: segmentName(dir, row.base), end: segmentHeaderBytes}
	f, err := fsys.Open(s.name, readOnly)
	if missing(err) {
		return nil, damageAt(s.name, 0, "the segment is missing, but the manifest lists it")
	}
	if err != nil {
		return nil, err
	}
	s.f = f
	if err := s.checkHeader(); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return s, nil
}

func (s *segment) checkHeader() error {
	size, err := s.f.Size()
	if err != nil {
		return err
	}
	s.size = size
	if size < segmentHeaderBytes {
		return s.damage(0, fmt.Sprintf("the segment has only %d bytes", size))
	}
	b := make([]byte, segmentHeaderBytes)
	if err := s.readAt(b, 0); err != nil {
		return err
	}
	base, generation, last, err := decodeSegmentHeader(b)
	switch {
	case err != nil:
		return s.damage(0, err.Error())
	case base != s.base || generation != s.generation:
		return s.damage(0, fmt.Sprintf("it says that it is the segment at %d of generation %016x, the manifest says %d, %016x", base, generation, s.base, s.generation))
	}
	s.totals.last = last
	return nil
}

// readEnd verifies the end mark, or the seal unless the segment is sealed, with which the segment ends and takes its totals.
func (s *segment) readEnd(end int64, sealed bool) error {
	at := end - sealBytes
	if at < segmentHeaderBytes || end > s.size {
		return s.damage(end, fmt.Sprintf("it should end at %d, the file has %d bytes", end, s.size))
	}
	w := newWalker(s, at, end)
	if err := w.next(); err != nil {
		if errors.Is(err, errGroup) {
			return s.damage(at, "its end mark: "+err.Error())
		}
		return err
	}
	if k := w.header.kind; k != kindEnd && (sealed || k != kindSeal) {
		return s.damage(at, fmt.Sprintf("it should end with an end mark, not with a group of kind %d", k))
	}
	s.ended = w.header.kind == kindEnd
	t, err := decodeTotals(w.meta[groupHeaderBytes:])
	if err != nil {
		return s.damage(at, err.Error())
	}
	s.totals, s.end = t, end
	return nil
}

// clearAway removes what a crash left half done, and lists the spares.
func (j *Journal) clearAway(names []string, m *manifest) error {
	removed := false
	for _, name := range names {
		path := filepath.Join(j.dir, name)
		if n, ok := parseSpareName(name); ok {
			j.spareNext = max(j.spareNext, n+1)
			if size, err := sizeOf(j.fs, path); err == nil && size == j.opts.SegmentBytes && len(j.spares) <= reserveSegments {
				j.spares = append(j.spares, spare{name: path, size: size})
				continue
			}
		} else if base, ok := parseSegmentName(name); ok {
			is := func(row manifestSegment) bool { return row.base == base }
			if slices.ContainsFunc(m.segments, is) {
				continue
			}
			if !slices.ContainsFunc(m.dropped, is) {
				if err := begunSegment(j.fs, path, base); err != nil {
					return err
				}
			}
		} else if number, ok := parseColdName(name); ok {
			// One that is not listed is of a cleaning that did not get to its end: what it copied is where it was.
			j.coldNext = max(j.coldNext, number+1)
			if slices.ContainsFunc(m.colds, func(row manifestCold) bool { return row.number == number }) {
				continue
			}
		} else if !strings.HasSuffix(name, tmpSuffix) {
			continue
		}
		if err := j.fs.Remove(path); err != nil {
			return err
		}
		removed = true
	}
	if !removed {
		return nil
	}
	return j.fs.SyncDir(j.dir)
}

// begunSegment makes sure that a segment that no manifest lists holds nothing: it was being made when the process died.
func begunSegment(fsys FS, name string, base journal.Position) error {
	f, err := fsys.Open(name, true)
	if err != nil {
		return err
	}
	s := &segment{name: name, f: f, base: base}
	defer s.shut(journal.ErrClosed)
	if s.size, err = f.Size(); err != nil {
		return err
	}
	if s.size < segmentHeaderBytes {
		return nil
	}
	b := make([]byte, segmentHeaderBytes)
	if err := s.readAt(b, 0); err != nil {
		return err
	}
	if _, s.generation, _, err = decodeSegmentHeader(b); err != nil {
		return s.damage(0, "no manifest lists this segment, and its header cannot be read: "+err.Error())
	}
	if err := newWalker(s, segmentHeaderBytes, s.size).next(); err == nil {
		return s.damage(segmentHeaderBytes, "the segment holds groups, but no manifest lists it")
	}
	return nil
}

func sizeOf(fsys FS, name string) (int64, error) {
	f, err := fsys.Open(name, true)
	if err != nil {
		return 0, err
	}
	defer f.Close()
	return f.Size()
}

// openTail finds the end of the log, makes it sound and durable, and prepares for appending.
func (j *Journal) openTail(ctx context.Context, m *manifest) error {
	if len(j.segs) == 0 {
		if j.opts.ReadOnly {
			return fmt.Errorf("the journal in %s has not begun", j.dir)
		}
		if err := j.roll(0, false); err != nil {
			return err
		}
	} else {
		j.tail = j.segs[len(j.segs)-1]
		row := m.segments[len(m.segments)-1]
		if m.clean {
			if err := j.tail.readEnd(row.end, false); err != nil {
				return err
			}
			j.last = j.tail.at(row.end - sealBytes)
			j.durable.Store(uint64(j.last))
		} else if err := j.recoverTail(ctx); err != nil {
			return err
		}
	}
	j.end.Store(uint64(j.tail.totals.last))
	if j.opts.ReadOnly {
		return nil
	}
	for len(j.spares) < reserveSegments {
		if err := j.addSpare(j.opts.SegmentBytes); err != nil {
			if !errors.Is(err, journal.ErrFull) {
				return err
			}
			j.opts.Report(err)
			j.runShort(0, err)
			break
		}
	}
	if !m.clean && len(m.dropped) == 0 {
		return nil
	}
	// From now on the end may be anywhere.
	c := j.manifest.clone()
	c.clean, c.dropped = false, nil
	c.segments[len(c.segments)-1].end = 0
	if err := c.write(j.fs, j.dir); err != nil {
		return err
	}
	j.manifest = c
	return nil
}
