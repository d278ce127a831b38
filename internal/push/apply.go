package push

import (
	"slices"
	"time"

	"golang.org/x/net/http2"

	"github.com/hikyaku/hikyaku/internal/push/wire"
)

// apply acts upon what was read, in one go. Under the mutex.
func (k *conn) apply(r *reader, out *answers) *ProtocolError {
	c := k.c
	now := c.tickNow()
	k.heard = now
	answered := len(out.list)
	for i := range r.events {
		e := &r.events[i]
		if e.kind <= onReset && e.stream >= k.next || e.kind == onWindow && e.stream >= k.next && e.stream != 0 {
			return breach("a frame on stream %d, which was never opened", e.stream)
		}
		var err *ProtocolError
		switch e.kind {
		case onHeader, onData:
			if call := k.streams[e.stream]; call != nil {
				call.arrived()
				k.answer(call, e, out)
			}
		case onReset:
			if call := k.streams[e.stream]; call != nil {
				call.arrived()
				k.onReset(call, e, out)
			}
		case onWindow:
			err = k.onWindow(e)
		case onSettings:
			err = k.onSettings(e.data)
		case onPing:
			k.onPing(e, now)
		case onGoAway:
			k.onGoAway(e, out)
		}
		if err != nil {
			return err
		}
	}
	if by := r.update(); by > 0 {
		k.say(func(b []byte) []byte { return wire.AppendWindowUpdate(b, 0, by) })
	}
	if len(out.list) > answered {
		k.refusals = 0
	}
	if c.waiting() > 0 {
		c.kick()
	}
	return nil
}

// answer takes a part of a response.
func (k *conn) answer(call *Call, e *event, out *answers) {
	limit := k.c.config.MaxResponseBody
	if e.kind == onHeader {
		switch {
		case e.bad != "":
			k.malformed(call, e.bad, out)
			return
		case call.response != nil: // trailers, which nobody asked for
			if !e.end {
				k.malformed(call, "fields in the middle of the body", out)
				return
			}
		case e.response.Status == 0:
			k.malformed(call, "no status", out)
			return
		default:
			call.response = e.response
		}
	} else {
		if call.response == nil {
			k.malformed(call, "a body before the status", out)
			return
		}
		body := call.response.Body
		if len(body)+len(e.data) > limit {
			call.response.Body = append(body, e.data[:limit-len(body)]...)
			call.response.Truncated = true
		} else if len(e.data) > 0 {
			call.response.Body = append(body, e.data...)
		}
	}
	if !e.end && !call.response.Truncated {
		return
	}
	if !e.end || call.offset < len(call.request.Body) {
		k.reset(call.stream, codeCancel) // the rest, theirs or ours, is not wanted any more
	}
	k.respond(call, call.response, out)
}

// respond ends a call with its response.
func (k *conn) respond(call *Call, response *Response, out *answers) {
	k.c.finish(call, Result{Response: response}, out)
	k.c.count.Responses++
	k.c.budget.answered(1)
	k.answered++
	k.c.useless = nil
	if !k.accepted && k.c.config.Accepted(response) {
		k.accepted = true
		if k.c.config.InitialStreams > 0 {
			k.c.tell(Event{Kind: Settings, Connection: k.number, Streams: k.limit()})
		}
	}
}

func (k *conn) malformed(call *Call, why string, out *answers) {
	k.reset(call.stream, codeProtocol)
	k.c.finish(call, Result{Err: &StreamError{Code: http2.ErrCodeProtocol, Reason: why}}, out)
}

// arrived notes that a request has left if what answers it was faster than the writer's note.
func (call *Call) arrived() {
	if call.ending && call.sent.IsZero() {
		call.sent = time.Now()
	}
}

func (k *conn) onReset(call *Call, e *event, out *answers) {
	if e.n == codeRefused {
		k.c.count.Refused++
		k.c.again(call, out)
		k.repose()
		return
	}
	k.c.count.Resets++
	if response := call.response; response != nil && e.n == codeNone && call.offset < len(call.request.Body) {
		// It has answered without waiting for the rest of the request.
		k.c.finish(call, Result{Response: response}, out)
		k.c.count.Responses++
		return
	}
	k.c.finish(call, Result{Err: &StreamError{Code: http2.ErrCode(e.n), Remote: true}}, out)
}

