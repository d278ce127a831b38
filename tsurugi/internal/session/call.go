package session

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"github.com/hikyaku/hikyaku/tsurugi/internal/message"
	"github.com/hikyaku/hikyaku/tsurugi/internal/wire"
)

// A Call is a request on its way. It may be waited for by many goroutines, or by nobody: the answer is received all the
// same.
type Call struct {
	s      *Session
	slot   uint16
	done   chan struct{} // closed: answer or err is there
	answer wire.Answer
	err    error

	query  bool
	rows   Stream
	head   chan struct{} // of queries; closed: header or err or answer is there
	header wire.Answer
	cancel sync.Once
}

func (s *Session) newCall(slot uint16, query bool) *Call {
	c := &Call{s: s, slot: slot, done: make(chan struct{}), query: query}
	if query {
		c.head = make(chan struct{})
		c.rows.init(s.cfg.Buffer)
	}
	return c
}

// Send sends a request whose message fill appends. It blocks while all slots of its kind are taken, or much waits to be
// written. When it fails, the request was not sent, and the error is a *LostError that says so, or the context's.
func (s *Session) Send(ctx context.Context, service wire.Service, query bool, blobs []wire.Blob,
	fill func([]byte) []byte) (*Call, error) {
	free := s.others
	if query {
		free = s.queries
	}
	var slot uint16
	select {
	case slot = <-free:
	default:
		select {
		case slot = <-free:
		case <-s.gone:
			return nil, &LostError{Err: s.Err()}
		case <-ctx.Done():
			return nil, notSent(ctx)
		}
	}
	c := s.newCall(slot, query)
	if err := s.send(ctx, c, service, blobs, fill); err != nil {
		return nil, err
	}
	return c, nil
}

func notSent(ctx context.Context) error {
	return &LostError{Err: fmt.Errorf("the request was not sent: %w", context.Cause(ctx))}
}

func (s *Session) send(ctx context.Context, c *Call, service wire.Service, blobs []wire.Blob,
	fill func([]byte) []byte) error {
	s.mu.Lock()
	if s.ended {
		s.mu.Unlock()
		return &LostError{Err: s.err}
	}
	s.calls[c.slot] = c
	s.open++
	s.mu.Unlock()
	header := wire.RequestHeader{Version: wire.FrameworkVersion, Service: service, Session: s.id, Blobs: blobs}
	err := s.out.put(ctx, s.gone, func(b []byte) []byte {
		start := len(b)
		b = wire.BeginRequest(b, wire.RequestPayload, c.slot)
		b = wire.AppendRequestHeader(b, header)
		b = wire.Delimited(b, fill)
		wire.EndRequest(b[start:], 0)
		return b
	})
	if err != nil {
		s.release(c)
		return &LostError{Err: fmt.Errorf("the request was not sent: %w", err)}
	}
	return nil
}

// release frees a call's slot.
func (s *Session) release(c *Call) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.calls[c.slot] != c {
		return
	}
	s.calls[c.slot] = nil
	s.open--
	if s.open == 0 && s.idle != nil {
		close(s.idle)
		s.idle = nil
	}
	switch {
	case c.slot == s.renewal:
	case c.query:
		s.queries <- c.slot
	default:
		s.others <- c.slot
	}
}

// call is the one of a slot; an answer for nobody is malformed.
func (s *Session) call(slot uint16) (*Call, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if int(slot) >= len(s.calls) || s.calls[slot] == nil {
		if s.ended {
			return nil, s.err
		}
		return nil, fmt.Errorf("%w: an answer for slot %d, where there is no request", wire.ErrMalformed, slot)
	}
	return s.calls[slot], nil
}

// handle gives a frame to its call.
func (s *Session) handle(f wire.Response) error {
	if f.Info == wire.ResponseGoodbyeOK {
		select {
		case <-s.quit:
		default:
			close(s.quit)
		}
		return nil
	}
	c, err := s.call(f.Slot)
	if err != nil {
		return err
	}
	switch f.Info {
	case wire.ResponsePayload:
		return s.finish(c, f.Payload)
	case wire.ResponseBodyHead:
		return c.begin(f.Payload)
	}
	if !c.query {
		return fmt.Errorf("%w: a result set for slot %d, whose request is no query", wire.ErrMalformed, f.Slot)
	}
	switch f.Info {
	case wire.ResultSetPayload:
		return c.rows.add(f.Writer, f.Payload, s.gone)
	case wire.ResultSetBye:
		c.rows.end()
		return s.out.put(context.Background(), s.gone, func(b []byte) []byte {
			start := len(b)
			b = wire.BeginRequest(b, wire.RequestByeOK, c.slot)
			wire.EndRequest(b[start:], 0)
			return b
		})
	default: // a hello, whose name nobody needs: the slot says whose it is
		return nil
	}
}

