package push

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
)

// Connections that speak HTTP/1.1. They stand in the client's list like the others, with a limit of one stream.

// ask writes requests, each when the answer to the last one has come, until the connection ends.
func (k *conn) ask() {
	c := k.c
	defer close(k.written)
	var out answers
	var text []byte
	for {
		c.mu.Lock()
		now := c.tickNow()
		ended := k.dead != nil
		var call *Call
		if !ended {
			call = k.takeOne()
		}
		if call == nil {
			k.parked = !ended
			c.mu.Unlock()
			if ended {
				return
			}
			<-k.wake
			continue
		}
		k.writing, k.since = true, now
		c.count.Writes++
		if c.waiting() > 0 {
			c.kick()
		}
		c.mu.Unlock()

		text = k.appendRequest(text[:0], call)
		k.asked.Store(call.stream)
		_, err := k.rw.Write(text)

		c.mu.Lock()
		c.tickNow()
		k.writing, k.stalled = false, false
		switch {
		case call.state != given || call.conn != k: // given up meanwhile
		case err == nil:
			call.arrived()
		default:
			c.again(call, &out) // it did not leave whole
		}
		if err != nil {
			k.broken(err)
			c.kick()
		}
		c.mu.Unlock()
		out.give(c)
		if err != nil {
			return
		}
	}
}

// takeOne takes the next request from the line; nil: there is none, or one is under way. Under the mutex.
func (k *conn) takeOne() *Call {
	c := k.c
	call := c.first(k)
	if call == nil || k.free() == 0 {
		return nil
	}
	c.leave(call)
	call.state, call.conn, call.stream = given, k, k.next
	call.tries++
	call.ending, call.offset = true, len(call.request.Body)
	k.streams[k.next] = call
	k.next += 2
	return call
}

// appendRequest appends a request as HTTP/1.1 writes it. newCall has checked what could end a line.
func (k *conn) appendRequest(b []byte, call *Call) []byte {
	r := call.request
	b = append(b, r.Method...)
	b = append(b, ' ')
	b = append(b, r.Path...)
	b = append(b, " HTTP/1.1\r\nhost: "...)
	b = append(b, k.c.config.Authority...)
	for i := range r.Header {
		b = append(b, "\r\n"...)
		b = append(b, r.Header[i].Name...)
		b = append(b, ": "...)
		b = append(b, r.Header[i].Value...)
	}
	if !call.sized {
		b = append(b, "\r\ncontent-length: "...)
		b = strconv.AppendInt(b, int64(len(r.Body)), 10)
	}
	b = append(b, "\r\n\r\n"...)
	return append(b, r.Body...)
}

// replies reads answers until the connection ends, and says why it did.
func (k *conn) replies(out *answers) error {
	c := k.c
	c.mu.Lock()
	if k.dead == nil { // one that was ended while it was greeted must not begin
		k.begin()
	}
	c.mu.Unlock()
	bound := &io.LimitedReader{R: k.rw}
	from := bufio.NewReader(bound)
	for {
		most := int64(c.config.MaxResponseHeader + c.config.MaxResponseBody + from.Size())
		bound.N = most
		_, err := from.Peek(1)
		call := k.only()
		switch {
		case err != nil && call == nil && k.answered > 0 && errors.Is(err, io.EOF):
			return errIdle // it hung up on nobody
		case err != nil:
			return k.why(err)
		case call == nil:
			return errUnasked
		}
		response, last, err := readReply(from, call.request.Method, c.config.MaxResponseBody)
		if err != nil {
			return k.why(err)
		}
		bound.N = most
		if k.source.isMore(from) {
			last = true // what follows was asked for by nobody, and must not become the next request's answer
		}
		k.reply(call, response, last, out)
		out.give(c)
		if last {
			return errDrained
		}
	}
}

// only is the request that is being written, or was; nil: there is none. What comes before one is written answers none.
func (k *conn) only() *Call {
	k.c.mu.Lock()
	defer k.c.mu.Unlock()
	return k.streams[k.asked.Load()]
}

// reply ends a call with its answer. last: the connection ends with it.
func (k *conn) reply(call *Call, response *Response, last bool, out *answers) {
	c := k.c
	c.mu.Lock()
	defer c.mu.Unlock()
	k.heard = c.tickNow()
	if k.streams[call.stream] != call {
		return // given up meanwhile
	}
	call.arrived()
	if last && !k.goodbye {
		k.goodbye = true
		k.close()
		c.leaving = append(c.leaving, k)
		if response.Status < http.StatusInternalServerError && response.Status != http.StatusTooManyRequests {
			c.budget.paid() // not where it has too much to do: then connections would come as fast as refusals
		}
	}
	k.respond(call, response, out)
	if c.waiting() > 0 {
		c.kick()
	}
}

// readReply reads one answer. last: the far end, or the length of the answer, ends the connection. The body is not
// closed: to close it would be to wait for the rest of one that is too long, and one that is read to its end holds
// nothing.
func readReply(from *bufio.Reader, method string, most int) (r *Response, last bool, err error) {
	var got *http.Response
	for {
		if got, err = http.ReadResponse(from, &http.Request{Method: method}); err != nil {
			return nil, false, fmt.Errorf("the far end's answer is not HTTP/1.1: %w", err)
		}
		if got.StatusCode >= 200 || got.StatusCode == http.StatusSwitchingProtocols {
			break
		}
	}
	if got.StatusCode < 200 || got.StatusCode > 599 {
		return nil, false, fmt.Errorf("the far end's answer is not HTTP/1.1: status %d", got.StatusCode)
	}
	body, err := io.ReadAll(io.LimitReader(got.Body, int64(most)+1))
	if err != nil {
		return nil, false, fmt.Errorf("the far end's answer breaks off: %w", err)
	}
	r = &Response{Status: got.StatusCode, Body: body}
	if len(body) > most {
		r.Body, r.Truncated = body[:most], true
	}
	if len(body) == 0 {
		r.Body = nil
	}
	for name, values := range got.Header {
		for _, v := range values {
			r.Header = append(r.Header, Field{Name: strings.ToLower(name), Value: v})
		}
	}
	slices.SortStableFunc(r.Header, func(a, b Field) int { return strings.Compare(a.Name, b.Name) })
	return r, got.Close || r.Truncated, nil
}
