package file

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/hikyaku/hikyaku/internal/journal"
)

const lockName = "lock"

// load brings the journal to the state in which the last process left it, or this one (want).
func (j *Journal) load(ctx context.Context, want *expected) error {
	if j.opts.Existing {
		if err := j.isThere(); err != nil {
			return err
		}
	}
	if !j.opts.ReadOnly {
		if want == nil {
			if err := j.fs.MkdirAll(j.dir); err != nil {
				return err
			}
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
		j.lock, j.fs = lock, lock.Folder()
		j.lists = lists{fs: j.fs, dir: j.dir, lock: lock}
		if j.watch, err = j.newWatch(); err != nil {
			return err
		}
		if err := want.sameFolder(j.watch.dir); err != nil {
			return err
		}
		// A process that was killed may have left names that are there but not durable.
		if err := j.lock.SyncDir(); err != nil {
			return err
		}
	}
	names, err := j.fs.ReadDir(j.dir)
	if err != nil {
		return err
	}
	files, err := distinct(j.fs, j.dir, names)
	if err != nil {
		return err
	}
	ms, err := findManifest(j.fs, j.dir, names)
	if err != nil {
		return err
	}
	if ms.current == nil && want != nil {
		return fmt.Errorf("%w: there is no journal in it any more", errFolder)
	}
	if ms.current == nil {
		return j.begin(ctx)
	}
	j.manifest = ms.current.clone()
	tail, err := j.examine(ctx, names, ms)
	if err == nil {
		err = want.wholeIn(j)
	}
	if err != nil || j.opts.ReadOnly {
		return ms.blame(err)
	}
	// Nothing has been changed so far, and nothing is missing.
	if ms.doubt != nil {
		j.opts.Report(fmt.Errorf("%w: a write of it was cut off, or it was damaged since; the other one tells of "+
			"everything there is, and it is written anew", ms.doubt))
	}
	if err := j.lists.confirm(&j.manifest); err != nil {
		return err
	}
	if err := j.clearAway(names, files); err != nil {
		return err
	}
	return j.openTail(ctx, tail, ms.doubt != nil)
}

// begin makes a journal in a folder in which there is none.
func (j *Journal) begin(ctx context.Context) error {
	if j.opts.ReadOnly {
		return ErrNoJournal
	}
	if err := j.lists.write(&j.manifest); err != nil {
		return err
	}
	return j.openTail(ctx, nil, false)
}

// isThere is ErrNoJournal where the folder is missing or nothing in it is of a journal.
func (j *Journal) isThere() error {
	names, err := j.fs.ReadDir(j.dir)
	if missing(err) {
		return ErrNoJournal
	}
	if err != nil {
		return err
	}
	ms, err := findManifest(j.fs, j.dir, names)
	if err == nil && ms.current == nil {
		err = ErrNoJournal
	}
	return err
}

// examine opens all files and looks whether they are what a crash may leave, without changing one. It returns what the
// walk of the newest segment found; nil when there was none, after a clean end.
func (j *Journal) examine(ctx context.Context, names []string, ms *manifests) (*tailState, error) {
	m := &j.manifest
	for i, row := range m.segments {
		s, err := openSegment(j.fs, j.dir, row, j.opts.ReadOnly)
		if err != nil {
			return nil, err
		}
		j.segs = append(j.segs, s)
		if i < len(m.segments)-1 {
			if err := s.readEnd(row.end, true); err != nil {
				return nil, err
			}
			s.setSealed()
		}
	}
	if err := j.loadCold(m.colds); err != nil {
		return nil, err
	}
	if err := j.checkpoints.find(j.fs, j.dir, names, j.manifest.log); err != nil {
		return nil, err
	}
	n, err := j.readNote()
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		base, ok := parseSegmentName(name)
		if !ok || m.lists(base) || j.opts.ReadOnly {
			continue
		}
		if err := begunSegment(j.fs, filepath.Join(j.dir, name), base, n); err != nil {
			return nil, err
		}
	}
	if len(j.segs) == 0 {
		return nil, j.unbegun(n)
	}
	t, err := j.examineEnd(ctx, ms, n)
	if err != nil {
		return nil, err
	}
	j.end.Store(uint64(j.tail.totals.last))
	// The log was made durable up to a checkpoint before the checkpoint was: if it ends before, its end was lost.
	if at := j.checkpoints.newest(); at > j.tail.totals.last && !j.opts.ReadOnly {
		return nil, j.tail.damage(j.tail.end,
			fmt.Sprintf("the log ends at position %d, before the checkpoint at position %d", j.tail.totals.last, at))
	}
	return t, nil
}

