package push

import (
	"strconv"
	"time"

	"github.com/hikyaku/hikyaku/internal/push/wire"
)

// pieceLen is how much leaves in one write: one TLS record, which arrives whole or not at all.
const pieceLen = 16384

// writer is what the writer of a connection works with.
type writer struct {
	k         *conn
	encoder   *wire.Encoder
	tableLow  uint32
	tableSize uint32
	buf       []byte
	block     []byte
	parts     []part
	frame     int // how large a frame may be
	lengths   [4097]string
}

// part is what one request adds to a piece.
type part struct {
	call     *Call
	request  *Request
	stream   uint32
	sized    bool
	head     bool // its header, too
	from, to int  // of the body
	end      bool
	upTo     int // where it ends in the piece
}

// write writes until the connection ends: whatever has gathered while the last piece was on its way leaves as the next.
func (w *writer) write() {
	k, c := w.k, w.k.c
	defer close(k.written)
	var out answers
	for {
		c.mu.Lock()
		now := c.tickNow()
		ended := k.dead != nil
		w.take(&out)
		if len(w.buf) == 0 && len(w.parts) == 0 && !ended {
			k.parked = len(out.list) == 0
			parked := k.parked
			c.mu.Unlock()
			out.give(c)
			if parked {
				<-k.wake
			}
			continue
		}
		k.writing, k.since = true, now
		c.count.Writes++
		if c.waiting() > 0 {
			c.kick()
		}
		c.mu.Unlock()
		out.give(c)

		w.encoder.SetTableSize(w.tableLow)
		w.encoder.SetTableSize(w.tableSize)
		for i := range w.parts {
			w.encode(&w.parts[i])
		}
		n, err := w.flush()

		c.mu.Lock()
		c.tickNow()
		k.writing, k.stalled = false, false
		w.mark(n)
		if err != nil {
			k.broken(err)
			for _, call := range k.byAge() {
				if call.sent.IsZero() {
					c.again(call, &out)
				}
			}
			c.kick()
		}
		c.mu.Unlock()
		if err != nil || ended {
			out.give(c)
			return
		}
	}
}

// take gathers the next piece: control frames, bodies that wait, and requests from the line. Under the mutex.
func (w *writer) take(out *answers) {
	k, c := w.k, w.k.c
	clear(w.parts)
	w.parts = w.parts[:0]
	w.buf = append(w.buf[:0], k.control...)
	k.control = k.control[:0]
	if k.dead != nil {
		return
	}
	w.tableLow, w.tableSize, w.frame = k.tableLow, k.tableSize, k.peerFrame
	k.tableLow = k.tableSize
	room := pieceLen - len(w.buf)
	for i := len(k.pending); i > 0 && room > 2*wire.HeaderLen && k.window > 0; i-- {
		call := k.pending[0]
		k.pending = append(k.pending[:0], k.pending[1:]...)
		if call.state != given || call.conn != k {
			continue
		}
		p := k.part(call, room-wire.HeaderLen)
		room -= wire.HeaderLen + p.to - p.from
		w.parts = append(w.parts, p)
	}
	for call := c.first(k); call != nil && k.free() > 0; call = c.first(k) {
		if uint32(min(call.list, 1<<30)) > k.peerList {
			c.finish(call, Result{Err: ErrTooManyFields, Unprocessed: true}, out)
			continue
		}
		if len(call.request.Body) > 0 && k.window <= 0 || call.bound > room && room < pieceLen {
			break
		}
		c.leave(call)
		call.state, call.conn, call.stream = given, k, k.next
		call.window = k.peerWindow
		call.tries++
		if len(k.streams) == 0 {
			c.due(k.heard + c.config.PingAfter) // from here on silence is suspicious
		}
		k.streams[k.next] = call
		if k.next += 2; k.next > spentStreams {
			k.aged = true
		}
		p := k.part(call, pieceLen)
		p.head = true
		room -= call.bound
		w.parts = append(w.parts, p)
		if k.next >= wire.MaxStream-2 {
			k.retire(errAge)
			break
		}
		if room <= 0 {
			break
		}
	}
}

