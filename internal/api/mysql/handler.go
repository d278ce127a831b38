package mysql

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"runtime/debug"

	engine "github.com/dolthub/go-mysql-server"
	"github.com/dolthub/go-mysql-server/server"
	gms "github.com/dolthub/go-mysql-server/sql"
	vmysql "github.com/dolthub/vitess/go/mysql"
	"github.com/dolthub/vitess/go/sqltypes"
	querypb "github.com/dolthub/vitess/go/vt/proto/query"
	"github.com/dolthub/vitess/go/vt/sqlparser"

	"github.com/hikyaku/hikyaku/internal/access"
	"github.com/hikyaku/hikyaku/internal/api/mysql/auth"
	"github.com/hikyaku/hikyaku/internal/api/mysql/compress"
	"github.com/hikyaku/hikyaku/internal/api/mysql/gate"
	"github.com/hikyaku/hikyaku/internal/api/mysql/link"
)

// handler stands before go-mysql-server's: it takes the short path where there is one, refuses what a queue cannot do
// before anything is done, and corrects what go-mysql-server says of engines.
type handler struct {
	vmysql.Handler // go-mysql-server's; nil until inner is set
	door           *Server
}

// wrap makes the option with which go-mysql-server's handler becomes inner.
func (h *handler) wrap() server.Option {
	return func(e *engine.Engine, sm *server.SessionManager, inner vmysql.Handler) (*engine.Engine,
		*server.SessionManager, vmysql.Handler) {
		h.Handler, h.door.sessions = inner, sm
		return e, sm, h
	}
}

// ConnectionAuthenticated ends the time that a connection has to show who it is.
func (h *handler) ConnectionAuthenticated(c *vmysql.Conn) error {
	if l, ok := link.Of(c.Conn); ok {
		l.Ready()
	}
	if l := loginOf(c.Conn); l != nil {
		l.shown()
	}
	if err := h.Handler.ConnectionAuthenticated(c); err != nil {
		return err
	}
	if m := compress.Chosen(c.Conn); m != compress.None {
		c.Conn = compress.New(c.Conn, m, h.door.budget)
	}
	return gate.Enter(c, h.gateOf(c))
}

// gateOf is what the connection's client may send.
func (h *handler) gateOf(c *vmysql.Conn) gate.Config {
	g := gate.Config{MaxPacket: h.door.config.MaxPacketBytes, Budget: h.door.budget, Stall: h.door.packetStall}
	g.Command = func(com gate.Command) error { return h.command(c, com) }
	// The library resets values to nil, and ends the connection when a piece of one follows.
	g.Forget = func(statement uint32) {
		if p := c.PrepareData[statement]; p != nil {
			clear(p.BindVars)
		}
	}
	g.Closed = func(statement uint32) {
		if s := known(c); s != nil {
			s.kept.forget(statement)
		}
	}
	if s := known(c); s != nil {
		a := s.allowance()
		g.MaxPacket = a.value
		g.Prepare = func(query string) (string, error) { return h.preparable(c, query, a.words) }
	}
	return g
}

// ComInitDB makes a database the connection's.
func (h *handler) ComInitDB(c *vmysql.Conn, name string) error {
	s := known(c)
	if s == nil || s.text.plain() {
		return sqlErrorOf(h.Handler.ComInitDB(c, name))
	}
	name, err := s.text.in(name)
	if err == nil {
		err = sqlErrorOf(h.Handler.ComInitDB(c, name))
	}
	return s.text.said(err)
}

// ConnectionClosed forgets a connection: what it owned goes back.
func (h *handler) ConnectionClosed(c *vmysql.Conn) {
	defer h.door.limit.ended()
	if l := loginOf(c.Conn); l != nil {
		l.of.End()
	}
	if g, ok := c.Conn.(*gate.Conn); ok {
		if z, ok := g.Conn.(*compress.Conn); ok {
			defer z.Release()
		}
		defer g.Done()
	}
	if t, ok := c.Conn.(*tls.Conn); ok && !t.ConnectionState().HandshakeComplete {
		h.door.traffic.of.HandshakeFailed()
	}
	h.Handler.ConnectionClosed(c)
}

