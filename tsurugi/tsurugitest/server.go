package tsurugitest

import (
	"context"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"net"
	"sync"
	"sync/atomic"

	"github.com/hikyaku/hikyaku/tsurugi/tsurugitest/internal/store"
)

// A Server is a running one. Its methods may be called by many goroutines.
type Server struct {
	cfg      Config
	listener net.Listener
	db       *store.DB
	key      *rsa.PrivateKey // nil: no credentials are asked for
	pem      string
	hook     atomic.Pointer[Hook]
	stats    counters
	objects  objects
	relay    *relays       // nil: there is none
	serial   atomic.Uint64 // of transactions

	wg       sync.WaitGroup
	mu       sync.Mutex
	sessions map[uint64]*session
	last     uint64 // session
	closed   bool
	over     chan struct{} // closed when the server is
}

// T is what Start needs of a *testing.T or *testing.B.
type T interface {
	Helper()
	Cleanup(func())
	Fatal(args ...any)
}

// Start starts a server that ends with the test.
func Start(t T, cfg Config) *Server {
	t.Helper()
	s, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return s
}

// New starts a server, for programs other than tests.
func New(cfg Config) (*Server, error) {
	cfg = cfg.withDefaults()
	s := &Server{cfg: cfg, db: store.New(cfg.MaxRows), sessions: make(map[uint64]*session), over: make(chan struct{})}
	if len(cfg.Users) > 0 || len(cfg.Tokens) > 0 {
		if err := s.makeKey(); err != nil {
			return nil, err
		}
	}
	var lc net.ListenConfig
	l, err := lc.Listen(context.Background(), "tcp", cfg.Listen)
	if err != nil {
		return nil, fmt.Errorf("tsurugitest: %w", err)
	}
	s.listener = l
	if cfg.Relay {
		if s.relay, err = startRelay(cfg.Listen, &s.objects); err != nil {
			_ = l.Close() // the error that counts is there
			return nil, err
		}
		s.wg.Go(func() { _ = s.relay.http.Serve(s.relay.listener) }) // until it is closed
	}
	s.wg.Go(func() { s.accept(l) })
	return s, nil
}

const keyBits = 2048

func (s *Server) makeKey() (err error) {
	if s.key, err = rsa.GenerateKey(rand.Reader, keyBits); err != nil {
		return fmt.Errorf("tsurugitest: %w", err)
	}
	public, err := x509.MarshalPKIXPublicKey(&s.key.PublicKey)
	if err != nil {
		return fmt.Errorf("tsurugitest: %w", err)
	}
	s.pem = string(pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: public}))
	return nil
}

// Address is the server's host:port.
func (s *Server) Address() string { return s.listener.Addr().String() }

// Endpoint is where clients find the server: tcp://host:port.
func (s *Server) Endpoint() string { return "tcp://" + s.Address() }

// On sets the hook that is asked before each request, in place of the one before; nil for none.
func (s *Server) On(h Hook) {
	if h == nil {
		s.hook.Store(nil)
		return
	}
	s.hook.Store(&h)
}

func (s *Server) ask(r Request) Action {
	if h := s.hook.Load(); h != nil {
		return (*h)(r)
	}
	return Action{}
}

// Close ends the server and all sessions. Tables are lost.
func (s *Server) Close() {
	s.mu.Lock()
	if !s.closed {
		close(s.over)
	}
	s.closed = true
	s.mu.Unlock()
	_ = s.listener.Close() // it is over
	s.KillSessions()
	if s.relay != nil {
		s.relay.close()
	}
	s.wg.Wait()
}

// KillSessions closes every connection. What is not committed is lost.
func (s *Server) KillSessions() {
	for _, c := range s.all() {
		c.kill()
	}
}

// ExpireSessions makes every session one that was not renewed in time: whatever it asks for is refused.
func (s *Server) ExpireSessions() {
	for _, c := range s.all() {
		c.expired.Store(true)
	}
}

func (s *Server) all() []*session {
	s.mu.Lock()
	defer s.mu.Unlock()
	all := make([]*session, 0, len(s.sessions))
	for _, c := range s.sessions {
		all = append(all, c)
	}
	return all
}

// Sessions is how many there are.
func (s *Server) Sessions() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.sessions)
}

// Count is the number of committed rows of a table, less than 0 if there is no such table.
func (s *Server) Count(table string) int { return s.db.Count(table) }

// Stats tells what the server has been asked for so far.
func (s *Server) Stats() Stats { return s.stats.read() }

// accept lets sessions in until the listener is closed.
func (s *Server) accept(l net.Listener) {
	for {
		conn, err := l.Accept()
		if err != nil {
			return
		}
		s.mu.Lock()
		if s.closed {
			s.mu.Unlock()
			_ = conn.Close()
			return
		}
		s.last++
		c := newSession(s, conn, s.last)
		s.sessions[c.id] = c
		full := len(s.sessions) > s.cfg.Sessions
		s.wg.Go(func() {
			c.serve(full)
			s.mu.Lock()
			delete(s.sessions, c.id)
			s.mu.Unlock()
		})
		s.mu.Unlock()
	}
}
