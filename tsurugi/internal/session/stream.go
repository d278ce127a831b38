package session

import (
	"context"
	"fmt"
	"sync"

	"github.com/hikyaku/hikyaku/tsurugi/internal/wire"
)

// maxWriters is how many writers of a result set can have parts that are not whole.
const maxWriters = 256

// A Stream is the bytes of a result set, in the order in which the server's writers declared them whole. One goroutine
// reads it.
type Stream struct {
	limit int

	mu      sync.Mutex
	writers map[uint8][][]byte // parts that are not whole yet
	whole   [][]byte
	size    int // bytes of both
	ended   bool
	dropped bool
	err     error
	more    chan struct{} // has an entry when something may have changed for the reader of the stream
	room    chan struct{} // and for the session's
}

func (s *Stream) init(limit int) {
	s.limit = limit
	s.writers = make(map[uint8][][]byte)
	s.more, s.room = make(chan struct{}, 1), make(chan struct{}, 1)
}

// add takes a part; an empty one declares those of its writer whole. It waits while too much waits to be read.
func (s *Stream) add(writer uint8, part []byte, gone <-chan struct{}) error {
	for {
		s.mu.Lock()
		if s.ended {
			s.mu.Unlock()
			return fmt.Errorf("%w: a part of a result set that has ended", wire.ErrMalformed)
		}
		if s.dropped {
			s.mu.Unlock()
			return nil
		}
		if len(s.whole) == 0 || s.size < s.limit || len(part) == 0 {
			break
		}
		s.mu.Unlock()
		select {
		case <-s.room:
		case <-gone:
			return ErrClosed
		}
	}
	defer s.mu.Unlock()
	if len(part) > 0 {
		s.size += len(part)
		s.writers[writer] = append(s.writers[writer], part)
		return nil
	}
	if parts := s.writers[writer]; len(parts) > 0 {
		s.whole = append(s.whole, collect(parts))
		delete(s.writers, writer)
		signal(s.more)
	}
	return nil
}

// end tells that no part follows. What was not declared whole is not lost: a server that ends without doing so means
// it.
func (s *Stream) end() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ended {
		return
	}
	s.ended = true
	for w := range maxWriters {
		if parts := s.writers[uint8(w)]; len(parts) > 0 {
			s.whole = append(s.whole, collect(parts))
		}
	}
	s.writers = nil
	signal(s.more)
}

// fail ends the stream with an error.
func (s *Stream) fail(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.err == nil {
		s.err = err
	}
	signal(s.more)
}

// Next returns the next bytes; they are the caller's. At the end they are nil.
func (s *Stream) Next(ctx context.Context) ([]byte, error) {
	for {
		s.mu.Lock()
		switch {
		case s.dropped:
			s.mu.Unlock()
			return nil, nil
		case len(s.whole) > 0:
			b := s.whole[0]
			s.whole[0] = nil
			s.whole = s.whole[1:]
			s.size -= len(b)
			s.mu.Unlock()
			signal(s.room)
			return b, nil
		case s.err != nil || s.ended:
			s.mu.Unlock()
			return nil, s.err
		}
		s.mu.Unlock()
		select {
		case <-s.more:
		case <-ctx.Done():
			return nil, fmt.Errorf("tsurugi: waiting for rows: %w", context.Cause(ctx))
		}
	}
}

// Drop throws away what is there and what will come.
func (s *Stream) Drop() {
	s.mu.Lock()
	s.dropped, s.whole, s.writers, s.size = true, nil, nil, 0
	s.mu.Unlock()
	signal(s.room)
	signal(s.more)
}

func signal(ch chan struct{}) {
	select {
	case ch <- struct{}{}:
	default:
	}
}
