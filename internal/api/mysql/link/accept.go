package link

import (
	"errors"
	"fmt"
	"net"
	"time"
)

// How long to wait before accepting is tried again: what is missing, mostly file descriptors, comes back as connections
// end.
const (
	firstPause = 5 * time.Millisecond
	lastPause  = time.Second
)

// accept hands on the connections of one inner listener until Close.
func (l *Listener) accept(inner net.Listener) {
	pause := time.Duration(0)
	for {
		raw, err := inner.Accept()
		switch {
		case err == nil:
			pause = 0
			l.hand(newConn(raw, l.config.Handshake, l.config.Stall))
			continue
		case l.over(), errors.Is(err, net.ErrClosed):
			return
		}
		if pause == 0 { // once a spell, not once a try
			l.config.Report(fmt.Errorf("connections to %s cannot be accepted for now: %w", inner.Addr(), err))
		}
		pause = min(max(2*pause, firstPause), lastPause)
		if !l.rest(pause) {
			return
		}
	}
}

// hand gives a connection to Accept. One that nobody will accept any more is closed.
func (l *Listener) hand(conn net.Conn) {
	select {
	case l.conns <- conn:
	case <-l.closing:
		_ = conn.Close() // nothing was said on it
	}
}

func (l *Listener) over() bool {
	select {
	case <-l.closing:
		return true
	default:
		return false
	}
}

// rest waits; false: Close came first.
func (l *Listener) rest(d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-l.closing:
		return false
	}
}
