// Package pool keeps the clients of far ends that messages name: one each, and no more than so many at once.
//
//	p := pool.New(secure, 2, 64, dial)
//	defer p.Close()
//	s, err := p.Use("https://push.example.com", "push.example.com")
//	if err != nil { … } // ErrFull: later
//	defer p.Free(s)
//	s.Client.Send(…)
//
// One that nobody uses is left when another wants its place. What connections to it may reach is the dial's business.
package pool

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hikyaku/hikyaku/internal/outbound"
	"github.com/hikyaku/hikyaku/internal/push"
	"github.com/hikyaku/hikyaku/internal/push/figure"
	"github.com/hikyaku/hikyaku/internal/push/rest"
)

// Service is a far end that is connected, or was.
type Service struct {
	Origin string
	Client *push.Client
	Pause  rest.Pause // of all that goes there
	// Refused is why no connection could be made, if its address may not be reached; nil else.
	Refused atomic.Pointer[outbound.RefusedError]
	Known   atomic.Bool // it has answered

	// Under the pool's mutex.
	users int
	used  uint64 // when it was last let go, as the pool counts
}

// Pool keeps the clients. Its methods may be called by several goroutines at once.
type Pool struct {
	secure      *tls.Config
	connections int
	most        int
	dial        outbound.DialFunc

	mu     sync.Mutex
	open   map[string]*Service // by origin
	turn   uint64
	closed bool
	// answered and lost are the requests of clients that are there no more.
	answered, lost uint64
	closing        sync.WaitGroup // clients on their way out
}

// ErrFull says that there is no place for one more now.
var ErrFull = errors.New("messages for too many push services are in flight at once: max_services (of wns max_hosts) is " +
	"reached")

var errClosed = errors.New("the sink is closed")

// New makes a pool of at most so many services, each with at most so many connections.
func New(secure *tls.Config, connections, most int, dial outbound.DialFunc) *Pool {
	return &Pool{secure: secure, connections: connections, most: most, dial: dial, open: map[string]*Service{}}
}

// idle is how long a connection is kept that nobody uses.
const idle = 5 * time.Minute

// Use returns the service of an origin, for a message that lets it go. host is where it is, with the port where that is
// not 443.
func (p *Pool) Use(origin, host string) (*Service, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return nil, errClosed
	}
	s := p.open[origin]
	if s == nil {
		if len(p.open) >= p.most && !p.makeRoom() {
			return nil, ErrFull
		}
		address := host
		if _, _, err := net.SplitHostPort(host); err != nil {
			address = net.JoinHostPort(host, "443")
		}
		s = &Service{Origin: origin}
		var err error
		s.Client, err = push.New(push.Config{
			Address: address, Dial: s.dialing(p.dial), TLS: p.secure, MaxConnections: p.connections,
			MaxResponseBody: 4 << 10, IdleTimeout: idle, HTTP1: true,
			// a token is a subscription's matter, not the connection's
			Accepted: func(*push.Response) bool { return true },
		})
		if err != nil {
			return nil, fmt.Errorf("push service %s: %w", origin, err)
		}
		p.open[origin] = s
	}
	s.users++
	return s, nil
}

// dialing makes connections, and remembers whether they are refused.
func (s *Service) dialing(dial outbound.DialFunc) outbound.DialFunc {
	return func(ctx context.Context, network, address string) (net.Conn, error) {
		c, err := dial(ctx, network, address)
		var refused *outbound.RefusedError
		errors.As(err, &refused)
		s.Refused.Store(refused)
		return c, err
	}
}

// Waits tells why nothing is sent to some of the services, as rest.Reasons does; nil: to each is sent, or has to be
// sent nothing.
func (p *Pool) Waits(now time.Time) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	return rest.Reasons("push service", p.open, func(s *Service) error {
		if s.users == 0 {
			return nil
		}
		if left, why := s.Pause.Left(now); left > 0 {
			return fmt.Errorf("%s: %w", s.Origin, why)
		}
		return s.Client.Waits()
	})
}

// Free lets a service go.
func (p *Pool) Free(s *Service) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.turn++
	s.users--
	s.used = p.turn
}

// makeRoom hangs up with the service that was not used for longest, if there is one that nobody uses. p.mu is held.
func (p *Pool) makeRoom() bool {
	var oldest *Service
	for _, s := range p.open {
		if s.users == 0 && (oldest == nil || s.used < oldest.used) {
			oldest = s
		}
	}
	if oldest == nil {
		return false
	}
	delete(p.open, oldest.Origin)
	p.keepCounts(oldest) // nobody uses it
	p.closing.Go(oldest.Client.HangUp)
	return true
}

// keepCounts keeps the counts of a service that is left. p.mu is held.
func (p *Pool) keepCounts(s *Service) {
	was := s.Client.Stats()
	p.answered, p.lost = p.answered+was.Responses, p.lost+was.Unknown
}

// Close hangs up with all.
func (p *Pool) Close() {
	p.mu.Lock()
	p.closed = true
	open := p.open
	p.open = nil
	for _, s := range open {
		p.keepCounts(s)
	}
	p.mu.Unlock()
	for _, s := range open {
		s.Client.HangUp()
	}
	p.closing.Wait()
}

// Len is how many services there are.
func (p *Pool) Len() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.open)
}

// Figures adds those of the services; an app is an origin.
func (p *Pool) Figures(f *figure.Figures, now time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	f.Add(push.Stats{Responses: p.answered, Unknown: p.lost})
	f.Apps = map[string]figure.App{}
	for origin, s := range p.open {
		f.Add(s.Client.Stats())
		left, _ := s.Pause.Left(now)
		f.Apps[origin] = figure.App{Paused: left > 0}
	}
}
