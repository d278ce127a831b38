package push

import (
	"fmt"
	"time"
)

// answer is a call's end on its way to the one who sent it.
type answer struct {
	done   func(Result)
	result Result
}

// answers gathers them under the mutex, to be given out without it.
type answers struct{ list []answer }

// give calls the dones, and then lets the requests go that these have sent.
func (a *answers) give(c *Client) {
	if len(a.list) == 0 {
		return
	}
	for i := range a.list {
		a.list[i].done(a.list[i].result)
	}
	clear(a.list)
	a.list = a.list[:0]
}

// finish ends a call. Under the mutex.
func (c *Client) finish(call *Call, r Result, out *answers) {
	switch call.state {
	case finished:
		return
	case waiting:
		c.leave(call)
	case given:
		call.conn.drop(call)
		r.Sent, r.Connection = call.sent, call.conn.number
		if r.Err != nil && !r.Unprocessed {
			c.count.Unknown++
		}
	}
	call.state = finished
	c.wheel.remove(call)
	out.list = append(out.list, answer{call.done, r})
	c.settled(1)
}

// settled counts calls that have ended.
func (c *Client) settled(n int) {
	c.outstanding -= n
	if c.closing && c.outstanding == 0 {
		select {
		case <-c.drained:
		default:
			close(c.drained)
		}
	}
}

// abandon ends a call from our side, wherever it is. Under the mutex.
func (c *Client) abandon(call *Call, why error, out *answers) {
	r := Result{Err: why, Unprocessed: true}
	if call.state == given {
		// What has not been taken whole by the writer never becomes whole: the reset comes before the rest.
		r.Unprocessed = !call.ending
		call.conn.reset(call.stream, codeCancel)
	}
	c.finish(call, r, out)
}

// again puts a call that was not processed back to where it came from, if it has tries left. Under the mutex.
func (c *Client) again(call *Call, out *answers) {
	call.conn.drop(call)
	call.conn, call.stream, call.offset, call.window = nil, 0, 0, 0
	call.sent, call.ending, call.blocked, call.response = time.Time{}, false, false, nil
	call.state = waiting
	c.line.back(call)
	if call.tries >= c.config.MaxTries {
		c.finish(call, Result{Err: fmt.Errorf("%w: %d times", ErrTooOften, call.tries), Unprocessed: true}, out)
		return
	}
	if c.closing && c.ctx.Err() != nil {
		c.finish(call, Result{Err: ErrClosed, Unprocessed: true}, out)
		return
	}
	c.count.Resent++
}