// ComQuery answers a statement sent as text.
func (h *handler) ComQuery(ctx context.Context, c *vmysql.Conn, query string, answer vmysql.ResultSpoolFn) (err error) {
	h.door.counts.statements.Add(1)
	answer, midway := midwayOf(c, answer)
	defer midway(&err)
	defer func() { h.door.traffic.ended(callQuery, err) }()
	defer h.panicked(c, &err)
	if s := known(c); s != nil && !s.text.plain() {
		defer func() { err = s.text.said(err) }()
		answer = s.text.out(answer)
		if query, err = s.text.in(query); err != nil {
			return err
		}
	}
	if done, err := h.short(ctx, c, query, nil, answer); done {
		return known(c).worded(err)
	}
	ctx = withAsker(ctx, c)
	l := &long{handler: h, conn: c, query: query, answer: answer}
	if err := l.look(ctx); err != nil || l.done {
		return known(c).worded(err)
	}
	return l.run(ctx, func(answer vmysql.ResultSpoolFn) error { return h.execute(ctx, c, l.query, nil, answer) })
}

// ComMultiQuery answers the first of several statements and returns the others.
func (h *handler) ComMultiQuery(ctx context.Context, c *vmysql.Conn, query string,
	answer vmysql.ResultSpoolFn) (rest string, err error) {
	h.door.counts.statements.Add(1)
	answer, midway := midwayOf(c, answer)
	defer midway(&err)
	defer func() {
		if err != nil {
			rest = "" // the statements behind one that fails are not run
		}
	}()
	defer func() { h.door.traffic.ended(callQuery, err) }()
	defer h.panicked(c, &err)
	if s := known(c); s != nil && !s.text.plain() {
		defer func() { err, s.text.rest = s.text.said(err), rest }()
		answer = s.text.out(answer)
		if query, err = s.text.in(query); err != nil {
			return "", err
		}
	}
	if done, err := h.short(ctx, c, query, nil, answer); done {
		return "", known(c).worded(err)
	}
	first, rest, err := sqlparser.SplitStatement(query)
	if err != nil {
		first, rest = query, ""
	}
	if blank(rest) {
		rest = ""
	}
	ctx = withAsker(ctx, c)
	l := &long{handler: h, conn: c, query: first, answer: answer, more: rest != ""}
	if err := l.look(ctx); err != nil {
		return "", known(c).worded(err)
	}
	if !l.done {
		if err := l.run(ctx, func(answer vmysql.ResultSpoolFn) error {
			return h.execute(ctx, c, l.query, nil, answer)
		}); err != nil {
			return "", err
		}
	}
	return rest, nil
}

// maxPrepared is how many statements a connection may have prepared and not closed: the protocol's library forgets
// none.
const maxPrepared = 16_384

var errPrepared = sqlError(1461, "42000", "Can't create more than max_prepared_stmt_count statements (current value: "+
	"%d): close some, or leave them out of loops", maxPrepared)

// ComPrepare prepares a statement.
func (h *handler) ComPrepare(ctx context.Context, c *vmysql.Conn, query string,
	prepare *vmysql.PrepareData) (fields []*querypb.Field, err error) {
	defer func() { h.door.traffic.ended(callPrepare, err) }()
	defer h.panicked(c, &err)
	defer func() {
		if err != nil {
			delete(c.PrepareData, prepare.StatementID) // the client was told no number to close it by
		}
	}()
	s := known(c)
	if s != nil && !s.text.plain() {
		defer func() { err = s.text.said(err) }()
		defer func() { fields = s.text.fields(fields) }()
	}
	if len(c.PrepareData) > maxPrepared {
		return nil, errPrepared
	}
	l := &long{handler: h, conn: c, query: query}
	if err := l.look(ctx); err != nil {
		return nil, known(c).worded(err)
	}
	fields = l.fields
	if !l.done {
		if fields, err = h.bind(ctx, c, l.query); l.silent {
			fields = nil
		}
		if err != nil {
			return nil, l.failed(err)
		}
	}
	if s = known(c); s == nil {
		return fields, nil
	}
	defer func() { s.parsed, s.naming, s.assigns = parsed{}, "", false }()
	return fields, s.kept.prepare(prepare.StatementID, len(prepare.PrepareStmt), prepare.ParamsCount, s.parsed)
}