// finish gives a call its answer and frees the slot.
func (s *Session) finish(c *Call, payload []byte) error {
	a, err := wire.ParseAnswer(payload)
	if err != nil {
		return err
	}
	s.release(c)
	c.answer = a
	close(c.done)
	if c.query {
		c.rows.end()
		c.openHead()
	}
	if d := a.Diagnostic; d != nil && (d.Code == codeSessionClosed || d.Code == codeSessionExpired) {
		return &DiagnosticError{*d} // nothing else will be answered
	}
	return nil
}

func (c *Call) begin(payload []byte) error {
	a, err := wire.ParseAnswer(payload)
	if err != nil {
		return err
	}
	if !c.query || !isOpen(c.head) {
		return fmt.Errorf("%w: a body head for slot %d, which expects none", wire.ErrMalformed, c.slot)
	}
	c.header = a
	close(c.head)
	return nil
}

// openHead is called by the reader only, or when that has ended.
func (c *Call) openHead() {
	if isOpen(c.head) {
		close(c.head)
	}
}

func isOpen(ch chan struct{}) bool {
	select {
	case <-ch:
		return false
	default:
		return true
	}
}

// fail ends a call without an answer.
func (c *Call) fail(err error) {
	c.err = err
	close(c.done)
	if c.query {
		c.rows.fail(err)
	}
}

// Done is closed when the answer is there, or never will be.
func (c *Call) Done() <-chan struct{} { return c.done }

// Wait waits for the final answer. If the context ends first, the server is told to cancel the request, and the error
// is the context's.
func (c *Call) Wait(ctx context.Context) (wire.Answer, error) {
	select {
	case <-c.done:
		return c.answer, c.err
	default:
	}
	select {
	case <-c.done:
		return c.answer, c.err
	case <-ctx.Done():
		c.Cancel()
		return wire.Answer{}, fmt.Errorf("tsurugi: waiting for an answer: %w", context.Cause(ctx))
	}
}

// Head waits for what a query's answer begins with. ok is false if there is no result set, only the final answer.
func (c *Call) Head(ctx context.Context) (header wire.Answer, ok bool, err error) {
	select {
	case <-c.head:
		return c.header, c.header.Message != nil, nil
	default:
	}
	select {
	case <-c.head:
		return c.header, c.header.Message != nil, nil
	case <-c.done:
		return c.header, c.header.Message != nil, c.err
	case <-ctx.Done():
		c.Cancel()
		return wire.Answer{}, false, fmt.Errorf("tsurugi: waiting for a result set: %w", context.Cause(ctx))
	}
}

// Rows is the result set of a query.
func (c *Call) Rows() *Stream { return &c.rows }

// Cancel asks the server to give the request up, once; there will be an answer all the same.
func (c *Call) Cancel() {
	c.cancel.Do(func() {
		s := c.s
		header := wire.RequestHeader{Version: wire.FrameworkVersion, Service: wire.Endpoint, Session: s.id}
		r := message.EndpointRequest{Version: wire.EndpointVersion, Cancel: true}
		ctx, stop := context.WithCancel(context.Background())
		stop() // it does not wait: a session that cannot take the request will end soon
		_ = s.out.put(ctx, s.gone, func(b []byte) []byte {
			// A request that takes the slot next is appended behind this one: it is not the one that is cancelled.
			s.mu.Lock()
			mine := s.calls[c.slot] == c
			s.mu.Unlock()
			if !mine {
				return b
			}
			start := len(b)
			b = wire.BeginRequest(b, wire.RequestPayload, c.slot)
			b = wire.AppendRequestHeader(b, header)
			b = wire.Delimited(b, r.Append)
			wire.EndRequest(b[start:], 0)
			return b
		})
	})
}

// collect joins the parts of a result set.
func collect(parts [][]byte) []byte {
	if len(parts) == 1 {
		return parts[0]
	}
	return slices.Concat(parts...)
}
