package door

import (
	"errors"
	"net"
	"sync"
)

// ErrStarted: Start was called before. ErrClosed: it was called after Close.
var (
	ErrStarted = errors.New("the door was started already")
	ErrClosed  = errors.New("the door is closed")
)

// Life is a door's: it starts at most once, and closes at most once. The zero value has not started. Its methods may be
// called from any goroutine; each waits for the one under way.
type Life struct {
	mu              sync.Mutex
	started, closed bool
	addr            net.Addr
	ended           error
}

// Start opens the door, unless it was open before. An address of nil says that the door is off; then, and after an
// error, it has not started. Of a door that has, the error is ErrStarted and the address its own.
func (l *Life) Start(open func() (net.Addr, error)) (net.Addr, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case l.closed:
		return nil, ErrClosed
	case l.started:
		return l.addr, ErrStarted
	}
	addr, err := open()
	if err != nil || addr == nil {
		return nil, err
	}
	l.addr, l.started = addr, true
	return addr, nil
}

// Addr is where the door listens; nil before Start.
func (l *Life) Addr() net.Addr {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.addr
}

// Close ends a door that has started. The second time it returns what it did the first time.
func (l *Life) Close(end func() error) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return l.ended
	}
	l.closed = true
	if l.started {
		l.ended = end()
	}
	return l.ended
}
