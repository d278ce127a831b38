package line

import (
	"context"
	"crypto/tls"
	"errors"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hikyaku/hikyaku/internal/door/branch"
)

// Config says what a Server serves. Serve has to be there.
type Config struct {
	// Serve answers a request, by Exchange.Send, before it returns. A panic of it ends the connection and is told to
	// Panicked.
	Serve    func(*Exchange)
	Panicked func(v any) // nil: nobody is told
	TLS      *tls.Config // nil: none
	// Greeted is told of each connection of the listener on which TLS has shaken hands. nil: nobody is told.
	Greeted func(net.Conn)
	// Ungreeted is told when it has not. nil: nobody is told.
	Ungreeted func()
	Head      time.Duration // for a header from its first byte, and for the handshake of TLS; 0: 10 s
	Idle      time.Duration // between two requests; 0: 2 min
	Read      time.Duration // for the body of a request; 0: 1 min
	Write     time.Duration // for an answer; 0: 1 min
	Stall     time.Duration // for each StallBytes of an answer; 0: 10 s
	// Take takes so many bytes of memory for a request that is not small, and Give gives them back. Without room the
	// request is net/http's. nil: there is always room.
	Take func(n int64) bool
	Give func(n int64)
	// MaxConnections bounds those that are open, here and with net/http: more wait for one to end. 0: 10,000.
	MaxConnections int
}

// The bounds of what is served here.
const (
	maxHead = 16 << 10 // of a request line and headers
	maxBody = 64 << 10 // more is net/http's
	usual   = 4 << 10  // of a connection's own buffer
	tick    = time.Second
)

// StallBytes is how much of an answer is written under one deadline.
const StallBytes = 32 << 10

// Server serves connections. Its methods may be called from any goroutine.
type Server struct {
	config   Config
	listener net.Listener
	others   *branch.Listener
	pool     sync.Pool     // of *[]byte that hold the largest plain request
	outs     sync.Pool     // of *[]byte that answers are made in, at least headRoom long
	clock    atomic.Int64  // in ticks
	room     chan struct{} // one for each connection

	mu    sync.Mutex
	conns map[*conn]struct{}
	ctx   context.Context // done as soon as Shutdown begins
	stop  context.CancelFunc
	date  atomic.Pointer[string] // of the answers of this second
	work  sync.WaitGroup         // connections and the sweep
}

// New makes a server of the connections that l accepts. The listener is the server's from then on.
func New(l net.Listener, c Config) *Server {
	for _, d := range []struct {
		field *time.Duration
		usual time.Duration
	}{{&c.Head, 10 * time.Second}, {&c.Idle, 2 * time.Minute}, {&c.Read, time.Minute}, {&c.Write, time.Minute},
		{&c.Stall, 10 * time.Second}} {
		if *d.field == 0 {
			*d.field = d.usual
		}
	}
	if c.MaxConnections == 0 {
		c.MaxConnections = 10_000
	}
	if c.Take == nil {
		c.Take, c.Give = func(int64) bool { return true }, func(int64) {}
	}
	s := &Server{config: c, listener: l, conns: map[*conn]struct{}{}, room: make(chan struct{}, c.MaxConnections)}
	s.ctx, s.stop = context.WithCancel(context.Background())
	s.others = branch.New(l.Addr(), s.ctx.Done())
	s.setDate()
	s.pool.New = func() any {
		b := make([]byte, maxHead+maxBody)
		return &b
	}
	return s
}

// Others is where connections come from that net/http has to serve.
func (s *Server) Others() net.Listener { return s.others }

// Run takes connections from the listener until Shutdown, which closes it. It returns nil then, and what was wrong with
// the listener otherwise.
func (s *Server) Run() error {
	s.mu.Lock()
	if s.ctx.Err() != nil {
		s.mu.Unlock()
		return nil
	}
	s.work.Go(s.sweep)
	s.mu.Unlock()
	for {
		select {
		case s.room <- struct{}{}:
		case <-s.ctx.Done():
			return nil
		}
		c, err := s.listener.Accept()
		switch {
		case s.ctx.Err() != nil:
			if err == nil {
				_ = c.Close() // nobody has been answered
			}
			return nil
		case errors.Is(err, net.ErrClosed):
			return err
		case err != nil: // out of files, as a rule: others have to close some first
			<-s.room
			select {
			case <-time.After(50 * time.Millisecond):
			case <-s.ctx.Done():
			}
			continue
		}
		s.begin(c)
	}
}

func (s *Server) begin(nc net.Conn) {
	c := &conn{s: s, net: nc}
	c.head.request.RemoteAddr = nc.RemoteAddr().String()
	c.enter(idle)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ctx.Err() != nil {
		_ = nc.Close() // nobody has been answered
		return
	}
	s.conns[c] = struct{}{}
	s.work.Go(c.run)
}

// Shutdown stops listening, closes connections that wait for a request, and waits until the requests under way are
// answered. When ctx ends first, the rest is cut and its error returned. It does not end what Others were handed.
func (s *Server) Shutdown(ctx context.Context) error {
	s.mu.Lock()
	s.stop()
	_ = s.listener.Close() // nothing can be done about an error
	for c := range s.conns {
		c.interrupt()
		if w := c.late.Load(); w != nil {
			w.begin()
		}
	}
	s.mu.Unlock()
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		s.work.Wait()
	}()
	var err error
	select {
	case <-ended:
	case <-ctx.Done():
		err = ctx.Err()
		s.mu.Lock()
		for c := range s.conns {
			_ = c.net.Close() // its goroutine ends by that
		}
		s.mu.Unlock()
		<-ended
	}
	return err
}

// Cut closes connections that have sent a part of a request: nobody has begun to work on it.
func (s *Server) Cut() {
	s.mu.Lock()
	var parts []*conn
	for c := range s.conns {
		if p := c.phase(); p == heading || p == reading {
			parts = append(parts, c)
		}
	}
	s.mu.Unlock()
	var closing sync.WaitGroup
	for _, c := range parts { // TLS takes a while where a client reads nothing
		closing.Go(func() { _ = c.carrier().Close() }) // its goroutine ends by that
	}
	closing.Wait()
}

// carrier is what carries the connection, which greet changes.
func (c *conn) carrier() net.Conn {
	c.s.mu.Lock()
	defer c.s.mu.Unlock()
	return c.net
}

// sweep closes connections whose clients take too long. One look a second at all of them costs less than timers that
// each request sets.
func (s *Server) sweep() {
	ticker := time.NewTicker(tick)
	defer ticker.Stop()
	for {
		select {
		case <-s.ctx.Done():
			return
		case <-ticker.C:
		}
		s.setDate()
		now := s.clock.Add(1)
		s.mu.Lock()
		for c := range s.conns {
			if c.overdue(now) {
				_ = c.net.Close() // its goroutine ends by that
			}
			c.look(now)
		}
		s.mu.Unlock()
	}
}

func (s *Server) setDate() {
	date := time.Now().UTC().Format(http.TimeFormat)
	s.date.Store(&date)
}
