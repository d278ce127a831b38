package farend

import (
	"errors"
	"io"
	"math"
	"net"
	"slices"
	"strconv"
	"time"

	"golang.org/x/net/http2"
)

// refuse makes an answer the refusal that a fault names.
func refuse(service Service, r *Request, a *Answer, f *Fault) {
	service.Refuse(r, a, f.Reason)
	if f.RetryAfter > 0 {
		a.Set("retry-after", strconv.Itoa(f.RetryAfter))
	}
}

// strike lets a fault happen that befalls the connection.
func (c *conn) strike(f *Fault) {
	switch f.Do {
	case GoAway:
		c.goAway(f.Unprocessed)
	case ResetConnection:
		c.breakOff(f.Processed, nil)
	case SlowRead:
		c.tell()
		select {
		case <-time.After(time.Duration(f.For)): // a reader that is slow is one that waits for a clock
		case <-c.over:
		}
	}
}

// spoil lets a fault happen that befalls the answer alone; false when it is another fault. c.mu is held.
func (c *conn) spoil(st *stream, f *Fault) bool {
	switch f.Do {
	case ResetStream:
		c.missed(st, f.Processed && f.code() != http2.ErrCodeRefusedStream)
		c.resetStream(st.id, f.code())
		c.answered = max(c.answered, st.id)
		st.ended = true // it is reset already
		c.finished(st)
	case Silence:
		c.missed(st, f.Processed)
		st.silent = true
		c.silent++
		c.answered = max(c.answered, st.id)
		c.leaveIfDone()
	case Half:
		c.missed(st, true)
		st.gone = true
		delete(c.streams, st.id)
		frame := appendFrame(nil, len(st.block), http2.FrameHeaders,
			http2.FlagHeadersEndHeaders|http2.FlagHeadersEndStream, st.id)
		frame = append(frame, st.block...)
		c.breakOffLocked(false, frame[:len(frame)/2])
	default:
		return false
	}
	return true
}

// missed counts a message that gets no answer. c.mu is held.
func (c *conn) missed(st *stream, processed bool) {
	l := c.s.ledger
	switch {
	case st.answer.Device == "" || !st.answer.accepted():
	case processed:
		l.processed(st.idHash, st.unitHash)
		l.lost.Add(1)
	default:
		l.unprocessed.Add(1)
	}
}

// goAway tells the client to go. Of the streams in flight the newest share stays unprocessed, as far as they are newer
// than any that was answered; the others get their answers, and then the connection is closed.
func (c *conn) goAway(share float64) {
	c.mu.Lock()
	defer c.tell()
	defer c.mu.Unlock()
	if c.leaving || c.ending != goOn || c.closed || !c.greeted {
		return
	}
	ids := make([]uint32, 0, len(c.streams))
	for id := range c.streams {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	drop := int(math.Round(share * float64(len(ids))))
	for drop > 0 && ids[len(ids)-1] > c.answered {
		id := ids[len(ids)-1]
		ids = ids[:len(ids)-1]
		st := c.streams[id]
		st.gone = true
		delete(c.streams, id)
		if st.whole {
			c.missed(st, false)
		}
		drop--
	}
	c.leaving, c.last = true, c.answered
	if len(ids) > 0 {
		c.last = max(c.last, ids[len(ids)-1])
	}
	const why = `{"reason":"Shutdown"}`
	c.out = appendFrame(c.out, 8+len(why), http2.FrameGoAway, 0, 0)
	c.out = appendUint32(c.out, c.last)
	c.out = appendUint32(c.out, uint32(http2.ErrCodeNo))
	c.out = append(c.out, why...)
	c.s.ledger.goAways.Add(1)
	c.leaveIfDone()
}

// breakOff resets the connection when what was answered so far, and parting, is written.
func (c *conn) breakOff(processed bool, parting []byte) {
	c.mu.Lock()
	c.breakOffLocked(processed, parting)
	c.mu.Unlock()
	c.tell()
}

func (c *conn) breakOffLocked(processed bool, parting []byte) {
	if c.ending == resetIt || c.closed {
		return
	}
	c.ending = resetIt
	c.out = append(c.out, parting...)
	c.s.ledger.resets.Add(1)
	for _, st := range c.streams {
		st.gone = true
		if st.whole && !st.silent {
			c.missed(st, processed)
		}
	}
	clear(c.streams)
	c.silent = 0
}

// protest ends a connection whose client broke the rules.
func (c *conn) protest(code http2.ErrCode) {
	c.mu.Lock()
	c.out = appendFrame(c.out, 8, http2.FrameGoAway, 0, 0)
	c.out = appendUint32(c.out, c.newest)
	c.out = appendUint32(c.out, uint32(code))
	if c.ending == goOn {
		c.ending = closeIt
	}
	c.mu.Unlock()
	c.tell()
	c.drain()
}

// failed looks at why nothing more can be read.
func (c *conn) failed(err error) {
	var breach http2.ConnectionError
	var stream http2.StreamError
	switch {
	case errors.As(err, &breach):
		c.breach(http2.ErrCode(breach))
		c.protest(http2.ErrCode(breach))
	case errors.As(err, &stream), errors.Is(err, http2.ErrFrameTooLarge):
		c.breach(http2.ErrCodeProtocol)
		c.protest(http2.ErrCodeProtocol)
	}
}

// drain reads until the client has closed its side, so that the kernel does not reset what it has yet to read.
func (c *conn) drain() {
	c.tcp.SetReadDeadline(time.Now().Add(partingTime))
	io.Copy(io.Discard, c.br) // only the end is of interest
}

// part ends the connection after its last words.
func (c *conn) part(how ending) {
	if how == resetIt {
		waitDelivered(c.tcp, c.over) // what was answered is not lost
		c.tcp.SetLinger(0)
		c.end()
		return
	}
	if half, ok := c.nc.(interface{ CloseWrite() error }); ok && c.nc != net.Conn(c.tcp) {
		half.CloseWrite()
	}
	c.tcp.CloseWrite()
	c.tcp.SetReadDeadline(time.Now().Add(partingTime)) // the reader ends by then
}

// end closes the connection at once. It may be called often.
func (c *conn) end() {
	c.mu.Lock()
	if c.closed {
		c.mu.Unlock()
		return
	}
	c.closed = true
	close(c.over)
	c.mu.Unlock()
	c.tcp.Close()
}

// abandon counts what the end of the connection left unprocessed, and answers that were not written.
func (c *conn) abandon() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.s.ledger.lost.Add(int64(c.answers))
	for _, st := range c.streams {
		if st.whole && !st.silent && !st.gone {
			c.missed(st, false)
		}
	}
	clear(c.streams)
}
