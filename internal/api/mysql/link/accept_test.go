package link

import (
	"errors"
	"net"
	"syscall"
	"testing"
	"testing/synctest"
	"time"
)

// shortOf is a listener that runs out of descriptors for a while.
type shortOf struct {
	failures int
	times    []time.Time
	conn     net.Conn
	closed   chan struct{}
}

func (l *shortOf) Accept() (net.Conn, error) {
	l.times = append(l.times, time.Now())
	if l.failures > 0 {
		l.failures--
		return nil, &net.OpError{Op: "accept", Err: syscall.EMFILE}
	}
	if l.conn == nil {
		<-l.closed
		return nil, net.ErrClosed
	}
	conn := l.conn
	l.conn = nil
	return conn, nil
}

func (l *shortOf) Close() error   { close(l.closed); return nil }
func (l *shortOf) Addr() net.Addr { return &net.TCPAddr{} }

// opened is a Listener over a stand-in.
func opened(inner net.Listener, report func(error)) *Listener {
	l := &Listener{
		config: Config{Report: report}.withDefaults(), inner: []net.Listener{inner},
		conns: make(chan net.Conn), closing: make(chan struct{}),
	}
	l.loops.Go(func() { l.accept(inner) })
	return l
}

func TestAcceptingGoesOnWhenDescriptorsRanOut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client, server := net.Pipe()
		defer client.Close()
		inner := &shortOf{failures: 20, conn: server, closed: make(chan struct{})}
		var told []error
		l := opened(inner, func(err error) { told = append(told, err) })
		conn, err := l.Accept()
		if err != nil {
			t.Fatal(err)
		}
		conn.Close()
		if err := l.Close(); err != nil { // and waits, so that what was noted can be read
			t.Error(err)
		}
		if len(told) != 1 || !errors.Is(told[0], syscall.EMFILE) {
			t.Errorf("told %v", told)
		}
		for i := 1; i <= 20; i++ {
			if pause := inner.times[i].Sub(inner.times[i-1]); pause < firstPause || pause > lastPause {
				t.Errorf("pause %d took %s", i, pause)
			}
		}
	})
}

func TestCloseDoesNotWaitForAPause(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		inner := &shortOf{failures: 1 << 30, closed: make(chan struct{})}
		l := opened(inner, nil)
		time.Sleep(10*time.Second + lastPause/2) // in the middle of a pause
		begun := time.Now()
		if err := l.Close(); err != nil {
			t.Error(err)
		}
		if took := time.Since(begun); took > 0 {
			t.Errorf("Close took %s", took)
		}
	})
}
