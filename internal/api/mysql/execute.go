package mysql

import (
	"context"
	"errors"
	"io"

	"github.com/dolthub/go-mysql-server/server"
	gms "github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/types"
	vmysql "github.com/dolthub/vitess/go/mysql"
	"github.com/dolthub/vitess/go/sqltypes"
	querypb "github.com/dolthub/vitess/go/vt/proto/query"
	"github.com/dolthub/vitess/go/vt/sqlparser"

	"github.com/hikyaku/hikyaku/internal/api/mysql/gate"
)

// execute runs a statement by go-mysql-server's engine, measured, and answers with its rows as they come: a client that
// takes them slowly holds up the statement, where go-mysql-server's own handler gathers more than a thousand of any
// size. The statement ends when its client is gone.
func (h *handler) execute(ctx context.Context, c *vmysql.Conn, query string, bound map[string]*querypb.BindVariable,
	answer vmysql.ResultSpoolFn) (err error) {
	s := known(c)
	if s == nil {
		return errors.New("the connection has no session")
	}
	watched, unwatch := h.door.watch(ctx, c)
	defer unwatch()
	m, measured := s.measure(watched)
	m.strict = s.strictly(query)
	s.meter = m
	defer func() {
		s.meter, s.parsed, s.naming, s.assigns = nil, parsed{}, "", false
		m.stop()
		err = m.why(err)
	}()
	sc, err := h.door.sessions.NewContextWithQuery(measured, c, query)
	if err != nil {
		return err
	}
	if sc, err = sc.ProcessList.BeginQuery(sc, query); err != nil {
		return err
	}
	defer sc.ProcessList.EndQuery(sc)
	values, err := expressions(bound)
	if err != nil {
		return err
	}
	// Errors of the library stay such: a text of it, taken for one of ours, would keep the values in it (see shown).
	schema, iter, err := h.plan(sc, query, values)
	if err != nil {
		return gms.UnwrapError(err)
	}
	if err := h.spool(sc, c, schema, iter, answer); err != nil {
		return gms.UnwrapError(err)
	}
	return nil
}

// plan plans a statement, and returns what makes its rows.
func (h *handler) plan(ctx *gms.Context, query string, values map[string]sqlparser.Expr) (schema gms.Schema,
	iter gms.RowIter, err error) {
	defer h.unplanned(sessionOf(ctx), &err)
	schema, iter, _, err = h.door.engine.QueryWithBindings(ctx, query, nil, values, &gms.QueryFlags{})
	return schema, iter, err
}

// expressions are the values of a prepared statement.
func expressions(bound map[string]*querypb.BindVariable) (map[string]sqlparser.Expr, error) {
	values := make(map[string]sqlparser.Expr, len(bound))
	for name, b := range bound {
		v, err := sqltypes.BindVariableToValue(b)
		if err != nil {
			return nil, err
		}
		if values[name], err = sqlparser.ExprFromValue(v); err != nil {
			return nil, err
		}
	}
	return values, nil
}

// A part of an answer is sent when it has so many rows or bytes.
const (
	batchRows  = 128
	batchBytes = 1 << 20
)

// spool sends rows, and gives back what made them.
func (h *handler) spool(ctx *gms.Context, c *vmysql.Conn, schema gms.Schema, iter gms.RowIter,
	answer vmysql.ResultSpoolFn) (err error) {
	m := sessionOf(ctx).meter
	columns := allOf(m.columns, schema)
	schema = widened(schema, columns)
	p := part{fields: fieldsOf(ctx, schema, columns), answer: answer, meter: m}
	// A cursor's rows are fetched when the client likes, while the next ones are read: each part's buffer stays theirs.
	if p.kept = ofCursor(c); p.kept {
		p.buffer = gms.NewByteBuffer(cursorBuffer)
	} else {
		p.buffer = gms.ByteBufPool.Get().(*gms.ByteBuffer)
		defer func() {
			p.buffer.Reset()
			gms.ByteBufPool.Put(p.buffer)
		}()
	}
	err = p.rows(ctx, schema, iter)
	if closed := iter.Close(ctx); err == nil {
		err = closed
	}
	if err != nil {
		return err
	}
	return p.last()
}

// part is a part of an answer.
type part struct {
	fields []*querypb.Field
	buffer *gms.ByteBuffer // of the values
	kept   bool            // the buffer outlives the part
	answer vmysql.ResultSpoolFn
	meter  *meter
	result *sqltypes.Result
	bytes  int64
	sent   bool // some part was
}

// rows sends all but the last part.
func (p *part) rows(ctx *gms.Context, schema gms.Schema, iter gms.RowIter) error {
	for p.meter.err == nil { // it is not always returned
		row, err := iter.Next(ctx)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return err
		}
		if types.IsOkResult(row) {
			p.result = okResult(row[0].(types.OkResult))
			continue
		}
		if err := p.meter.answer(row); err != nil {
			return err
		}
		values, err := server.RowToSQL(ctx, schema, row, nil, p.buffer)
		if err != nil {
			return err
		}
		if err := p.add(values); err != nil {
			return err
		}
		p.meter.passed()
	}
	return p.meter.err
}

// add adds a row, and sends what is enough.
func (p *part) add(values []sqltypes.Value) error {
	if p.result == nil {
		p.result = &sqltypes.Result{Fields: p.fields}
	}
	p.result.Rows = append(p.result.Rows, values)
	p.result.RowsAffected++
	for _, v := range values {
		p.bytes += int64(v.Len()) + 16
	}
	if p.result.RowsAffected < batchRows && p.bytes < batchBytes {
		return nil
	}
	err := p.answer(p.result, false)
	p.result, p.bytes, p.sent = nil, 0, true
	if p.kept {
		p.buffer = gms.NewByteBuffer(cursorBuffer)
	} else {
		p.buffer.Reset()
	}
	return err
}

// cursorBuffer is what the buffer of a part of a cursor's rows begins with.
const cursorBuffer = 4 << 10

// ofCursor tells whether the statement that runs is to have a cursor.
func ofCursor(c *vmysql.Conn) bool {
	g, ok := c.Conn.(*gate.Conn)
	return ok && g.Cursor()
}

// last sends what is left.
func (p *part) last() error {
	if p.result == nil && p.sent {
		return nil
	}
	if p.result == nil {
		p.result = &sqltypes.Result{Fields: p.fields}
	}
	return p.answer(p.result, false)
}

func okResult(ok types.OkResult) *sqltypes.Result {
	r := &sqltypes.Result{RowsAffected: ok.RowsAffected, InsertID: ok.InsertID}
	if ok.Info != nil {
		r.Info = ok.Info.String()
	}
	return r
}
