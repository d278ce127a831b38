package lambda

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
	"time"

	"github.com/hikyaku/hikyaku/internal/access"
	"github.com/hikyaku/hikyaku/internal/access/sigv4"
	"github.com/hikyaku/hikyaku/internal/deployment"
	"github.com/hikyaku/hikyaku/internal/queue"
)

// Options are what a Server works with. Functions has to be there.
type Options struct {
	Functions *deployment.Registry // the door does not close it
	Store     *queue.Store         // for the names of queues
	Users     *access.Users        // nil: everyone may do everything
	// Report is told what a person should know and no client is. It may be called from several goroutines. nil: nobody is told.
	Report func(error)
}

// Server is the Lambda door. Start and Close may be called from any goroutine, each any number of times.
type Server struct {
	config    Config
	functions *deployment.Registry
	store     *queue.Store
	users     *access.Users
	report    func(error)
	verifier  sigv4.Verifier
	busy      atomic.Int64 // bytes of bodies that are read
	stopping  context.Context
	stop      context.CancelFunc // ends logs that are followed

	mu     sync.Mutex
	web    *http.Server // nil before Start
	addr   net.Addr
	served sync.WaitGroup
	closed bool
	ended  error // of the first Close
}

// ErrStarted: Start was called before. ErrClosed: it was called after Close.
var (
	ErrStarted = errors.New("lambda door: already started")
	ErrClosed  = errors.New("lambda door: closed")
)

// What a connection may take. An invocation takes up to 15 minutes, and the start of its instance comes on top.
const (
	headerTimeout  = 10 * time.Second
	readTimeout    = 5 * time.Minute
	idleTimeout    = 2 * time.Minute
	maxHeaderBytes = 64 << 10
)

// New checks the settings and makes a door that does not listen yet.
func New(c Config, o Options) (*Server, error) {
	if err := c.Check(o.Users.Any()); err != nil {
		return nil, err
	}
	if o.Functions == nil || o.Store == nil {
		return nil, fmt.Errorf("%w: there are no functions", ErrConfig)
	}
	d := &Server{config: c.withDefaults(), functions: o.Functions, store: o.Store, users: o.Users, report: o.Report}
	if d.report == nil {
		d.report = func(error) {}
	}
	d.verifier = d.newVerifier()
	d.stopping, d.stop = context.WithCancel(context.Background())
	return d, nil
}

// Start listens and returns the address, with the port that was found when Config asks for port 0. A door that is off returns nil, nil.
// Requests are served until Close; ctx only bounds the start.
func (d *Server) Start(ctx context.Context) (net.Addr, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	switch {
	case d.closed:
		return nil, ErrClosed
	case d.web != nil:
		return d.addr, ErrStarted
	case d.config.Off:
		return nil, nil
	}
	tlsConfig, err := d.config.TLS.Open(ErrConfig, d.report, "http/1.1")
	if err != nil {
		return nil, err
	}
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", d.config.Listen)
	if err != nil {
		return nil, fmt.Errorf("lambda door: cannot listen on %s: %w", d.config.Listen, err)
	}
	d.addr = listener.Addr()
	d.web = &http.Server{
		Handler:           http.HandlerFunc(d.serve),
		ReadHeaderTimeout: headerTimeout,
		ReadTimeout:       readTimeout,
		IdleTimeout:       idleTimeout,
		MaxHeaderBytes:    maxHeaderBytes,
		TLSConfig:         tlsConfig,
		ErrorLog:          log.New(reporter(d.report), "", 0),
	}
	bounded := newBounded(listener, d.config.MaxConnections)
	d.served.Go(func() {
		serve := func() error { return d.web.Serve(bounded) }
		if tlsConfig != nil {
			serve = func() error { return d.web.ServeTLS(bounded, "", "") }
		}
		if err := serve(); err != nil && !errors.Is(err, http.ErrServerClosed) && !errors.Is(err, net.ErrClosed) {
			d.report(fmt.Errorf("lambda door: %w", err))
		}
	})
	return d.addr, nil
}

// Addr is where the door listens; nil before Start.
func (d *Server) Addr() net.Addr {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.addr
}

// Close stops listening and waits for the requests under way. When ctx ends first, their connections are cut and its error is returned. A second
// Close returns what the first one did.
func (d *Server) Close(ctx context.Context) error {
	d.stop()
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.closed {
		return d.ended
	}
	d.closed = true
	if d.web != nil {
		if d.ended = d.web.Shutdown(ctx); d.ended != nil {
			_ = d.web.Close() // Shutdown's error says what happened
		}
		d.served.Wait()
	}
	return d.ended
}

// reporter is an io.Writer for a log.Logger.
type reporter func(error)

func (r reporter) Write(line []byte) (int, error) {
	r(fmt.Errorf("lambda door: %s", strings.TrimRight(string(line), "\n")))
	return len(line), nil
}

// bounded is a listener with so many connections at most: others wait.
type bounded struct {
	net.Listener
	room   chan struct{}
	closed chan struct{}
	once   sync.Once
}

func newBounded(l net.Listener, most int) *bounded {
	return &bounded{Listener: l, room: make(chan struct{}, most), closed: make(chan struct{})}
}

// Accept implements net.Listener.
func (b *bounded) Accept() (net.Conn, error) {
	select {
	case b.room <- struct{}{}:
	case <-b.closed:
		return nil, net.ErrClosed
	}
	c, err := b.Listener.Accept()
	if err != nil {
		<-b.room
		return nil, err
	}
	return &guest{Conn: c, leave: sync.OnceFunc(func() { <-b.room })}, nil
}

// Close implements net.Listener.
func (b *bounded) Close() error {
	b.once.Do(func() { close(b.closed) })
	return b.Listener.Close()
}

type guest struct {
	net.Conn
	leave func()
}

// Close implements net.Conn.
func (g *guest) Close() error {
	defer g.leave()
	return g.Conn.Close()
}