// lists says whether a manifest knows the segment that begins at base, also when it was reclaimed.
func (m *manifest) lists(base journal.Position) bool {
	is := func(row manifestSegment) bool { return row.base == base }
	return slices.ContainsFunc(m.segments, is) || slices.ContainsFunc(m.dropped, is)
}

// unbegun judges a manifest without segments.
func (j *Journal) unbegun(n note) error {
	switch {
	case j.opts.ReadOnly:
		return fmt.Errorf("the journal in %s has not begun", j.dir)
	case n.last > 0:
		return damageAt(manifestName(j.dir, j.manifest.turn), 0,
			fmt.Sprintf("it lists no segment, but the group at position %d was synced", n.last))
	}
	return nil
}

// readNote returns what was synced, as far as the note tells.
func (j *Journal) readNote() (note, error) {
	if j.opts.ReadOnly {
		return note{}, nil // somebody may be writing it, and the log, at this moment
	}
	n, broken, err := readNote(j.fs, j.dir)
	if broken != nil {
		j.opts.Report(fmt.Errorf("%w: so nothing tells whether the last group was synced; it is written anew", broken))
	}
	return n, err
}

// examineEnd finds the end of the log.
func (j *Journal) examineEnd(ctx context.Context, ms *manifests, n note) (*tailState, error) {
	s := j.segs[len(j.segs)-1]
	j.tail = s
	synced, err := n.synced(s)
	if err != nil {
		return nil, err
	}
	if row := j.manifest.segments[len(j.manifest.segments)-1]; j.manifest.clean {
		return nil, j.examineCleanEnd(s, row.end, synced, ms.doubt != nil)
	}
	t, err := examineTail(ctx, s, synced)
	if err != nil {
		return nil, err
	}
	if err := t.damage(s); err != nil {
		return nil, err
	}
	s.end, s.ended, s.totals = t.end, t.ended, t.totals
	j.last = t.last
	if j.last == 0 {
		j.last = s.base // nothing here yet: vouch for all segments before
	}
	return t, nil
}

// examineCleanEnd takes the end that the manifest says, if the log ends there. doubted: the other manifest cannot be
// read.
func (j *Journal) examineCleanEnd(s *segment, end int64, synced journal.Position, doubted bool) error {
	if err := s.readEnd(end, false); err != nil {
		return err
	}
	if err := s.goesOn(end, synced, doubted); err != nil {
		return err
	}
	j.last = s.at(end - sealBytes)
	j.durable.Store(uint64(j.last))
	return nil
}

// goesOn looks for what was appended behind the end that a manifest tells, and returns where it is. The next group
// would begin right there, so no more is looked at, unless there is something, or thorough asks for it.
func (s *segment) goesOn(end int64, synced journal.Position, thorough bool) error {
	if synced >= s.at(end) {
		return s.damage(end, fmt.Sprintf("the manifest says that the log ends here, but the group at position %d was "+
			"synced", synced))
	}
	if end+groupHeaderBytes > s.size {
		return nil
	}
	b := make([]byte, groupHeaderBytes)
	if err := s.readAt(b, end); err != nil {
		return err
	}
	if !thorough && binary.LittleEndian.Uint32(b) != mark(s.generation) {
		return nil
	}
	at, err := findGroup(s, end-groupAlign, s.size)
	if err != nil || at == s.size {
		return err
	}
	return s.damage(at, fmt.Sprintf("the manifest says that the log ends at offset %d, but a sound group follows", end))
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
	h, err := decodeSegmentHeader(b)
	switch {
	case err != nil:
		return unsound(s.name, 0, err)
	case h.base != s.base || h.generation != s.generation:
		return s.damage(0, fmt.Sprintf("it says that it is the segment at %d of generation %016x, the manifest says "+
			"%d, %016x", h.base, h.generation, s.base, s.generation))
	case h.size > size:
		return s.damage(size, fmt.Sprintf("the file has %d bytes, it had %d", size, h.size))
	}
	s.totals.last = h.last
	return nil
}

