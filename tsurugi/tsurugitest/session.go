package tsurugitest

import (
	"errors"
	"net"
	"sync/atomic"
	"time"

	"github.com/hikyaku/hikyaku/tsurugi/internal/message"
	"github.com/hikyaku/hikyaku/tsurugi/internal/wire"
	"github.com/hikyaku/hikyaku/tsurugi/tsurugitest/internal/store"
)

const (
	maxRequest = 256 << 20 // bytes of a frame
	minSlots   = 16        // for queries, whatever the client says
	flushAt    = 64 << 10  // bytes of answers that are not held back any longer
)

// A session is one connection; its goroutine does one request after the other.
type session struct {
	server  *Server
	conn    net.Conn
	reader  *wire.Reader
	id      uint64
	slots   int // for queries
	out     []byte
	hung    bool
	expired atomic.Bool
	relay   uint64 // the session of the relay; 0: it has none

	txs    map[uint64]*tx
	stmts  map[uint64]*statement
	handle uint64 // the last that was given
}

// A tx is a transaction and what has to come with its handle.
type tx struct {
	*store.Tx
	handle, secret uint64
}

type statement struct {
	*store.Statement
	sql string
}

func newSession(s *Server, conn net.Conn, id uint64) *session {
	c := &session{server: s, conn: conn, id: id, txs: make(map[uint64]*tx), stmts: make(map[uint64]*statement)}
	c.reader = wire.NewReader(counting{conn, &s.stats.in}, maxRequest)
	return c
}

// counting counts what is read.
type counting struct {
	net.Conn
	n *atomic.Int64
}

func (c counting) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	c.n.Add(int64(n))
	return n, err
}

func (c *session) kill() { _ = c.conn.Close() } // its goroutine sees it

// errGone ends a session.
var errGone = errors.New("tsurugitest: the session is over")

func (c *session) serve(full bool) {
	defer c.end()
	if c.handshake(full) != nil {
		return
	}
	c.server.stats.sessions.Add(1)
	for {
		if c.flush(false) != nil {
			return
		}
		if c.conn.SetReadDeadline(time.Now().Add(c.server.cfg.SessionLife)) != nil {
			return
		}
		r, err := c.reader.Request()
		if err != nil || c.request(r) != nil {
			return
		}
	}
}

// end undoes what is not committed.
func (c *session) end() {
	_ = c.flush(true)  // the client may be gone
	_ = c.conn.Close() // it is over
	for _, t := range c.txs {
		t.Abort(nil)
	}
	if c.relay != 0 {
		c.server.relay.end(c.relay)
	}
}

// flush sends the answers: when it has to, when they are many, or when there is nothing to do before the client has
// them.
func (c *session) flush(now bool) error {
	if !now && c.reader.Buffered() == 0 {
		c.server.stats.waits.Add(1)
		now = true
	}
	if len(c.out) == 0 || !now && len(c.out) < flushAt {
		return nil
	}
	c.server.stats.out.Add(int64(len(c.out)))
	_, err := c.conn.Write(c.out)
	c.out = c.out[:0]
	return err
}

func (c *session) request(r wire.Request) error {
	switch r.Info {
	case wire.RequestGoodbye:
		c.frame(wire.Response{Info: wire.ResponseGoodbyeOK})
		return errGone
	case wire.RequestByeOK:
		return nil
	}
	h, body, err := wire.CutRequestHeader(r.Payload)
	if err != nil || h.Version.Above(c.server.framework()) {
		return errGone
	}
	if c.hung {
		return c.cancelled(h, r.Slot, body)
	}
	if c.expired.Load() && h.Service != wire.Endpoint {
		c.diagnose(r.Slot, diagSessionClosed, "this session is already shutdown")
		return nil
	}
	switch h.Service {
	case wire.Endpoint:
		return c.cancelled(h, r.Slot, body)
	case wire.Core:
		return c.core(r.Slot, body)
	case wire.SQL:
		c.server.stats.requests.Add(1)
		return c.sql(r.Slot, body, h.Blobs)
	default:
		c.diagnose(r.Slot, diagServiceNotFound, "the destination service is not found")
		return nil
	}
}

// cancelled deals with a wish to cancel. A request that is done already has been answered; one that hangs is answered
// now.
func (c *session) cancelled(h wire.RequestHeader, slot uint16, body []byte) error {
	if h.Service != wire.Endpoint {
		return nil
	}
	r, err := message.ParseEndpointRequest(body)
	if err != nil || !r.Cancel {
		return errGone
	}
	if c.hung {
		c.diagnose(slot, diagCanceled, "the request was canceled")
	}
	return nil
}

func (c *session) core(slot uint16, body []byte) error {
	r, err := message.ParseCoreRequest(body)
	switch {
	case err != nil:
		c.diagnose(slot, diagInvalidRequest, "request parse error")
	case r.Renew:
		if done, err := c.hooked(Request{Kind: Renewal, Session: c.id}, slot, 0, nil); done {
			return err
		}
		c.answer(slot, wire.Answer{Message: message.AppendCoreDone(nil)})
	case r.Shutdown:
		c.answer(slot, wire.Answer{})
		c.expired.Store(true)
	}
	return nil
}

// frame puts a frame among those that are sent next.
func (c *session) frame(f wire.Response) { c.out = wire.AppendResponse(c.out, f) }

func (c *session) answer(slot uint16, a wire.Answer) {
	a.Session = c.id
	c.frame(wire.Response{Info: wire.ResponsePayload, Slot: slot, Payload: wire.AppendAnswer(nil, a)})
}

func (c *session) diagnose(slot uint16, code uint64, text string) {
	c.answer(slot, wire.Answer{Diagnostic: &wire.Diagnostic{Code: code, Message: text}})
}

// codes of diagnostics.
const (
	diagUnknown         = 0
	diagUnsupported     = 2
	diagIllegalState    = 6
	diagAuthentication  = 11
	diagResourceLimit   = 23
	diagSessionClosed   = 31
	diagServiceNotFound = 33
	diagInvalidRequest  = 41
	diagCanceled        = 42
	diagDenied          = 43
)
