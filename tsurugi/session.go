package tsurugi

import (
	"context"
	"fmt"

	"github.com/hikyaku/hikyaku/tsurugi/internal/message"
	"github.com/hikyaku/hikyaku/tsurugi/internal/relay"
	"github.com/hikyaku/hikyaku/tsurugi/internal/session"
	"github.com/hikyaku/hikyaku/tsurugi/internal/wire"
)

// A Session is a connection to a server. Its methods may be called by many goroutines.
type Session struct {
	inner *session.Session
	cache *cache
	relay *relay.Client // nil: the session was opened without one
}

// ID is the server's number of the session.
func (s *Session) ID() uint64 { return s.inner.ID() }

// User is whom the server takes the client for; empty if it asks for no credentials.
func (s *Session) User() string { return s.inner.User() }

// Done is closed when the session has ended; it does not come back.
func (s *Session) Done() <-chan struct{} { return s.inner.Done() }

// Err is why the session has ended, nil while it has not.
func (s *Session) Err() error { return convert(s.inner.Err()) }

// Ping asks the server for a sign of life and renews the session's. The context bounds how long that takes.
func (s *Session) Ping(ctx context.Context) error {
	a, err := s.ask(ctx, &message.Request{Kind: message.SearchPath})
	if err != nil {
		return err
	}
	if a.Kind != message.PathAnswer {
		return unexpected(a)
	}
	return nil
}

// Close waits for the answers that are on their way, as long as the context lets it, and ends the session. The server
// rolls back what is not committed. Its error is the context's. Closing twice does no harm.
func (s *Session) Close(ctx context.Context) error { return s.inner.Close(ctx) }

// send sends a request to the SQL service.
func (s *Session) send(ctx context.Context, r *message.Request, blobs []wire.Blob) (*session.Call, error) {
	r.Version = wire.SQLVersion
	query := r.Kind == message.Query || r.Kind == message.PreparedQuery
	return s.inner.Send(ctx, wire.SQL, query, blobs, r.Append)
}

// ask sends a request and waits for its answer.
func (s *Session) ask(ctx context.Context, r *message.Request) (*message.Answer, error) {
	c, err := s.send(ctx, r, nil)
	if err != nil {
		return nil, convert(err)
	}
	a, err := c.Wait(ctx)
	if err != nil {
		return nil, convert(err)
	}
	return result(a)
}

// tell sends a request whose answer nobody needs, unless that would block.
func (s *Session) tell(r *message.Request) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	_, _ = s.send(ctx, r, nil) // if it cannot be sent, the server forgets with the session
}

func unexpected(a *message.Answer) error {
	return fmt.Errorf("%w: an answer of kind %d that was not asked for", ErrMalformed, a.Kind)
}
