package file

import (
	"errors"
	"fmt"
	"slices"

	"github.com/hikyaku/hikyaku/internal/journal"
)

// coldSyncBytes is how much of a cold segment waits for a sync: little, so that no sync of the log comes behind a long
// one.
const coldSyncBytes = pieceBytes

// copy writes the survivors to a cold segment and puts it in the place of the victims.
func (r *run) copy() error {
	j := r.j
	number, size := j.coldNext, r.size()
	j.coldNext++
	c := &coldSegment{number: number}
	c.name, c.generation, c.moved = coldName(j.dir, number), newGeneration(), true
	r.out = c
	defer j.giveBack()
	if err := r.create(size); err != nil {
		return fmt.Errorf("make room for %d survivors: %w", len(r.survivors), err)
	}
	var gone outgoing
	err := r.fill(size)
	if err == nil {
		gone, err = r.replace()
	}
	if err == nil {
		return j.discard(gone)
	}
	err = errors.Join(err, c.shut(errGone))
	if j.failed() == nil { // after a failure the manifest may list it
		err = errors.Join(err, ignoreMissing(j.fs.Remove(c.name)))
	}
	return err
}

// size is the length of the cold segment.
func (r *run) size() int64 {
	size := int64(segmentHeaderBytes)
	for left := r.survivors; len(left) > 0; {
		n, length := group(left)
		size += length
		left = left[n:]
	}
	bases := make(map[journal.Position]struct{})
	for i := range r.survivors {
		bases[r.survivors[i].origin.base] = struct{}{}
	}
	return size + footerBytes(len(bases), len(r.survivors))
}

// create makes the file, on a full disk or without handles of a spare: cleaning gives back more than it takes.
func (r *run) create(size int64) (err error) {
	j, c := r.j, r.out
	c.f, err = j.allocate(c.name, size)
	if c.size = size; (errors.Is(err, journal.ErrFull) || outOfHandles(err)) && size <= j.opts.SegmentBytes {
		j.short.Store(true) // so this comes to its end soon
		sp, ok := j.borrowSpare()
		if !ok {
			return err
		}
		c.size = sp.size
		c.f, err = j.rename(sp.f, sp.name, c.name)
	}
	return err
}

// borrowSpare takes a spare for a cold segment, the last one only while there is room in the tail for those who settle.
func (j *Journal) borrowSpare() (spare, bool) {
	j.lockWhole()
	defer j.unlockWhole()
	j.dropLost()
	n := len(j.spares)
	if n == 0 || n == 1 && j.tail.end > j.tail.size/2 {
		return spare{}, false
	}
	sp := j.spares[n-1]
	j.spares = j.spares[:n-1]
	j.borrowed = make(chan struct{})
	return sp, true
}

// giveBack tells those who wait for it that cleaning has no spare any more. There is more room than before, or as much.
func (j *Journal) giveBack() {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.borrowed != nil {
		close(j.borrowed)
		j.borrowed = nil
	}
}

// fill writes all of the cold segment and makes it durable.
func (r *run) fill(size int64) error {
	w := &coldWriter{run: r, piece: coldHeader(r.out.number, r.out.generation)}
	read := &reader{j: r.j, w: new(window)}
	var buf []byte
	var records []moving
	rows := make(map[journal.Position][]movedRow)
	for left := r.survivors; len(left) > 0; {
		n, _ := group(left)
		at := w.end()
		records = records[:0]
		for i := range left[:n] {
			s := &left[i]
			m, err := r.read(read, s)
			if err != nil {
				return err
			}
			records = append(records, m)
			rows[s.origin.base] = append(rows[s.origin.base], movedRow{
				slot: s.origin.slot(), cold: r.out.number, group: uint32(at / groupAlign), index: uint16(i),
				units: unitsOf(s.cost()),
			})
		}
		buf = encodeMoved(buf, records)
		if err := w.add(buf); err != nil {
			return err
		}
		left = left[n:]
		if cap(buf) > 2*pieceBytes {
			buf = nil
		}
	}
	r.out.footer = w.end()
	list := make([]origins, 0, len(rows))
	for base, rows := range rows {
		slices.SortFunc(rows, compareRows)
		list = append(list, origins{base, rows})
		for i := range rows {
			r.out.made.add(&rows[i])
		}
	}
	slices.SortFunc(list, compareOrigins)
	r.moves = list
	if err := w.add(encodeFooter(list)); err != nil {
		return err
	}
	if err := w.flush(); err != nil {
		return err
	}
	r.out.end = w.end()
	if r.out.end != size {
		return fmt.Errorf("the cold segment %s has %d bytes, it was to have %d", r.out.name, r.out.end, size)
	}
	if r.out.size > size { // it was a spare
		if err := r.out.f.Truncate(size); err != nil {
			return fmt.Errorf("cut %s: %w", r.out.name, err)
		}
		r.out.size = size
	}
	if err := r.out.f.Datasync(); err != nil {
		return fmt.Errorf("sync %s: %w", r.out.name, err)
	}
	return r.j.lock.SyncDir()
}

// read reads a survivor. A damaged body is carried along.
func (r *run) read(read *reader, s *survivor) (moving, error) {
	v := r.victims[s.victim]
	record, e, err := read.fetch(&spot{s: v.segment(), group: s.group, index: s.index})
	switch {
	case errors.Is(err, errGone), errors.Is(err, journal.ErrClosed):
		return moving{}, errStopped
	case err != nil:
		return moving{}, r.spoil(v.segment(), err)
	case record.Queue != s.queue || record.Sequence != s.sequence || int64(record.Size()) != int64(s.bytes):
		return moving{}, r.spoil(v.segment(), v.segment().damage(s.group, "a group changed while it was copied"))
	}
	m := moving{from: s.origin, record: record, sum: e.bodyCRC}
	if !m.sound() {
		r.j.opts.Report(fmt.Errorf("cleaning found: %w", v.segment().damage(s.group+e.body,
			fmt.Sprintf("the body of record %d of the group at position %d is not what was written", s.origin.index,
				s.origin.address().Position))))
	}
	return m, nil
}

// coldWriter writes a cold segment in pieces.
type coldWriter struct {
	run      *run
	piece    []byte
	at       int64 // where piece begins
	unsynced int
}

// end is where the next group begins.
func (w *coldWriter) end() int64 { return w.at + int64(len(w.piece)) }

// add appends a group.
func (w *coldWriter) add(group []byte) error {
	place(group, w.run.out.generation, journal.Position(w.end()), 0)
	w.piece = append(w.piece, group...)
	if len(w.piece) < pieceBytes {
		return nil
	}
	return w.flush()
}

// flush writes what there is, when its turn has come.
func (w *coldWriter) flush() error {
	j, c := w.run.j, w.run.out
	for from := 0; from < len(w.piece); {
		b := w.piece[from:min(len(w.piece), from+pieceBytes)]
		if err := w.run.pace.wait(len(b)); err != nil {
			return err
		}
		if _, err := c.f.WriteAt(b, w.at); err != nil {
			return fmt.Errorf("write %d bytes at %d of %s: %w", len(b), w.at, c.name, err)
		}
		j.count.copied.Add(uint64(len(b)))
		w.at += int64(len(b))
		from += len(b)
		if w.unsynced += len(b); w.unsynced >= coldSyncBytes {
			if err := c.f.Datasync(); err != nil {
				return fmt.Errorf("sync %s: %w", c.name, err)
			}
			w.unsynced = 0
		}
	}
	if w.piece = w.piece[:0]; cap(w.piece) > 4*pieceBytes {
		w.piece = nil
	}
	return nil
}