// ComStmtExecute answers a prepared statement.
func (h *handler) ComStmtExecute(ctx context.Context, c *vmysql.Conn, prepare *vmysql.PrepareData,
	answer func(*sqltypes.Result) error) (err error) {
	h.door.counts.statements.Add(1)
	spool := vmysql.ResultSpoolFn(func(r *sqltypes.Result, _ bool) error { return answer(r) })
	g, gated := c.Conn.(*gate.Conn)
	if gated && !g.Cursor() {
		var midway func(*error)
		spool, midway = midwayOf(c, spool)
		defer midway(&err)
	}
	defer func() { h.door.traffic.ended(callExecute, err) }()
	defer h.panicked(c, &err)
	if gated && g.Cursor() {
		spoke, tell := false, answer
		answer = func(r *sqltypes.Result) error {
			spoke = true
			return tell(r)
		}
		defer func() {
			if err != nil && !spoke {
				g.Fail(err)
			}
		}()
	}
	writeMoments(prepare)
	if s := known(c); s != nil && !s.text.plain() {
		defer func() { err = s.text.said(err) }()
		spool = s.text.out(spool)
		if err := s.text.bound(prepare); err != nil {
			return err
		}
	}
	if done, err := h.short(ctx, c, prepare.PrepareStmt, prepare, spool); done {
		return known(c).worded(err)
	}
	ctx = withAsker(ctx, c)
	l := &long{handler: h, conn: c, query: prepare.PrepareStmt, answer: spool, bound: prepare}
	if err := l.look(ctx); err != nil || l.done {
		return known(c).worded(err)
	}
	return l.run(ctx, func(answer vmysql.ResultSpoolFn) error {
		return h.execute(ctx, c, l.query, prepare.BindVars, answer)
	})
}

// panicked answers a statement that met a mistake in the code, ours or go-mysql-server's, with an error, and ends the
// connection, whose state nobody knows any more: what it owned goes back. A panic while the statement was planned does
// not get here: see unplanned.
func (h *handler) panicked(c *vmysql.Conn, err *error) {
	if p := recover(); p != nil {
		h.door.report(fmt.Errorf("a statement ended in a panic, and its connection with it: %v\n%s", p, debug.Stack()))
		g, ok := c.Conn.(*gate.Conn)
		if !ok {
			panic(p)
		}
		g.End()
		*err = sqlError(1105, "HY000", "The statement met a fault of this server, and its connection ends: the "+
			"server's log has the details, please report them")
	}
}

// midwayOf lets an error that comes behind rows of an answer be told: the library would end the connection. The caller
// defers what it returns, so that it is the last to see the error.
func midwayOf(c *vmysql.Conn, answer vmysql.ResultSpoolFn) (vmysql.ResultSpoolFn, func(*error)) {
	begun := false
	return func(r *sqltypes.Result, more bool) error {
			begun = begun || len(r.Fields) > 0
			return answer(r, more)
		}, func(err *error) {
			if g, ok := c.Conn.(*gate.Conn); ok && begun && *err != nil {
				g.EndWith(*err)
				*err = nil
			}
		}
}

// withAsker is ctx of a statement on the long way, which may administer, and tells who asks.
func withAsker(ctx context.Context, c *vmysql.Conn) context.Context {
	return access.Asked(ctx, auth.UserOf(c), c.RemoteAddr().String(), "")
}

// session is the connection's.
func (h *handler) session(ctx context.Context, c *vmysql.Conn) (*session, *gms.Context, error) {
	sc, err := h.door.sessions.NewContextWithQuery(ctx, c, "")
	if err != nil {
		return nil, nil, err
	}
	s := sessionOf(sc)
	if s == nil {
		return nil, nil, errors.New("the connection has no session")
	}
	return s, sc, nil
}
