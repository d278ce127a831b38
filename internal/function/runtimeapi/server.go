package runtimeapi

import (
	"errors"
	"fmt"
	"net"
	"sync"
	"time"
)

// Config is what a Server needs.
type Config struct {
	Handler Handler
	// Extensions are the file names of the extensions that were started beside the runtime: the initialisation ends
	// when they have registered and asked, too.
	Extensions []string
	// What an extension is told when it registers.
	Function, Version, HandlerName, Account string
	// Refuse tells of a new connection whether it is not the instance's: then it is closed without a word. It may be
	// called concurrently. nil: all are.
	Refuse func(net.Conn) bool
	// Listener is where it listens; nil: on a port of 127.0.0.1 that the system chooses.
	Listener net.Listener
	// Now is time.Now, unless a test has a clock of its own.
	Now func() time.Time
}

// Server is the endpoint of one instance. Its methods may be called concurrently.
type Server struct {
	config   Config
	listener net.Listener
	wait     sync.WaitGroup

	mu      sync.Mutex
	closed  bool
	conns   map[*conn]struct{}
	phase   phase
	inited  bool        // Asked was called
	told    bool        // Asked was called since the last invocation
	waiting *conn       // where the runtime waits for an invocation
	given   *Invocation // what it has, or will get when it asks
	agents  []*agent

	pen sync.Mutex // held while an invocation is written, without mu
	out []byte     // its head and a small body; pen guards it
}

// phase is what the runtime does.
type phase uint8

const (
	beginning  phase = iota // has not asked yet
	ready                   // waits for an invocation
	working                 // has one
	responding              // sends its answer
	responded               // has sent it and has not asked again
	broken                  // said that it cannot start
)

func (p phase) String() string {
	return [...]string{"Started", "Ready", "InvocationInProgress", "InvocationResponse", "ResponseSent", "InitError"}[p]
}

// Listen opens an endpoint.
func Listen(c Config) (*Server, error) {
	if c.Now == nil {
		c.Now = time.Now
	}
	if c.Listener != nil {
		return serve(c, c.Listener), nil
	}
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("cannot open a Runtime API endpoint for an instance: %w", err)
	}
	return serve(c, l), nil
}

// serve makes an endpoint of a listener.
func serve(c Config, l net.Listener) *Server {
	s := &Server{config: c, listener: l, conns: make(map[*conn]struct{})}
	s.wait.Add(1)
	go s.accept()
	return s
}

// Addr is what a runtime finds in AWS_LAMBDA_RUNTIME_API: host and port.
func (s *Server) Addr() string { return s.listener.Addr().String() }

// Close ends the endpoint and waits until nothing of it runs. The Handler is not called afterwards. It must not be
// called by the Handler.
func (s *Server) Close() {
	s.Break()
	s.wait.Wait()
}

// Break closes the endpoint and its connections, without waiting.
func (s *Server) Break() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return
	}
	s.closed = true
	_ = s.listener.Close() // nobody can be told
	for c := range s.conns {
		_ = c.net.Close()
	}
}

// acceptAgain is how long a program that connects waits when the system had no room for its connection, as when too
// many files are open.
const acceptAgain = 20 * time.Millisecond

func (s *Server) accept() {
	defer s.wait.Done()
	for {
		n, err := s.listener.Accept()
		switch {
		case errors.Is(err, net.ErrClosed):
			return
		case err != nil:
			time.Sleep(acceptAgain)
			continue
		}
		c := newConn(s, n)
		s.mu.Lock()
		room := !s.closed && len(s.conns) < maxConns
		if room {
			s.conns[c] = struct{}{}
			s.wait.Add(1)
		}
		s.mu.Unlock()
		if !room {
			_ = n.Close() // the program sees that there is none
			continue
		}
		go c.run()
	}
}

// forget takes a connection out that has ended.
func (s *Server) forget(c *conn) {
	_ = c.net.Close()
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.conns, c)
	if s.waiting == c {
		s.waiting = nil // it will ask again, or end
	}
	for _, a := range s.agents {
		if a.waiting == c {
			a.waiting = nil
		}
	}
}
