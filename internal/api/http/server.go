package http

import (
	"context"
	"errors"
	"fmt"
	"log"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/hikyaku/hikyaku/internal/access"
	"github.com/hikyaku/hikyaku/internal/queue"
)

// Options are what a Server works with.
type Options struct {
	Store   Store
	Users   *access.Users               // nil: everyone may do everything
	Metrics *Metrics                    // nil: the server makes its own
	Ready   func(context.Context) error // nil: ready from Start to Close. What it returns is shown by /readyz
	// Report is told what a person should know and no client is: panics of handlers, connections that broke in the TLS handshake,
	// certificates that can not be read again. It may be called from several goroutines. nil: nobody is told.
	Report func(error)
}

// Server is the HTTP door. Start and Close may be called from any goroutine, each any number of times.
type Server struct {
	config  Config
	store   Store
	users   *access.Users
	metrics *Metrics
	ready   func(context.Context) error
	report  func(error)
	room    room
	handler http.Handler
	origins *http.CrossOriginProtection
	failed  atomic.Bool // the store said that it is over

	stopping context.Context // done as soon as Close begins: waiting claims return
	stop     context.CancelFunc

	mu     sync.Mutex
	server *http.Server // nil before Start
	addr   net.Addr
	served chan error // the end of Serve
	closed bool
	ended  error // of the first Close
}

// ErrStarted: Start was called before.
var ErrStarted = errors.New("http door: already started")

// ErrClosed: Start was called after Close.
var ErrClosed = errors.New("http door: closed")

// New checks the settings and makes a door that does not listen yet.
func New(c Config, o Options) (*Server, error) {
	if err := c.Check(o.Users.Any()); err != nil {
		return nil, err
	}
	if o.Store == nil {
		return nil, fmt.Errorf("%w: there is no store", ErrConfig)
	}
	s := &Server{
		config: c.withDefaults(), store: o.Store, users: o.Users, metrics: o.Metrics, ready: o.Ready, report: o.Report,
		origins: http.NewCrossOriginProtection(),
	}
	if s.metrics == nil {
		s.metrics = NewMetrics(0)
	}
	s.metrics.Watch(o.Store)
	if s.report == nil {
		s.report = func(error) {}
	}
	s.room.limit = s.config.MaxBusyBytes
	s.stopping, s.stop = context.WithCancel(context.Background())
	s.handler = s.mux()
	return s, nil
}

// Handler is the door without a listener, for tests and for servers of one's own: what Config says of connections, headers,
// idleness and TLS is then up to them.
func (s *Server) Handler() http.Handler { return s.handler }

// Metrics are the metrics that the door serves at /metrics.
func (s *Server) Metrics() *Metrics { return s.metrics }

// Start listens and returns the address, with the port that was found when Config asks for port 0. A door that is off returns
// nil, nil. Requests are served until Close; ctx only bounds the start.
func (s *Server) Start(ctx context.Context) (net.Addr, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.closed:
		return nil, ErrClosed
	case s.server != nil:
		return s.addr, ErrStarted
	case s.config.Off:
		return nil, nil
	}
	tlsConfig, err := s.config.TLS.Open(ErrConfig, s.report)
	if err != nil {
		return nil, err
	}
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", s.config.Listen)
	if err != nil {
		return nil, fmt.Errorf("http door: cannot listen on %s: %w%s", s.config.Listen, err, listenAdvice(err))
	}
	s.addr = listener.Addr()
	s.served = make(chan error, 1)
	s.server = &http.Server{
		Handler:           s.handler,
		TLSConfig:         tlsConfig,
		ReadHeaderTimeout: s.config.HeaderTimeout,
		IdleTimeout:       s.config.IdleTimeout,
		MaxHeaderBytes:    s.config.MaxHeaderBytes,
		ErrorLog:          log.New(reporter(s.report), "", 0),
	}
	go func(server *http.Server, listener net.Listener) {
		if tlsConfig != nil {
			s.served <- server.ServeTLS(listener, "", "")
		} else {
			s.served <- server.Serve(listener)
		}
	}(s.server, bound(listener, s.config.MaxConnections))
	return s.addr, nil
}

// Addr is where the door listens; nil before Start.
func (s *Server) Addr() net.Addr {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.addr
}

// Close stops listening, lets waiting claims return without messages, and waits for the requests under way. When ctx ends
// first, their connections are cut and its error is returned. A second Close returns what the first one did.
func (s *Server) Close(ctx context.Context) error {
	s.stop()
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return s.ended
	}
	s.closed = true
	if s.server == nil {
		return nil
	}
	s.ended = s.server.Shutdown(ctx)
	if s.ended != nil {
		_ = s.server.Close() // Shutdown's error says what happened
	}
	if err := <-s.served; err != nil && !errors.Is(err, http.ErrServerClosed) {
		s.ended = errors.Join(s.ended, fmt.Errorf("http door: %w", err))
	}
	return s.ended
}

// note remembers that the store is over, for /readyz.
func (s *Server) note(err error) {
	if errors.Is(err, queue.ErrUnavailable) || errors.Is(err, queue.ErrClosed) {
		s.failed.Store(true)
	}
}

// reporter is an io.Writer for a log.Logger.
type reporter func(error)

func (r reporter) Write(line []byte) (int, error) {
	r(fmt.Errorf("http door: %s", strings.TrimRight(string(line), "\n")))
	return len(line), nil
}
