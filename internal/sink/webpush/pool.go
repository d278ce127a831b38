package webpush

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"maps"
	"net"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hikyaku/hikyaku/internal/outbound"
	"github.com/hikyaku/hikyaku/internal/push"
	"github.com/hikyaku/hikyaku/internal/push/rest"
)

// service is a push service that is connected, or was.
type service struct {
	origin string
	client *push.Client
	pause  rest.Pause
	// refused is why no connection could be made, if its address may not be reached; nil else.
	refused atomic.Pointer[outbound.RefusedError]
	known   atomic.Bool // it has answered

	// Under the pool's mutex.
	users int
	used  uint64 // when it was last let go, as the pool counts
}

// pool keeps the clients of push services: one each, and no more than so many.
type pool struct {
	secure      *tls.Config
	connections int
	most        int
	dial        outbound.DialFunc

	mu     sync.Mutex
	open   map[string]*service // by origin
	turn   uint64
	closed bool
	// answered and lost are the requests of clients that are there no more.
	answered, lost uint64
	closing        sync.WaitGroup // clients on their way out
}

var (
	errPoolFull   = errors.New("messages for too many push services are in flight at once: max_services is reached")
	errPoolClosed = errors.New("the sink is closed")
)

func newPool(secure *tls.Config, connections, most int, dial outbound.DialFunc) *pool {
	return &pool{secure: secure, connections: connections, most: most, dial: dial, open: map[string]*service{}}
}

// idle is how long a connection is kept that nobody uses.
const idle = 5 * time.Minute

// use returns the service of an origin, for a message that lets it go.
func (p *pool) use(origin, host string) (*service, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return nil, errPoolClosed
	}
	s := p.open[origin]
	if s == nil {
		if len(p.open) >= p.most && !p.makeRoom() {
			return nil, errPoolFull
		}
		address := host
		if _, _, err := net.SplitHostPort(host); err != nil {
			address = net.JoinHostPort(host, "443")
		}
		s = &service{origin: origin}
		var err error
		s.client, err = push.New(push.Config{
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
func (s *service) dialing(dial outbound.DialFunc) outbound.DialFunc {
	return func(ctx context.Context, network, address string) (net.Conn, error) {
		c, err := dial(ctx, network, address)
		var refused *outbound.RefusedError
		errors.As(err, &refused)
		s.refused.Store(refused)
		return c, err
	}
}

// waits tells of one of the services why nothing is sent to it; nil: to each is sent, or has to be sent nothing.
func (p *pool) waits(now time.Time) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, origin := range slices.Sorted(maps.Keys(p.open)) {
		s := p.open[origin]
		if s.users == 0 {
			continue
		}
		if left, why := s.pause.Left(now); left > 0 {
			return fmt.Errorf("%s: %w", origin, why)
		}
		if why := s.client.Waits(); why != nil {
			return why
		}
	}
	return nil
}

// free lets a service go.
func (p *pool) free(s *service) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.turn++
	s.users--
	s.used = p.turn
}

// makeRoom hangs up with the service that was not used for longest, if there is one that nobody uses. p.mu is held.
func (p *pool) makeRoom() bool {
	var oldest *service
	for _, s := range p.open {
		if s.users == 0 && (oldest == nil || s.used < oldest.used) {
			oldest = s
		}
	}
	if oldest == nil {
		return false
	}
	delete(p.open, oldest.origin)
	p.keepCounts(oldest) // nobody uses it
	p.closing.Go(oldest.client.HangUp)
	return true
}

// keepCounts keeps the counts of a service that is left. p.mu is held.
func (p *pool) keepCounts(s *service) {
	was := s.client.Stats()
	p.answered, p.lost = p.answered+was.Responses, p.lost+was.Unknown
}

// close hangs up with all.
func (p *pool) close() {
	p.mu.Lock()
	p.closed = true
	open := p.open
	p.open = nil
	for _, s := range open {
		p.keepCounts(s)
	}
	p.mu.Unlock()
	for _, s := range open {
		s.client.HangUp()
	}
	p.closing.Wait()
}
