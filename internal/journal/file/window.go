package file

import "hash/crc32"

const (
	windowBytes = 256 << 10 // how much a walk reads at once; what is not needed and longer is jumped over
	windowFirst = 4 << 10   // how much a read of one record begins with
	windowOn    = 512 << 10 // how much is read at once by who reads records one behind the other
	windowNear  = 64 << 10  // what lies at most so far behind a window is read on
	windowAhead = 2 << 20   // how far the medium is asked to go ahead of a walk
)

// window reads a segment in large steps for somebody who looks at small pieces in rising order.
type window struct {
	s     *segment
	buf   *[]byte // may come from a pool; made at the first use when nil
	from  int64   // offset of buf[0]
	n     int     // sound bytes in buf
	ahead int64   // how much to read at once; 0 for a walk: windowBytes
	fixed bool    // s was sealed when it was first read: its bytes do not change
	asked int64   // the medium was asked for what lies before this offset
}

// bytes returns n bytes at offset, valid until the next call. limit is the end of what may be read.
func (w *window) bytes(offset int64, n int64, limit int64) ([]byte, error) {
	if offset >= w.from && offset+n <= w.from+int64(w.n) {
		return (*w.buf)[offset-w.from:][:n:n], nil
	}
	ahead := w.ahead
	if ahead == 0 {
		ahead = windowBytes
	}
	want := min(max(n, ahead), limit-offset)
	if want < n {
		want = n // fails at the end of the file, with an error that says so
	}
	if w.buf == nil {
		w.buf = new([]byte)
	}
	if int64(cap(*w.buf)) < want {
		*w.buf = make([]byte, want)
	}
	*w.buf = (*w.buf)[:want]
	end := w.from + int64(w.n)
	on := w.n > 0 && offset >= w.from && offset <= end+windowNear
	w.n = 0
	if err := w.s.readAt(*w.buf, offset); err != nil {
		return nil, err
	}
	w.from, w.n = offset, int(want)
	// the advice costs the kernel more than the reading of large pieces, and there are mostly several who read records
	if on && w.ahead == 0 {
		w.readAhead()
	}
	return (*w.buf)[:n:n], nil
}

// expect prepares for a piece at offset: if it lies just behind what is there, pieces are read one after the other and
// larger steps pay; if not, only little is read.
func (w *window) expect(s *segment, offset int64) {
	if w.s != s {
		w.s, w.n, w.asked, w.fixed = s, 0, 0, s.moved || s.sealedEnd.Load() > 0
	}
	switch end := w.from + int64(w.n); {
	case w.n > 0 && offset >= w.from && offset < end:
	case w.n > 0 && offset >= end && offset < end+windowNear:
		w.ahead = min(2*w.ahead, windowOn)
	default:
		w.ahead = windowFirst
	}
}

// readAhead asks the medium for what comes next when somebody reads on and on.
func (w *window) readAhead() {
	end := w.from + int64(w.n)
	if w.n < windowBytes/2 || w.asked > end+windowAhead/2 {
		return
	}
	from := max(end, w.asked)
	w.asked = min(end+windowAhead, w.s.size)
	if from < w.asked {
		w.s.willNeed(from, w.asked-from)
	}
}

// walker steps through the groups of a segment, reading headers, tables and heads.
type walker struct {
	w       window
	offset  int64 // of the next group
	limit   int64 // no group reaches beyond it
	header  header
	meta    []byte // of the group last read, valid until the next step
	entries []entry
}

func newWalker(s *segment, offset, limit int64) *walker {
	return &walker{w: window{s: s}, offset: offset, limit: limit}
}

// next reads the group at offset and moves behind it. Errors that wrap errGroup mean that there is no sound group;
// the offset stays then.
func (k *walker) next() error {
	s := k.w.s
	b, err := k.w.bytes(k.offset, min(groupHeaderBytes, max(0, k.limit-k.offset)), k.limit)
	if err != nil {
		return err
	}
	h, err := decodeHeader(b, s.generation, s.at(k.offset), k.limit-k.offset)
	if err != nil {
		return err
	}
	meta, err := k.w.bytes(k.offset, h.metaBytes(), k.limit)
	if err != nil {
		return err
	}
	if err := h.verifyMeta(meta, s.generation); err != nil {
		return s.named(err)
	}
	if k.entries, err = h.decodeTable(meta, k.entries[:0]); err != nil {
		return err
	}
	k.header, k.meta = h, meta
	k.offset += h.length
	return nil
}

// at is the offset of the group last read.
func (k *walker) at() int64 { return k.offset - k.header.length }

// verifyBodies reads and checks the bodies of the group last read. meta is no longer valid afterwards. Bodies are
// read in pieces, so that a large one needs no memory of its size.
func (k *walker) verifyBodies(damaged func(i int, err error)) error {
	base := k.at()
	for i := range k.entries {
		e := &k.entries[i]
		sum := uint32(0)
		for done := int64(0); done < int64(e.bodyLen); {
			n := min(windowBytes, int64(e.bodyLen)-done)
			b, err := k.w.bytes(base+e.body+done, n, k.limit)
			if err != nil {
				return err
			}
			sum = crc32.Update(sum, castagnoli, b)
			done += n
		}
		if err := e.verifyBody(sum); err != nil {
			damaged(i, err)
		}
	}
	return nil
}
