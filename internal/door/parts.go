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

// PartTime is how long a stop waits for the rest of requests that have not come whole: nobody has begun to work on them.
const PartTime = time.Second

// Parts knows which connections of an http.Server have sent a part of a request, or nothing yet. http.Server.Shutdown waits for them as for requests
// that are worked on, so one client that sends nothing would hold up a stop. The zero value is ready.
type Parts struct {
	mu    sync.Mutex
	conns map[net.Conn]*sent
}

// sent is what a connection has sent.
type sent struct{ whole atomic.Int32 } // requests that came whole and are worked on

type sentKey struct{}

// Watch looks at what the server's clients send from now on. It sets ConnState, and wraps the Handler and ConnContext that are set.
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
		switch {
		case s == nil:
		case r.ContentLength == 0:
			s.whole.Add(1)
			defer s.whole.Add(-1)
		default:
			body := &sentBody{ReadCloser: r.Body, left: r.ContentLength, sent: s}
			r.Body = body
			defer body.end()
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
	s := new(sent)
	p.conns[c] = s
	return s
}

func (p *Parts) note(c net.Conn, state http.ConnState) {
	if state == http.StateClosed || state == http.StateHijacked {
		p.mu.Lock()
		defer p.mu.Unlock()
		delete(p.conns, c)
	}
}

// Cut closes the connections that have no whole request under way.
func (p *Parts) Cut() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for c, s := range p.conns {
		if s.whole.Load() == 0 {
			_ = c.Close() // its goroutine ends by that
		}
	}
}

// sentBody notes when a body has come whole.
type sentBody struct {
	io.ReadCloser
	left  int64 // bytes; less than 0: it is not known
	sent  *sent
	state atomic.Int32
}

// States of a sentBody.
const (
	coming = iota
	came
	ended
)

// Read implements io.Reader.
func (b *sentBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if b.left -= int64(n); (err != nil || b.left == 0) && b.state.CompareAndSwap(coming, came) {
		b.sent.whole.Add(1)
	}
	return n, err
}

// end is called when the request has been worked on.
func (b *sentBody) end() {
	if b.state.Swap(ended) == came {
		b.sent.whole.Add(-1)
	}
}
