package file

import (
	"context"
	"errors"
	"fmt"

	"github.com/hikyaku/hikyaku/internal/journal"
)

// Read implements journal.Journal. Records are visited in the order in which they lie in the files; neighbours are read
// together.
func (j *Journal) Read(ctx context.Context, addrs []journal.Address,
	each func(i int, r journal.Record, err error)) error {
	r := reader{j: j, end: journal.Position(j.end.Load())}
	last := journal.Position(0)
	for _, a := range addrs {
		if a.Position <= r.end {
			last = max(last, a.Position)
		}
	}
	if err := j.readable(last); err != nil {
		return fmt.Errorf("read from journal %s: %w", j.dir, err)
	}
	places := j.locateAll(addrs, r.end)
	defer func() {
		if r.w != nil {
			j.windows.put(r.w)
		}
	}()
	for i := range places {
		if p := &places[i]; p.s != nil {
			r.w = j.windows.take(p.s, p.group)
			break
		}
	}
	for i := range places {
		p := &places[i]
		r.next = places[i+1:]
		if err := ctx.Err(); err != nil {
			return err
		}
		r.far.readAhead(&r, places, i)
		record, err := r.read(p, addrs[p.i])
		each(p.i, record, err)
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

// reader reads records, in rising order of their places where speed matters.
type reader struct {
	j    *Journal
	end  journal.Position
	w    *window
	t    *table   // the group last read
	in   *segment // where it is
	own  table    // space for t when it is not a cached one
	got  stretch  // the records last copied, of that group
	next []spot   // what will be asked for
	far  outlook  // and was asked of the medium
}

// read reads the record of an address, which is moved perhaps just now.
func (r *reader) read(p *spot, a journal.Address) (journal.Record, error) {
	var err error
	for p.s != nil {
		var e *entry
		var record journal.Record
		record, e, err = r.fetch(p)
		if err == nil && p.s.moved {
			err = r.expectOrigin(p, e, a)
		}
		if err == nil {
			if err = e.verifyBody(checksum(record.Body)); err == nil {
				return record, nil
			}
			err = p.s.damage(p.group+e.body, fmt.Sprintf("record %d of the group at position %d: %v", a.Index,
				a.Position, err))
		}
		if !errors.Is(err, errGone) {
			break
		}
		before := p.s
		if *p = r.j.locate(p.i, a, r.end); p.s == before {
			break
		}
	}
	if p.s == nil || errors.Is(err, errGone) {
		return journal.Record{}, fmt.Errorf("%w: position %d", journal.ErrReleased, a.Position)
	}
	if d := new(journal.DamageError); errors.As(err, &d) {
		d.Record = a
	}
	return journal.Record{}, err
}

// fetch reads the record at a place, which is the caller's, and does not verify its body. The entry is valid until the
// next call.
func (r *reader) fetch(p *spot) (journal.Record, *entry, error) {
	if r.t == nil || r.in != p.s || int64(r.t.header.position-p.s.base) != p.group {
		if err := r.load(p.s, p.s.at(p.group)); err != nil {
			r.t = nil
			switch {
			case !errors.Is(err, errGroup):
				return journal.Record{}, nil, err
			case p.s.moved: // the footer says that there is one
				return journal.Record{}, nil, p.s.damage(p.group, err.Error())
			}
			return journal.Record{}, nil, p.s.notAGroup(p.group, err)
		}
		r.in = p.s
	}
	if want := kindOf(p.s); len(r.t.entries) > 0 && r.t.header.kind != want {
		return journal.Record{}, nil,
			p.s.damage(p.group, fmt.Sprintf("a group of kind %d, not %d", r.t.header.kind, want))
	}
	if int64(p.index) >= int64(len(r.t.entries)) {
		if p.s.moved {
			return journal.Record{}, nil,
				p.s.damage(p.group, fmt.Sprintf("the group has %d records, there is no index %d", len(r.t.entries),
					p.index))
		}
		return journal.Record{}, nil, fmt.Errorf("%w: position %d has %d records, there is no index %d",
			journal.ErrReleased, p.s.at(p.group), len(r.t.entries), p.index)
	}
	if !r.got.has(p) {
		if err := r.copyStretch(p); err != nil {
			return journal.Record{}, nil, err
		}
	}
	e := &r.t.entries[p.index]
	record := journal.Record{Queue: e.queue, Life: e.life, Sequence: e.sequence}
	record.Head, record.Body = r.got.take(p.index, e)
	if p.s.moved {
		if len(record.Head) < originBytes {
			return journal.Record{}, nil,
				p.s.damage(p.group, fmt.Sprintf("record %d does not say where it comes from", p.index))
		}
		record.Head = record.Head[originBytes:]
	}
	return record, e, nil
}

// kindOf is the kind of the groups with records in a segment.
func kindOf(s *segment) kind {
	if s.moved {
		return kindMoved
	}
	return kindRecords
}

// expectOrigin makes sure that the moved record last read is the one of that address.
func (r *reader) expectOrigin(p *spot, e *entry, a journal.Address) error {
	o, err := decodeOrigin(r.t.meta[e.head:][:e.headLen])
	if err != nil {
		return p.s.damage(p.group, err.Error())
	}
	if o.address() != a {
		return fmt.Errorf("%w: there is no record %d at position %d", journal.ErrReleased, a.Index, a.Position)
	}
	return nil
}

// load makes t the table of the group at p.
func (r *reader) load(s *segment, p journal.Position) error {
	if t := r.j.cache.get(s.generation, p); t != nil {
		r.t = t
		return nil
	}
	offset := s.offset(p)
	r.w.expect(s, offset)
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
		return s.named(err)
	}
	t := &r.own
	if h.metaBytes() >= cacheMinTable || s.moved && h.count > 1 {
		t = &table{entries: make([]entry, 0, h.count)}
	}
	t.header = h
	t.meta = append(t.meta[:0], b...)
	if t.entries, err = h.decodeTable(t.meta, t.entries[:0]); err != nil {
		return err
	}
	if t != &r.own {
		r.j.cache.put(s.generation, t)
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
