package file

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/hikyaku/hikyaku/internal/journal"
)

// Read implements journal.Journal. Addresses are visited in the order of the log; neighbours are read together.
func (j *Journal) Read(ctx context.Context, addrs []journal.Address, each func(i int, r journal.Record, err error)) error {
	order := make([]int, len(addrs))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int { return addrs[a].Compare(addrs[b]) })
	r := reader{j: j, end: j.End()}
	last := journal.Position(0)
	if len(order) > 0 {
		last = min(r.end, addrs[order[len(order)-1]].Position)
	}
	if err := j.readable(last); err != nil {
		return fmt.Errorf("read from journal %s: %w", j.dir, err)
	}
	r.w.buf = j.windows.Get().(*[]byte)
	defer func() {
		if cap(*r.w.buf) <= windowBytes {
			j.windows.Put(r.w.buf)
		}
	}()
	for _, i := range order {
		if err := ctx.Err(); err != nil {
			return err
		}
		record, err := r.read(addrs[i])
		each(i, record, err)
	}
	return nil
}

// readable says whether reading is possible, and writes the group at p if it is only in memory: nobody knows of it yet
// but through End. What was answered is in the file, so a reader does not wait for those who append.
func (j *Journal) readable(p journal.Position) error {
	if j.closed.Load() {
		return journal.ErrClosed
	}
	if uint64(p) < j.written.Load() {
		return nil
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	if err := j.flush(); err != nil && !errors.Is(err, journal.ErrFull) {
		return err
	}
	return nil
}

// reader reads records in rising order.
type reader struct {
	j   *Journal
	end journal.Position
	w   window
	t   *table // the group last read
	own table  // space for t when it is not a cached one
}

func (r *reader) read(a journal.Address) (journal.Record, error) {
	s := r.j.segmentOf(a.Position)
	if s == nil || a.Position > r.end || s.offset(a.Position) < segmentHeaderBytes || s.offset(a.Position)%groupAlign != 0 {
		return journal.Record{}, fmt.Errorf("%w: position %d", journal.ErrReleased, a.Position)
	}
	record, err := r.readIn(s, a)
	switch {
	case err == nil:
		return record, nil
	case errors.Is(err, errGone):
		return record, fmt.Errorf("%w: position %d", journal.ErrReleased, a.Position)
	}
	if d := new(journal.DamageError); errors.As(err, &d) {
		d.Record = a
	}
	return record, err
}

func (r *reader) readIn(s *segment, a journal.Address) (journal.Record, error) {
	offset := s.offset(a.Position)
	r.w.expect(s, offset)
	if r.t == nil || r.t.header.position != a.Position {
		if err := r.load(s, a.Position); err != nil {
			r.t = nil
			if errors.Is(err, errGroup) {
				return journal.Record{}, s.notAGroup(offset, err)
			}
			return journal.Record{}, err
		}
	}
	if int64(a.Index) >= int64(len(r.t.entries)) {
		return journal.Record{}, fmt.Errorf("%w: position %d has %d records, there is no index %d", journal.ErrReleased, a.Position, len(r.t.entries), a.Index)
	}
	e := &r.t.entries[a.Index]
	record := journal.Record{Queue: e.queue, Life: e.life, Sequence: e.sequence}
	both := make([]byte, e.headLen+e.bodyLen) // the caller's
	record.Head, record.Body = both[:e.headLen:e.headLen], both[e.headLen:]
	copy(record.Head, r.t.meta[e.head:])
	if err := r.body(s, offset+e.body, offset+r.t.header.length, record.Body); err != nil {
		return journal.Record{}, err
	}
	if err := e.verifyBody(checksum(record.Body)); err != nil {
		return journal.Record{}, s.damage(offset+e.body, fmt.Sprintf("record %d of the group at position %d: %v", a.Index, a.Position, err))
	}
	return record, nil
}

// body fills b from the file, through the window when it is small.
func (r *reader) body(s *segment, offset, limit int64, b []byte) error {
	if len(b) == 0 {
		return nil
	}
	if len(b) > windowBytes/4 {
		return s.readAt(b, offset)
	}
	got, err := r.w.bytes(offset, int64(len(b)), max(limit, min(offset+r.w.ahead, s.size)))
	if err != nil {
		return err
	}
	copy(b, got)
	return nil
}

// load makes t the table of the group at p.
func (r *reader) load(s *segment, p journal.Position) error {
	if t := r.j.cache.get(p); t != nil {
		r.t = t
		return nil
	}
	offset := s.offset(p)
	b, err := r.w.bytes(offset, min(groupHeaderBytes, s.size-offset), s.size)
	if err != nil {
		return err
	}
	h, err := decodeHeader(b, s.generation, p, s.size-offset)
	if err != nil {
		return err
	}
	if b, err = r.w.bytes(offset, h.metaBytes(), s.size); err != nil {
		return err
	}
	if err := h.verifyMeta(b, s.generation); err != nil {
		return err
	}
	t := &r.own
	if h.metaBytes() >= cacheMinTable {
		t = &table{entries: make([]entry, 0, h.count)}
	}
	t.header = h
	t.meta = append(t.meta[:0], b...)
	if t.entries, err = h.decodeTable(t.meta, t.entries[:0]); err != nil {
		return err
	}
	if t != &r.own {
		r.j.cache.put(t)
	}
	r.t = t
	return nil
}

// notAGroup tells an address that never was one from damage: it walks to the place where the group should begin.
func (s *segment) notAGroup(offset int64, why error) error {
	w := newWalker(s, segmentHeaderBytes, s.size)
	for w.offset < offset {
		if err := w.next(); err != nil {
			if errors.Is(err, errGroup) {
				return s.damage(w.offset, err.Error())
			}
			return err
		}
	}
	if w.offset > offset {
		return fmt.Errorf("%w: there is no group at position %d", journal.ErrReleased, s.at(offset))
	}
	return s.damage(offset, why.Error())
}
