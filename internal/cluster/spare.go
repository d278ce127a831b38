package cluster

import (
	"context"
	"crypto/tls"
	"sync"
	"time"

	"github.com/hikyaku/hikyaku/internal/link"
)

// A stream to the owner takes several round trips to make, so some are made before a client needs them.
const (
	mostSpares = 8
	spareLife  = time.Minute // the owner waits for so long until it is used
)

// spares are streams to the owner that wait for a client.
type spares struct {
	f *Front

	mu     sync.Mutex
	to     link.Peer // the owner that they lead to
	ready  []spare
	making int
}

type spare struct {
	c    *tls.Conn
	made time.Time
}

// take is a stream to the owner: one that waits, spare, or one that is made now. It has another one made for the next
// client.
func (s *spares) take(ctx context.Context, owner link.Peer, fresh bool) (c *tls.Conn, spare bool, err error) {
	if !fresh {
		c = s.old(owner)
	}
	if c == nil {
		c, err = s.f.o.Link.Dialer().Dial(ctx, owner, DoorKind)
	} else {
		spare = true
	}
	if err == nil {
		s.more(owner)
	}
	return c, spare, err
}

// old is one that waits and that the owner still waits for; nil: there is none.
func (s *spares) old(owner link.Peer) *tls.Conn {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.to != owner {
		return nil
	}
	for len(s.ready) > 0 {
		one := s.ready[0]
		s.ready = s.ready[1:]
		if time.Since(one.made) < spareLife*3/4 {
			return one.c
		}
		_ = one.c.NetConn().Close() // nobody needs it
	}
	return nil
}

// more makes one that waits, unless there are enough.
func (s *spares) more(owner link.Peer) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.to != owner || len(s.ready)+s.making >= mostSpares {
		return
	}
	s.making++
	s.f.active.Go(func() {
		c, err := s.f.o.Link.Dialer().Dial(s.f.ctx, owner, DoorKind)
		s.mu.Lock()
		defer s.mu.Unlock()
		s.making--
		switch {
		case err != nil: // the next client tries
		case s.to != owner:
			_ = c.NetConn().Close() // another one owns the shard
		default:
			s.ready = append(s.ready, spare{c, time.Now()})
		}
	})
}

// turn drops those to any other owner; and to this one, if some have turned out to be dead.
func (s *spares) turn(owner link.Peer) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, one := range s.ready {
		_ = one.c.NetConn().Close() // nobody needs it
	}
	s.to, s.ready = owner, nil
}
