package door

import (
	"context"
	"io"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"time"
)

// PartTime is how long a stop waits for the rest of requests that have not come whole: nobody has begun to work on
// them.
const PartTime = time.Second

// Parts knows which connections of an http.Server have sent a part of a request, or nothing yet. http.Server.Shutdown
// waits for them as for requests that are worked on, so one client that sends nothing would hold up a stop. The zero
// value is ready.
type Parts struct {
	mu    sync.Mutex
	conns map[net.Conn]*sent
}

// sent is what a connection has sent. whole: a request that came whole is worked on, or its answer is on its way.
type sent struct {
	whole atomic.Bool
	head  *headConn // nil: nobody counts its headers
}

type sentKey struct{}

// Watch looks at what the server's clients send from now on. It sets ConnState, and wraps the Handler and ConnContext
// that are set.
func (p *Parts) Watch(s *http.Server) {
	handler, inner := s.Handler, s.ConnContext
	s.ConnState = p.note
	s.ConnContext = func(ctx context.Context, c net.Conn) context.Context {
		if inner != nil {
			ctx = inner(ctx, c)
		}
		return context.WithValue(ctx, sentKey{}, p.add(c))
	}
	s.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s, _ := r.Context().Value(sentKey{}).(*sent)
		if s != nil {
			s.head.serve()
			if r.ProtoMajor > 1 {
				n, ok := s.head.stream(r)
				if !ok {
					http.Error(w, ErrBusy.Error()+": try again after a while", http.StatusServiceUnavailable)
					return
				}
				defer s.head.give(n)
			}
		}
		switch {
		case s == nil:
		case r.ContentLength == 0:
			s.whole.Store(true)
		// in a copy: net/http answers before the rest of a long body only where the body of its own request is the one
		// that it made
		default:
			own := *r
			own.Body = &sentBody{ReadCloser: r.Body, left: r.ContentLength, sent: s, of: r}
			r = &own
		}
		handler.ServeHTTP(w, r)
	})
}

func (p *Parts) add(c net.Conn) *sent {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.conns == nil {
		p.conns = map[net.Conn]*sent{}
	}
	s := &sent{head: headOf(c)}
	p.conns[c] = s
	return s
}

// note looks at what net/http says of a connection: it is idle when an answer has been sent, and not before.
func (p *Parts) note(c net.Conn, state http.ConnState) {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch state {
	case http.StateIdle:
		if s := p.conns[c]; s != nil {
			s.whole.Store(false)
			s.head.idle()
		}
	case http.StateClosed, http.StateHijacked:
		delete(p.conns, c)
	}
}

// Cut closes the connections that have no whole request under way. It returns when they are closed, which takes TLS a
// while where a client reads nothing.
func (p *Parts) Cut() {
	p.mu.Lock()
	var parts []net.Conn
	for c, s := range p.conns {
		if !s.whole.Load() {
			parts = append(parts, c)
		}
	}
	p.mu.Unlock()
	var closing sync.WaitGroup
	for _, c := range parts {
		closing.Go(func() { _ = c.Close() }) // its goroutine ends by that
	}
	closing.Wait()
}

// sentBody notes when a body has come whole.
type sentBody struct {
	io.ReadCloser
	left int64 // bytes; less than 0: it is not known
	sent *sent
	of   *http.Request // as net/http has it
}

// Read implements io.Reader.
func (b *sentBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if b.left -= int64(n); err != nil || b.left == 0 {
		b.sent.whole.Store(true)
		b.of.Trailer = nil // nobody asks for it, and it may be many times as large as it came
	}
	return n, err
}
