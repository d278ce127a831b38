package link

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"time"
)

// ErrGone is the cause of a context that WatchContext canceled: the client went away.
var ErrGone = errors.New("the client has gone away")

// maxKept is how much a client can send ahead while it is watched. A TLS client says goodbye with some bytes before it
// closes, and a MySQL client with a command: reading stops behind those. From one that sends more, its end is not
// learned before all of that is read.
const maxKept = 4 << 10

// watch is a read in the background: it returns as soon as the client sends something or goes away.
type watch struct {
	conn *Conn
	gone func()        // called once when the client goes away
	done chan struct{} // closed when the goroutine has ended
	end  sync.Once
}

// Watch notices the end of the connection while nothing is read from it: gone is closed when the client closes it, when
// it breaks, and when Close is called. The caller calls stop, which waits for the watch to be over; what the client
// sent meanwhile is kept for the next Read. There is one watch at a time: a Read, and another watch, end it.
//
// A watch costs a goroutine. It is meant for statements that wait, not for those that return at once.
func (c *Conn) Watch() (gone <-chan struct{}, stop func()) {
	closed := make(chan struct{})
	return closed, c.startWatch(func() { close(closed) })
}

// WatchContext is Watch with a context that is canceled, with a cause that is ErrGone, when the client goes away. The
// caller calls stop, which cancels it too.
func (c *Conn) WatchContext(parent context.Context) (ctx context.Context, stop func()) {
	ctx, cancel := context.WithCancelCause(parent)
	end := c.startWatch(func() {
		c.mu.Lock()
		err := c.failed
		c.mu.Unlock()
		cancel(fmt.Errorf("%w: %w", ErrGone, err))
	})
	return ctx, func() {
		end()
		cancel(context.Canceled)
	}
}

// startWatch begins a watch after the one before.
func (c *Conn) startWatch(gone func()) (stop func()) {
	c.endWatch()
	w := &watch{conn: c, gone: gone, done: make(chan struct{})}
	c.mu.Lock()
	failed, full := c.failed != nil, len(c.kept) >= maxKept
	if !failed && !full {
		c.watch = w
		_ = c.raw.SetReadDeadline(time.Time{}) // fails only on a closed connection, which the watch's read tells
	}
	c.mu.Unlock()
	switch {
	case failed:
		gone()
		return func() {}
	case full:
		return func() {}
	}
	go w.run()
	return w.stop
}

// endWatch ends the watch that goes on, if any.
func (c *Conn) endWatch() {
	c.mu.Lock()
	w := c.watch
	c.mu.Unlock()
	if w != nil {
		w.stop()
	}
}

// stop ends the watch and waits for its goroutine. Only the first call does something; every call waits.
func (w *watch) stop() {
	w.end.Do(func() {
		c := w.conn
		_ = c.raw.SetReadDeadline(past) // fails only on a closed connection, where the read has returned
		<-w.done
		c.mu.Lock()
		defer c.mu.Unlock()
		c.watch = nil
		_ = c.setRead() // as above
	})
}

// run reads until the end of the connection, of the watch, or of the room. It begins with a single byte, so that
// thousands of silent connections need no buffers.
func (w *watch) run() {
	defer close(w.done)
	for into := make([]byte, 1); ; {
		n, err := w.conn.raw.Read(into)
		room, ended := w.keep(into[:n], err)
		if ended {
			w.gone()
		}
		if err != nil || room == 0 {
			return
		}
		into = make([]byte, room)
	}
}

// keep puts aside what was read, and says how much more may be and whether the connection has ended.
func (w *watch) keep(b []byte, err error) (room int, ended bool) {
	c := w.conn
	c.mu.Lock()
	defer c.mu.Unlock()
	c.kept = append(c.kept, b...)
	if err != nil && !errors.Is(err, os.ErrDeadlineExceeded) { // a deadline is stop's
		c.failed = err
	}
	return max(0, maxKept-len(c.kept)), c.failed != nil
}