// part takes as much of a body as both windows and the room allow.
func (k *conn) part(call *Call, room int) part {
	r := call.request
	n := max(0, min(int64(len(r.Body)-call.offset), call.window, k.window, int64(room)))
	p := part{call: call, request: r, stream: call.stream, sized: call.sized, from: call.offset,
		to: call.offset + int(n)}
	call.offset = p.to
	call.window -= n
	k.window -= n
	switch {
	case p.to == len(r.Body):
		p.end, call.ending = true, true
	case call.window <= 0:
		call.blocked = true
	default:
		k.pending = append(k.pending, call)
	}
	return p
}

// encode appends a part's frames to the piece.
func (w *writer) encode(p *part) {
	r := p.request
	body := r.Body[p.from:p.to]
	if p.head {
		at := len(w.buf)
		w.buf = append(w.buf, make([]byte, wire.HeaderLen)...)
		w.buf = w.encoder.Begin(w.buf, r.Method, w.k.c.secure != nil, w.k.c.config.Authority, r.Path)
		for i := range r.Header {
			f := &r.Header[i]
			w.buf = w.encoder.Field(w.buf, f.Name, f.Value, f.Sensitive)
		}
		if len(r.Body) > 0 && !p.sized {
			w.buf = w.encoder.Field(w.buf, "content-length", w.lengthText(len(r.Body)), false)
		}
		var flags uint8
		if len(r.Body) == 0 {
			flags = wire.FlagEndStream
		}
		w.header(at, flags, p.stream)
	}
	for first := true; len(body) > 0 || first && !p.head && p.end; first = false {
		n := min(len(body), w.frame)
		var flags uint8
		if p.end && n == len(body) {
			flags = wire.FlagEndStream
		}
		w.buf = wire.AppendFrame(w.buf, wire.TypeData, flags, p.stream, body[:n])
		body = body[n:]
	}
	p.upTo = len(w.buf)
}

// header makes the block that lies after an empty frame header at the given place into a HEADERS frame, and
// CONTINUATIONs if it is too long for one.
func (w *writer) header(at int, flags uint8, stream uint32) {
	size := len(w.buf) - at - wire.HeaderLen
	if size <= w.frame {
		wire.AppendHeader(w.buf[at:at], size, wire.TypeHeaders, flags|wire.FlagEndHeaders, stream)
		return
	}
	w.block = append(w.block[:0], w.buf[at+wire.HeaderLen:]...)
	w.buf = w.buf[:at]
	kind := uint8(wire.TypeHeaders)
	for rest := w.block; len(rest) > 0; kind, flags = wire.TypeContinuation, 0 {
		n := min(len(rest), w.frame)
		if n == len(rest) {
			flags |= wire.FlagEndHeaders
		}
		w.buf = wire.AppendFrame(w.buf, kind, flags, stream, rest[:n])
		rest = rest[n:]
	}
}

// flush writes the piece and tells how many bytes of it surely left. (All that it cannot be sure of is the last record,
// and that one the far end cannot read unless it is whole.) The keeper sees to it that it ends.
func (w *writer) flush() (n int, err error) {
	for n < len(w.buf) {
		m, err := w.k.rw.Write(w.buf[n:min(len(w.buf), n+pieceLen)])
		n += m
		if err != nil {
			return n, err
		}
	}
	return n, nil
}

// mark notes which requests have left. Under the mutex.
func (w *writer) mark(n int) {
	var now time.Time
	for i := range w.parts {
		p := &w.parts[i]
		if p.end && p.upTo <= n && p.call.conn == w.k && p.call.stream == p.stream && p.call.state == given {
			if now.IsZero() {
				now = time.Now()
			}
			p.call.sent = now
		}
	}
}

// lengthText is a content-length. Those that pushes have are made once.
func (w *writer) lengthText(n int) string {
	if n >= len(w.lengths) {
		return strconv.Itoa(n)
	}
	if w.lengths[n] == "" {
		w.lengths[n] = strconv.Itoa(n)
	}
	return w.lengths[n]
}
