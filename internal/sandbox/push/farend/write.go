package farend

import (
	"time"

	"golang.org/x/net/http2"
)

const partingTime = 2 * time.Second // a client has to notice that a connection has ended

// greet sends the settings.
func (c *conn) greet() {
	c.mu.Lock()
	defer c.mu.Unlock()
	limit := c.rule()
	c.greeted, c.lastTold = true, limit
	c.told = append(c.told, limit)
	room, size := c.s.config.MaxBody+bodyBeyond, 12 // of a stream
	if room > firstWindow {
		size += 6
	}
	c.out = appendFrame(c.out, size, http2.FrameSettings, 0, 0)
	if room > firstWindow {
		c.out = append(c.out, 0, byte(http2.SettingInitialWindowSize))
		c.out = appendUint32(c.out, uint32(room))
	}
	c.out = append(c.out, 0, byte(http2.SettingMaxConcurrentStreams))
	c.out = appendUint32(c.out, limit)
	c.out = append(c.out, 0, byte(http2.SettingMaxHeaderListSize))
	c.out = appendUint32(c.out, maxHeaderList)
	if more := c.s.config.Window - firstWindow; more > 0 {
		c.out = appendFrame(c.out, 4, http2.FrameWindowUpdate, 0, 0)
		c.out = appendUint32(c.out, uint32(more))
	}
	c.tell()
}

// rule is the limit of streams that goes for the connection now. c.mu is held.
func (c *conn) rule() uint32 {
	p := c.s.plan.Load()
	if p.OneUntilTrusted && !c.trusted {
		return min(1, p.limit)
	}
	return p.limit
}

// retell sends the limit of streams if it has changed.
func (c *conn) retell() {
	c.mu.Lock()
	limit := c.rule()
	if limit != c.lastTold && c.greeted && c.ending == goOn {
		c.lastTold = limit
		c.told = append(c.told, limit)
		c.out = appendFrame(c.out, 6, http2.FrameSettings, 0, 0)
		c.out = append(c.out, 0, byte(http2.SettingMaxConcurrentStreams))
		c.out = appendUint32(c.out, limit)
	}
	c.mu.Unlock()
	c.tell()
}

// heed changes the limit when a token was found good or bad.
func (c *conn) heed(t Trust) {
	if t == NoToken {
		return
	}
	trusted := t == Trusted
	c.mu.Lock()
	changed := c.trusted != trusted
	c.trusted = trusted
	c.mu.Unlock()
	if changed {
		c.retell()
	}
}

func (c *conn) settings(f *http2.SettingsFrame) http2.ErrCode {
	c.mu.Lock()
	defer c.mu.Unlock()
	if f.IsAck() {
		if len(c.told) > 0 {
			c.limit = c.told[0]
			for _, later := range c.told[1:] {
				c.limit = max(c.limit, later) // it may have seen that one already
			}
			c.told = c.told[1:]
		}
		return http2.ErrCodeNo
	}
	if v, ok := f.Value(http2.SettingInitialWindowSize); ok {
		if v > 1<<31-1 {
			return http2.ErrCodeFlowControl
		}
		more := int64(v) - c.initial
		c.initial = int64(v)
		for _, st := range c.streams {
			st.window += more
		}
		c.unblock()
	}
	c.out = appendFrame(c.out, 0, http2.FrameSettings, http2.FlagSettingsAck, 0)
	c.tell()
	return http2.ErrCodeNo
}

func (c *conn) windowUpdate(f *http2.WindowUpdateFrame) http2.ErrCode {
	c.mu.Lock()
	defer c.mu.Unlock()
	if f.StreamID == 0 {
		c.window += int64(f.Increment)
		if c.window > 1<<31-1 {
			return http2.ErrCodeFlowControl
		}
	} else if st := c.streams[f.StreamID]; st != nil {
		st.window += int64(f.Increment)
	}
	c.unblock()
	return http2.ErrCodeNo
}

// unblock goes on with answers that waited for a window. c.mu is held.
func (c *conn) unblock() {
	if len(c.blocked) == 0 {
		return
	}
	waiting := c.blocked
	c.blocked = nil
	for _, st := range waiting {
		if st.gone {
			continue
		}
		if c.sendBody(st) {
			c.finished(st)
		}
	}
}

// send appends an answer to out, and tells whether that was all of it. c.mu is held.
func (c *conn) send(st *stream) bool {
	flags := http2.FlagHeadersEndHeaders
	if len(st.answer.Body) == 0 {
		flags |= http2.FlagHeadersEndStream
	}
	c.out = appendFrame(c.out, len(st.block), http2.FrameHeaders, flags, st.id)
	c.out = append(c.out, st.block...)
	if len(st.answer.Body) == 0 {
		return true
	}
	st.rest = st.answer.Body
	return c.sendBody(st)
}

// sendBody sends as much of an answer's body as the windows let through. c.mu is held.
func (c *conn) sendBody(st *stream) bool {
	for {
		n := min(int64(len(st.rest)), c.window, st.window, largestFrame)
		if n <= 0 {
			c.blocked = append(c.blocked, st)
			return false
		}
		var flags http2.Flags
		if int(n) == len(st.rest) {
			flags = http2.FlagDataEndStream
		}
		c.out = appendFrame(c.out, int(n), http2.FrameData, flags, st.id)
		c.out = append(c.out, st.rest[:n]...)
		st.rest = st.rest[n:]
		c.window -= n
		st.window -= n
		if flags != 0 {
			return true
		}
	}
}

// resetStream appends a RST_STREAM. c.mu is held.
func (c *conn) resetStream(id uint32, code http2.ErrCode) {
	c.out = appendFrame(c.out, 4, http2.FrameRSTStream, 0, id)
	c.out = appendUint32(c.out, uint32(code))
}

func (c *conn) ping(f *http2.PingFrame) {
	if f.IsAck() {
		return
	}
	c.s.ledger.pings.Add(1)
	c.mu.Lock()
	c.out = appendFrame(c.out, len(f.Data), http2.FramePing, http2.FlagPingAck, 0)
	c.out = append(c.out, f.Data[:]...)
	c.mu.Unlock()
}

// grant lets the client send as much as was read.
func (c *conn) grant(n int) {
	c.mu.Lock()
	c.out = appendFrame(c.out, 4, http2.FrameWindowUpdate, 0, 0)
	c.out = appendUint32(c.out, uint32(n))
	c.mu.Unlock()
}

// tell wakes the writer.
func (c *conn) tell() {
	select {
	case c.kick <- struct{}{}:
	default:
	}
}

// breathe waits while there is too much that the client has not read; false at the end of the connection.
func (c *conn) breathe() bool {
	for {
		c.mu.Lock()
		full, closed := len(c.out) > mostOut, c.closed
		c.mu.Unlock()
		if closed || !full {
			return !closed
		}
		c.tell()
		select {
		case <-c.room:
		case <-c.over:
			return false
		}
	}
}

// write writes what has gathered, until the connection ends.
func (c *conn) write() {
	var spare []byte
	for {
		select {
		case <-c.kick:
		case <-c.over:
			return
		}
		c.mu.Lock()
		buf, answers, ending := c.out, c.answers, c.ending
		c.out, c.answers = spare[:0], 0
		c.mu.Unlock()
		if len(buf) > 0 {
			if _, err := c.nc.Write(buf); err != nil {
				c.s.ledger.lost.Add(int64(answers))
				c.end()
				return
			}
			select {
			case c.room <- struct{}{}:
			default:
			}
		}
		if ending != goOn {
			c.part(ending)
			return
		}
		spare = buf
		if cap(spare) > 2*mostOut {
			spare = nil
		}
	}
}