// readEnd verifies the end mark, or the seal unless the segment is sealed, with which the segment ends and takes its
// totals.
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
func (j *Journal) clearAway(names []string, files map[ID]string) error {
	m := &j.manifest
	removed := false
	for _, name := range names {
		path := filepath.Join(j.dir, name)
		if n, ok := parseSpareName(name); ok {
			j.spareNext = max(j.spareNext, n+1)
			if j.keepSpare(path, files) {
				continue
			}
		} else if base, ok := parseSegmentName(name); ok {
			if slices.ContainsFunc(m.segments, func(row manifestSegment) bool { return row.base == base }) {
				continue
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
	return j.lock.SyncDir()
}

// begunSegment makes sure that a segment that no manifest lists holds nothing: it was being made when the process died.
func begunSegment(fsys FS, name string, base journal.Position, n note) error {
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
		return s.damage(0, fmt.Sprintf("no manifest lists this segment, and it has only %d bytes", s.size))
	}
	b := make([]byte, segmentHeaderBytes)
	if err := s.readAt(b, 0); err != nil {
		return err
	}
	h, err := decodeSegmentHeader(b)
	switch {
	case err != nil:
		return unsound(name, 0, fmt.Errorf("no manifest lists this segment, and its header cannot be read: %w", err))
	case h.base != base:
		return s.damage(0, fmt.Sprintf("no manifest lists this segment, and it says that it is the one at %d", h.base))
	}
	s.generation = h.generation
	if n.generation == h.generation && n.last > base {
		return s.damage(0, fmt.Sprintf("no manifest lists this segment, but the group at position %d in it was synced",
			n.last))
	}
	// The first group is where it begins, if there is one: what else may lie there has another mark.
	if err := s.readAt(b[:groupHeaderBytes], segmentHeaderBytes); err == nil &&
		binary.LittleEndian.Uint32(b) == mark(s.generation) {
		return s.damage(segmentHeaderBytes, "the segment holds groups, but no manifest lists it")
	}
	at, err := findGroup(s, segmentHeaderBytes, s.size)
	if err != nil || at == s.size {
		return err
	}
	return s.damage(at, "the segment holds groups, but no manifest lists it")
}

func sizeOf(fsys FS, name string) (int64, error) {
	f, err := fsys.Open(name, true)
	if err != nil {
		return 0, err
	}
	defer f.Close()
	return f.Size()
}

// keepSpare lists a spare of the process before, if it can be used: it is none of the other files, by a link.
func (j *Journal) keepSpare(name string, files map[ID]string) bool {
	f, err := j.fs.Open(name, false)
	if err != nil {
		return false
	}
	size, err := f.Size()
	id, err2 := f.Identify()
	if _, there := files[id]; err != nil || err2 != nil || there || size != j.opts.SegmentBytes ||
		len(j.spares) > reserveSegments {
		f.Close()
		return false
	}
	files[id] = name
	j.spares = append(j.spares, spare{f: f, name: name, size: j.opts.SegmentBytes})
	return true
}

// openTail makes the end of the log durable, as examine found it, and prepares for appending. renew asks for a new
// manifest.
func (j *Journal) openTail(ctx context.Context, t *tailState, renew bool) error {
	switch {
	case len(j.segs) == 0:
		if err := j.roll(0, false); err != nil {
			return err
		}
	case t != nil:
		if err := j.recoverTail(t); err != nil {
			return err
		}
	}
	j.openNote()
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
	if _, err := j.lists.open(j.manifest.turn + 1); err != nil {
		return err
	}
	if m := &j.manifest; !m.clean && len(m.dropped) == 0 && !renew {
		return ctx.Err()
	}
	// From now on the end may be anywhere.
	c := j.manifest.clone()
	c.clean, c.dropped = false, nil
	if c.log.number == 0 { // the list that was the first to tell it is lost
		c.log.number = j.checkpoints.log()
	}
	c.segments[len(c.segments)-1].end = 0
	if err := j.lists.write(&c); err != nil {
		return err
	}
	j.manifest = c
	return nil
}
