package farend

import (
	"sync"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"
)

// stream is a request and its answer. The reader's goroutine fills it; from the moment the answer is made it belongs to
// whoever holds its connection's lock.
type stream struct {
	c      *conn
	id     uint32
	fields []hpack.HeaderField
	body   []byte
	ended  bool // the client sent all
	whole  bool // it was handled: only its answer is missing
	gone   bool // no answer is wanted any more

	answer   Answer
	block    []byte // the answer's header block
	rest     []byte // of the answer's body, that no window let through yet
	window   int64
	fault    *Fault
	silent   bool
	idHash   uint64
	unitHash uint64 // of the device
}

// streams are used again: a request should cost no garbage but its strings.
var streams = sync.Pool{New: func() any { return new(stream) }}

func newStream(c *conn, id uint32) *stream {
	st := streams.Get().(*stream)
	answer := st.answer
	answer.Clear()
	*st = stream{c: c, id: id, fields: st.fields[:0], body: st.body[:0], block: st.block[:0], window: c.initial,
		answer: answer}
	return st
}

// release gives a stream back that was answered.
func release(st *stream) {
	clear(st.fields)
	st.c = nil
	streams.Put(st)
}

// handle asks the service about a request that is whole, and arranges for its answer.
func (c *conn) handle(st *stream) {
	s := c.s
	s.ledger.requests.Add(1)
	r, a := &c.request, &st.answer
	c.describe(r, st)
	s.service.Serve(r, a)
	s.tellRefusal(a)
	c.heed(a.Trust)
	p := s.plan.Load()
	wait := p.Latency
	if a.Device != "" {
		st.unitHash, st.idHash = s.ledger.hash(a.Device), s.ledger.hash(a.ID)
		if a.accepted() {
			wait, st.fault = p.choose(a.Device, st.unitHash, c.rng)
			if st.fault != nil && st.fault.Do == Refuse {
				refuse(s.service, r, a, st.fault)
			}
		}
	}
	if s.config.Keep > 0 {
		s.ledger.note(r, a)
	}
	st.block = appendHeader(st.block, a)
	c.mu.Lock()
	st.whole = true
	gone := st.gone
	c.mu.Unlock()
	if gone {
		return // a GOAWAY left it unprocessed while it came in
	}
	if f := st.fault; f != nil {
		c.strike(f)
	}
	if d := wait.draw(c.rng); d > 0 {
		s.wheel.add(st, d)
		return
	}
	c.respond(st, false)
}

// describe fills in the request that the service sees.
func (c *conn) describe(r *Request, st *stream) {
	r.Method, r.Path, r.Authority = "", "", ""
	n := 0
	for i := range st.fields {
		f := &st.fields[i]
		if f.Name == "" || f.Name[0] != ':' {
			break
		}
		switch f.Name {
		case ":method":
			r.Method = f.Value
		case ":path":
			r.Path = f.Value
		case ":authority":
			r.Authority = f.Value
		}
		n++
	}
	r.From, r.Fields, r.Body, r.TLS, r.Memory = c.from, st.fields[n:], st.body, c.state, &c.memory
}

// respond gives a stream its answer, or what its fault makes of it. Any goroutine may call it; tell says that the
// writer is to be told at once.
func (c *conn) respond(st *stream, tell bool) {
	c.mu.Lock()
	if st.gone || c.closed {
		c.mu.Unlock()
		return
	}
	l := c.s.ledger
	if f := st.fault; f != nil && c.spoil(st, f) {
		c.mu.Unlock()
		c.tell()
		return
	}
	if st.answer.Device != "" || st.answer.Reason != "" {
		if st.answer.accepted() {
			l.processed(st.idHash, st.unitHash)
		} else {
			l.refuse(st.answer.Reason)
		}
	}
	c.answers++
	c.answered = max(c.answered, st.id)
	if done := c.send(st); done {
		c.finished(st)
		release(st)
	}
	full := len(c.out) >= flushBytes
	c.mu.Unlock()
	if tell || full {
		c.tell()
	}
}

// finished forgets a stream, and ends a connection that is leaving with its last one. c.mu is held.
func (c *conn) finished(st *stream) {
	delete(c.streams, st.id)
	if !st.ended {
		c.resetStream(st.id, http2.ErrCodeNo) // answered before it was all sent
	}
	c.leaveIfDone()
}

func (c *conn) leaveIfDone() {
	if c.leaving && c.ending == goOn && len(c.streams) == c.silent {
		c.ending = closeIt
	}
}

// cancelled forgets a stream that the client reset.
func (c *conn) cancelled(id uint32) {
	c.mu.Lock()
	defer c.mu.Unlock()
	st := c.streams[id]
	if st == nil {
		return
	}
	c.s.ledger.cancelled.Add(1)
	st.gone = true
	if st.silent {
		c.silent--
	}
	delete(c.streams, id)
	c.leaveIfDone()
}
