package link

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"sync"
	"syscall"
	"time"
)

// Keepalive probes an idle connection after 30 s, then each 10 s, and gives it up after 3 probes without an answer.
var keepalive = net.KeepAliveConfig{Enable: true, Idle: 30 * time.Second, Interval: 10 * time.Second, Count: 3}

// Listener accepts from all that Listen opened. Its methods may be called from any goroutine.
type Listener struct {
	config Config
	inner  []net.Listener
	socket *socketFile // nil without one

	conns   chan net.Conn
	closing chan struct{}
	loops   sync.WaitGroup
	close   sync.Once
	ended   error // of Close
}

// Listen opens what the config names, all or nothing. A socket file that a dead process left is replaced; one that
// somebody listens on, or a file that is no socket, is an error and left alone. ctx only bounds the opening.
func Listen(ctx context.Context, c Config) (*Listener, error) {
	if err := c.check(); err != nil {
		return nil, err
	}
	l := &Listener{config: c.withDefaults(), conns: make(chan net.Conn), closing: make(chan struct{})}
	if err := l.open(ctx); err != nil {
		return nil, errors.Join(err, l.Close())
	}
	for _, inner := range l.inner {
		l.loops.Go(func() { l.accept(inner) })
	}
	return l, nil
}

// open takes the address first: a second process with the same configuration stops there, before it looks at the
// socket.
func (l *Listener) open(ctx context.Context) error {
	if l.config.TCP != "" {
		lc := net.ListenConfig{KeepAliveConfig: keepalive, Control: giveUpAfter(l.config.Stall)}
		tcp, err := l.config.Open(ctx, &lc, l.config.TCP)
		if err != nil {
			return fmt.Errorf("cannot listen on %s: %w%s", l.config.TCP, err, advice(err))
		}
		l.inner = append(l.inner, tcp)
	}
	if l.config.Socket != "" {
		unix, file, err := listenSocket(ctx, l.config.Socket, l.config.SocketMode)
		if err != nil {
			return err
		}
		l.inner, l.socket = append(l.inner, unix), file
	}
	if l.config.Count != nil {
		for i, inner := range l.inner {
			l.inner[i] = l.config.Count(inner)
		}
	}
	return nil
}

func advice(err error) string {
	var dns *net.DNSError
	switch {
	case errors.Is(err, syscall.EADDRINUSE):
		return " (another program has the port: stop it, or choose another port)"
	case errors.Is(err, syscall.EADDRNOTAVAIL), errors.As(err, &dns):
		return " (this machine does not have that address: choose one of its own)"
	case errors.Is(err, fs.ErrPermission):
		return " (ports below 1024 may need a privilege: choose a higher one)"
	}
	return ""
}

// Accept returns the next connection, a *Conn. Its only error is net.ErrClosed, after Close: what else goes wrong
// passes, and is tried again.
func (l *Listener) Accept() (net.Conn, error) {
	select {
	case conn := <-l.conns:
		return conn, nil
	case <-l.closing:
		return nil, net.ErrClosed
	}
}

// Addr is the address on the network, or else the socket's.
func (l *Listener) Addr() net.Addr { return l.inner[0].Addr() }

// Addrs are all the addresses, the network's first, with the port that was found when Config asked for port 0.
func (l *Listener) Addrs() []net.Addr {
	addrs := make([]net.Addr, len(l.inner))
	for i, inner := range l.inner {
		addrs[i] = inner.Addr()
	}
	return addrs
}

// Close stops listening and removes the socket file, if it is still the listener's own. Connections that were accepted
// go on. A second Close returns what the first one did.
func (l *Listener) Close() error {
	l.close.Do(func() {
		close(l.closing)
		var errs []error
		if l.socket != nil {
			// before the end of listening: until then no other process takes it for stale
			errs = append(errs, l.socket.remove())
		}
		for _, inner := range l.inner {
			errs = append(errs, inner.Close())
		}
		l.loops.Wait()
		if l.socket != nil {
			errs = append(errs, l.socket.lock.release())
		}
		l.ended = errors.Join(errs...)
	})
	return l.ended
}
