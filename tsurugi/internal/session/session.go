package session

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"sync"
	"time"

	"github.com/hikyaku/hikyaku/tsurugi/internal/message"
	"github.com/hikyaku/hikyaku/tsurugi/internal/relay"
	"github.com/hikyaku/hikyaku/tsurugi/internal/wire"
)

// A Session is an open connection. Its methods may be called by many goroutines.
type Session struct {
	cfg    Config
	conn   net.Conn
	reader *wire.Reader
	id     uint64
	user   string
	relay  *message.Relay // nil: the session was opened without one

	queries chan uint16 // free slots for queries: the lowest ones, as the server demands
	others  chan uint16 // free slots for other requests
	renewal uint16      // the slot for renewals

	out  outbox
	gone chan struct{} // closed: the session has ended, and err says why
	quit chan struct{} // closed: the server has said goodbye
	wg   sync.WaitGroup

	mu      sync.Mutex
	calls   []*Call // by slot
	open    int     // how many calls have no answer yet
	idle    chan struct{}
	closing bool // the program closes it: the server closes the connection at our goodbye
	ended   bool
	err     error
}

func start(cfg Config, conn net.Conn, reader *wire.Reader, a message.EndpointAnswer) *Session {
	s := &Session{
		cfg: cfg, conn: conn, reader: reader, id: a.Session, user: a.User, relay: a.Relay,
		queries: make(chan uint16, cfg.ResultSets), others: make(chan uint16, cfg.InFlight),
		renewal: uint16(cfg.ResultSets + cfg.InFlight),
		gone:    make(chan struct{}), quit: make(chan struct{}),
		calls: make([]*Call, cfg.ResultSets+cfg.InFlight+1),
	}
	s.out.init()
	for i := range cfg.ResultSets {
		s.queries <- uint16(i)
	}
	for i := range cfg.InFlight {
		s.others <- uint16(cfg.ResultSets + i)
	}
	s.wg.Go(s.read)
	s.wg.Go(s.write)
	if cfg.KeepAlive > 0 {
		s.wg.Go(s.renew)
	}
	return s
}

// ID is the server's number of the session.
func (s *Session) ID() uint64 { return s.id }

// User is whom the server takes the client for; empty when it asks nobody.
func (s *Session) User() string { return s.user }

// Relay is a client of the service for large objects, for a session that was opened with one. It ends with the session.
func (s *Session) Relay(endpoint string, secure *tls.Config) (*relay.Client, error) {
	c, err := relay.New(s.relay, relay.Config{Endpoint: endpoint, TLS: secure, Most: s.cfg.MaxAnswer,
		Timeout: s.cfg.Timeout, Dial: s.cfg.Dial})
	if err != nil {
		return nil, err
	}
	s.wg.Go(func() {
		<-s.gone
		c.Close()
	})
	return c, nil
}

// Done is closed when the session has ended.
func (s *Session) Done() <-chan struct{} { return s.gone }

// Err is why the session has ended; nil while it has not.
func (s *Session) Err() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.err
}

// end ends the session: every call that has no answer fails.
func (s *Session) end(err error) {
	s.mu.Lock()
	if s.ended {
		s.mu.Unlock()
		return
	}
	if s.closing {
		err = ErrClosed
	}
	s.ended, s.err = true, err
	var lost []*Call
	for slot, c := range s.calls {
		if c != nil {
			lost = append(lost, c)
			s.calls[slot] = nil
		}
	}
	close(s.gone)
	s.mu.Unlock()
	_ = s.conn.Close() // it is over, whatever this says
	for _, c := range lost {
		c.fail(&LostError{Sent: true, Err: err})
	}
}

// Close ends the session. It waits, as long as the context lets it, for answers that are on their way; then, or at once
// when the context has ended, it says goodbye and closes the connection. Its error is the context's; when the session
// had ended before, there is nothing to do and no error.
func (s *Session) Close(ctx context.Context) error {
	err := s.settle(ctx)
	s.mu.Lock()
	s.closing = true
	s.mu.Unlock()
	s.goodbye(ctx)
	s.end(ErrClosed)
	s.wg.Wait()
	return err
}

// settle waits until no answer is missing.
func (s *Session) settle(ctx context.Context) error {
	for {
		s.mu.Lock()
		if s.open == 0 || s.ended {
			s.mu.Unlock()
			return nil
		}
		if s.idle == nil {
			s.idle = make(chan struct{})
		}
		idle := s.idle
		s.mu.Unlock()
		select {
		case <-idle:
		case <-s.gone:
			return nil
		case <-ctx.Done():
			return fmt.Errorf("tsurugi: closing a session that still awaits answers: %w", context.Cause(ctx))
		}
	}
}

// goodbyeWait is how long the server may take to answer a goodbye. It is a courtesy: a server that just closes the
// connection is fine, too.
const goodbyeWait = time.Second

func (s *Session) goodbye(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, goodbyeWait)
	defer cancel()
	err := s.out.put(ctx, s.gone, func(b []byte) []byte {
		start := len(b)
		b = wire.BeginRequest(b, wire.RequestGoodbye, 0)
		wire.EndRequest(b[start:], 0)
		return b
	})
	if err != nil {
		return
	}
	select {
	case <-s.quit:
	case <-s.gone:
	case <-ctx.Done():
	}
}

// renew asks the server, again and again, to let the session live.
func (s *Session) renew() {
	tick := time.NewTicker(s.cfg.KeepAlive)
	defer tick.Stop()
	for {
		select {
		case <-s.gone:
			return
		case <-tick.C:
		}
		if err := s.Renew(context.Background()); err != nil {
			s.end(err)
			return
		}
	}
}

// Renew asks the server to let the session live, now. One that does not answer within Config.Timeout is taken for dead,
// with ErrSilent. It is not for two callers at a time.
func (s *Session) Renew(ctx context.Context) error {
	ctx, cancel := context.WithTimeoutCause(ctx, s.cfg.Timeout, ErrSilent)
	defer cancel()
	r := message.CoreRequest{Version: wire.CoreVersion, Renew: true}
	c := s.newCall(s.renewal, false)
	if err := s.send(ctx, c, wire.Core, nil, r.Append); err != nil {
		return err
	}
	a, err := c.Wait(ctx)
	if errors.Is(err, ErrSilent) {
		return ErrSilent
	}
	if err == nil && a.Diagnostic != nil {
		err = &DiagnosticError{*a.Diagnostic}
	}
	return err
}

// read gives each answer to its call, until the connection ends.
func (s *Session) read() {
	for {
		f, err := s.reader.Response()
		if err == nil {
			err = s.handle(f)
		}
		if err != nil {
			if errors.Is(err, io.EOF) {
				err = errors.New("the server closed the connection")
			}
			s.end(err)
			return
		}
	}
}

// write sends what gathers, until the session ends.
func (s *Session) write() {
	for {
		b, ok := s.out.take(s.gone)
		if !ok {
			return
		}
		if len(b) == 0 {
			continue
		}
		err := s.conn.SetWriteDeadline(time.Now().Add(s.cfg.Timeout))
		if err == nil {
			_, err = s.conn.Write(b)
		}
		if err != nil {
			s.end(err)
			return
		}
	}
}