// repose lets a connection that refuses alone for a while, longer each time, until an answer comes.
func (k *conn) repose() {
	if k.resting {
		return
	}
	k.resting = true
	most := min(restMax, restMin<<min(k.refusals, 20))
	k.refusals++
	k.restTill = k.c.clock + restMin/2 + time.Duration(k.c.budget.random()*float64(most))
	k.c.due(k.restTill)
}

func (k *conn) onWindow(e *event) *ProtocolError {
	if e.stream == 0 {
		if e.n == 0 {
			return breach("a window update by nothing")
		}
		if k.window += int64(e.n); k.window > wire.MaxWindow {
			return &ProtocolError{http2.ErrCodeFlowControl, "a window over its bound"}
		}
		if len(k.pending) > 0 {
			k.rouse()
		}
		return nil
	}
	call := k.streams[e.stream]
	if call == nil {
		return nil
	}
	if call.window += int64(e.n); e.n == 0 || call.window > wire.MaxWindow {
		return &ProtocolError{http2.ErrCodeFlowControl, "a stream's window over its bounds"}
	}
	k.unblock(call)
	return nil
}

func (k *conn) unblock(call *Call) {
	if call.blocked && call.window > 0 {
		call.blocked = false
		k.pending = append(k.pending, call)
		k.rouse()
	}
}

func (k *conn) onSettings(payload []byte) *ProtocolError {
	var bad *ProtocolError
	before := k.limit()
	wire.EachSetting(payload, func(s wire.Setting) bool {
		switch s.ID {
		case wire.SettingHeaderTableSize:
			k.tableSize = s.Value
			k.tableLow = min(k.tableLow, s.Value)
		case wire.SettingMaxStreams:
			k.peerStreams = min(s.Value, noLimit)
		case wire.SettingInitialWindowSize:
			by := int64(s.Value) - k.peerWindow
			k.peerWindow = int64(s.Value)
			for _, call := range k.streams {
				if call.window += by; call.window > wire.MaxWindow {
					bad = &ProtocolError{http2.ErrCodeFlowControl, "a stream's window over its bounds"}
					return false
				}
				k.unblock(call)
			}
		case wire.SettingMaxFrameSize:
			k.peerFrame = int(s.Value)
		case wire.SettingMaxHeaderListSize:
			k.peerList = s.Value
		}
		return true
	})
	if bad != nil {
		return bad
	}
	k.say(func(b []byte) []byte { return wire.AppendFrame(b, wire.TypeSettings, wire.FlagAck, 0, nil) })
	switch {
	// one that was ended while it was greeted must not begin: nothing would end it again
	case !k.ready && k.dead == nil:
		k.begin()
	case k.ready && k.limit() != before:
		k.c.tell(Event{Kind: Settings, Connection: k.number, Streams: k.limit()})
	}
	return nil
}

func (k *conn) onPing(e *event, now time.Duration) {
	if !e.end {
		data := e.data
		k.say(func(b []byte) []byte { return wire.AppendFrame(b, wire.TypePing, wire.FlagAck, 0, data) })
		return
	}
	if k.pinged != 0 {
		k.c.count.Ping = now - k.pinged
		k.pinged = 0
	}
}

func (k *conn) onGoAway(e *event, out *answers) {
	c := k.c
	why := &GoAwayError{e.stream, http2.ErrCode(e.n), string(e.data[:min(len(e.data), 256)])}
	c.count.GoAways++
	c.tell(Event{Kind: GoAway, Connection: k.number, Err: why, InFlight: len(k.streams)})
	if e.n != codeNone {
		c.budget.failed(c.clock)
	}
	k.last = min(k.last, e.stream)
	for _, call := range k.byAge() {
		if call.stream > k.last {
			c.again(call, out)
		}
	}
	k.farewell = why
	k.retire(why)
}

// tell queues an event for the observer. Under the mutex.
func (c *Client) tell(e Event) {
	if c.config.OnEvent == nil {
		return
	}
	if len(c.events) >= maxEvents { // the observer is slow: the oldest is lost
		c.events = slices.Delete(c.events, 0, 1)
	}
	c.events = append(c.events, e)
	c.poke()
}

const maxEvents = 1024
