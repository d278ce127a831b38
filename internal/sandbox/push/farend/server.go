package farend

import (
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"sync"
	"sync/atomic"

	"golang.org/x/net/http2"
)

// Config is how a far end is started. Its zero value, with an Authority, listens on a free port of loopback.
type Config struct {
	Listen    string     // "": 127.0.0.1:0
	Authority *Authority // signs the server's certificate. nil: HTTP/2 without TLS, for measuring
	Names     []string   // and addresses of the server besides localhost and loopback's
	Clients   bool       // takes certificates of clients that the authority signed
	// speaks HTTP/1.1 too, with those that ask for it; only refusals, silence and latency befall them
	HTTP1     bool
	OnlyHTTP1 bool // speaks nothing else, with HTTP1
	Behaviour Behaviour
	Window    int    // bytes of requests that a connection may have under way; 0: 4 MiB
	MaxBody   int    // bytes of a request that the service gets to see; 0: 16 KiB
	Keep      int    // how many requests Seen can tell of; 0: none, which is fastest
	Seed      uint64 // of all chances; 0: one of its own
	// Trouble is told, a line each, why connections and requests are refused: each kind at once, and then once in ten
	// seconds at most. It is called by one goroutine at a time, and must be quick. nil: nobody is told.
	Trouble func(line string)
}

const (
	defaultWindow  = 4 << 20
	defaultMaxBody = 16 << 10
	maxHeaderList  = 16 << 10
	maxHanging     = 1000   // connections that hang; what comes beyond them is reset
	mostConns      = 20_000 // connections at once; what comes beyond them is reset
)

// Server is a far end that runs. Its methods may be called from any goroutine.
type Server struct {
	config   Config
	service  Service
	listener net.Listener
	tls      *tls.Config // nil: plain
	ledger   *ledger
	wheel    *wheel
	plan     atomic.Pointer[plan]
	seed     uint64
	http1    *http1
	trouble  trouble

	mu      sync.Mutex
	conns   map[*conn]struct{}
	hanging []net.Conn
	serial  uint64
	closed  bool
	running sync.WaitGroup
	over    chan struct{}
}

// Start listens. Close the server.
func Start(c Config, service Service) (*Server, error) {
	s := &Server{config: c, service: service, conns: map[*conn]struct{}{}, over: make(chan struct{})}
	s.trouble.to = c.Trouble
	if s.config.Listen == "" {
		s.config.Listen = "127.0.0.1:0"
	}
	if s.config.Window <= 0 {
		s.config.Window = defaultWindow
	}
	if s.config.MaxBody <= 0 {
		s.config.MaxBody = defaultMaxBody
	}
	s.seed = c.Seed
	if s.seed == 0 {
		s.seed = freshSeed()
	}
	if err := c.Behaviour.check(service.Knows); err != nil {
		return nil, fmt.Errorf("behaviour: %w", err)
	}
	s.plan.Store(newPlan(c.Behaviour))
	if c.Authority != nil {
		if err := s.secure(); err != nil {
			return nil, err
		}
	}
	l, err := net.Listen("tcp", s.config.Listen)
	if err != nil {
		return nil, fmt.Errorf("sandbox: %w", err)
	}
	s.listener = l
	s.ledger = newLedger(c.Keep)
	s.wheel = newWheel(func(st *stream) { st.c.respond(st, true) })
	if c.HTTP1 {
		s.http1 = newHTTP1(s)
	}
	s.running.Add(1)
	go s.accept()
	return s, nil
}

func (s *Server) secure() error {
	cert, err := s.config.Authority.Server(s.config.Names...)
	if err != nil {
		return err
	}
	s.tls = &tls.Config{
		Certificates: []tls.Certificate{cert}, MinVersion: tls.VersionTLS12, NextProtos: []string{http2.NextProtoTLS},
		DynamicRecordSizingDisabled: true, // it saves the first bytes some time, and costs the many that follow
	}
	if s.config.HTTP1 {
		s.tls.NextProtos = append(s.tls.NextProtos, "http/1.1")
	}
	if s.config.OnlyHTTP1 {
		s.tls.NextProtos = []string{"http/1.1"}
	}
	if s.config.Clients {
		s.tls.ClientAuth, s.tls.ClientCAs = tls.VerifyClientCertIfGiven, s.config.Authority.Pool()
	}
	return nil
}

// Addr is where it listens.
func (s *Server) Addr() net.Addr { return s.listener.Addr() }

// URL is where it listens, as https://host:port (http:// without an Authority).
func (s *Server) URL() string {
	if s.tls == nil {
		return "http://" + s.Addr().String()
	}
	return "https://" + s.Addr().String()
}

// Behave changes how everything is treated from now on, on open connections too. What already waits for its answer is
// not touched.
func (s *Server) Behave(b Behaviour) error {
	if err := b.check(s.service.Knows); err != nil {
		return fmt.Errorf("behaviour: %w", err)
	}
	s.plan.Store(newPlan(b))
	for _, c := range s.connections() {
		c.retell()
	}
	return nil
}

// Behaviour is what was last told.
func (s *Server) Behaviour() Behaviour { return s.plan.Load().Behaviour }

// Counts returns the totals.
func (s *Server) Counts() Counts { return s.ledger.counts() }

// Count is how often the message of that id was processed, at most 255.
func (s *Server) Count(id string) int {
	h := s.ledger.hash(id)
	s.ledger.mu.Lock()
	defer s.ledger.mu.Unlock()
	return s.ledger.ids.count(h)
}

// CountDevice is how many messages were processed for a device, at most 255.
func (s *Server) CountDevice(token string) int {
	h := s.ledger.hash(token)
	s.ledger.mu.Lock()
	defer s.ledger.mu.Unlock()
	return s.ledger.devices.count(h)
}

// Seen returns the latest requests, at most Config.Keep, oldest first.
func (s *Server) Seen() []Seen {
	l := s.ledger
	l.mu.Lock()
	defer l.mu.Unlock()
	return append(append([]Seen(nil), l.seen[l.next:]...), l.seen[:l.next]...)
}

// Forget begins to count anew. The behaviour stays.
func (s *Server) Forget() { s.ledger.forget() }

// GoAway tells all connections to go, leaving a share of what is in flight on each, of the newest, unprocessed.
func (s *Server) GoAway(unprocessed float64) {
	for _, c := range s.connections() {
		c.goAway(unprocessed)
	}
}

// Reset resets all connections. What is in flight counts as processed, with its answers lost, if processed says so.
func (s *Server) Reset(processed bool) {
	for _, c := range s.connections() {
		c.breakOff(processed, nil)
	}
}

func (s *Server) connections() []*conn {
	s.mu.Lock()
	defer s.mu.Unlock()
	all := make([]*conn, 0, len(s.conns))
	for c := range s.conns {
		all = append(all, c)
	}
	return all
}

// Close ends every connection and waits for everything.
func (s *Server) Close() error {
	s.mu.Lock()
	if s.closed {
		s.mu.Unlock()
		s.running.Wait()
		return nil
	}
	s.closed = true
	close(s.over)
	hanging := s.hanging
	s.hanging = nil
	s.mu.Unlock()
	err := s.listener.Close()
	for _, c := range hanging {
		c.Close()
	}
	for _, c := range s.connections() {
		c.end()
	}
	if s.http1 != nil {
		s.http1.close()
	}
	s.wheel.stop()
	s.running.Wait()
	if errors.Is(err, net.ErrClosed) {
		return nil
	}
	return err
}
