package tsurugi

import (
	"context"
	"errors"
	"fmt"

	"github.com/hikyaku/hikyaku/tsurugi/internal/message"
	"github.com/hikyaku/hikyaku/tsurugi/internal/relation"
	"github.com/hikyaku/hikyaku/tsurugi/internal/session"
	"github.com/hikyaku/hikyaku/tsurugi/internal/value"
)

// A Column is one of a table or of a result set.
type Column = message.Column

// Rows is the result set of a query. It is for one goroutine, which reads it to its end or closes it.
type Rows struct {
	call    *session.Call
	columns []Column
	types   []value.Type
	buf     []byte
	row     []Value
	err     error
	ended   bool
}

// Query runs a query in SQL and waits for the beginning of its result set.
func (tx *Tx) Query(ctx context.Context, sql string) (*Rows, error) {
	return tx.query(ctx, &message.Request{Kind: message.Query, Tx: tx.bytes, SQL: sql})
}

// QueryPrepared runs a prepared query and waits for the beginning of its result set.
func (tx *Tx) QueryPrepared(ctx context.Context, st *Statement, values ...Value) (*Rows, error) {
	params, _, blobs, err := st.params(values)
	if err != nil {
		return nil, err
	}
	if blobs != nil {
		return nil, fmt.Errorf("%w: a query takes no large objects", ErrParams)
	}
	return tx.query(ctx, &message.Request{Kind: message.PreparedQuery, Tx: tx.bytes, Stmt: st.handle, Params: params})
}

func (tx *Tx) query(ctx context.Context, r *message.Request) (*Rows, error) {
	tx.mu.Lock()
	if tx.over {
		tx.mu.Unlock()
		return nil, ErrTxDone
	}
	c, err := tx.s.send(ctx, r, nil)
	tx.mu.Unlock()
	if err != nil {
		return nil, convert(err)
	}
	header, ok, err := c.Head(ctx)
	if err != nil {
		return nil, convert(err)
	}
	if !ok { // without a result set there is only an error
		a, err := c.Wait(ctx)
		if err != nil {
			return nil, convert(err)
		}
		answer, err := result(a)
		if err == nil {
			err = unexpected(answer)
		}
		return nil, err
	}
	head, err := result(header)
	if err == nil && head.Kind != message.QueryHead {
		err = unexpected(head)
	}
	if err != nil {
		c.Rows().Drop()
		return nil, err
	}
	rows := &Rows{call: c, columns: head.Columns}
	for _, column := range head.Columns {
		rows.types = append(rows.types, column.Type)
	}
	return rows, nil
}

// Columns are those of the result set. The slice must not be changed.
func (r *Rows) Columns() []Column { return r.columns }

// Next goes to the next row; it returns false at the end, and after an error, which Err tells.
func (r *Rows) Next(ctx context.Context) bool {
	for r.err == nil && !r.ended {
		if len(r.buf) > 0 {
			row, rest, err := relation.ReadRow(r.row[:0], r.buf, r.types)
			r.buf = rest
			switch {
			case err == nil:
				r.row = row
				return true
			case errors.Is(err, relation.ErrEnd):
				continue
			case !errors.Is(err, relation.ErrShort):
				r.fail(err)
				return false
			}
		}
		more, err := r.call.Rows().Next(ctx)
		switch {
		case err != nil:
			r.fail(convert(err))
		case more == nil:
			r.finish(ctx)
		case len(r.buf) == 0:
			r.buf = more
		default:
			r.buf = append(r.buf[:len(r.buf):len(r.buf)], more...)
		}
	}
	r.row = nil
	return false
}

func (r *Rows) fail(err error) {
	r.err, r.ended = err, true
	r.call.Rows().Drop()
}

// finish waits for the word on the whole query, which comes after its rows.
func (r *Rows) finish(ctx context.Context) {
	r.ended = true
	a, err := r.call.Wait(ctx)
	if err == nil {
		_, err = result(a)
	}
	if err == nil && len(r.buf) > 0 {
		err = fmt.Errorf("%w: a result set ends within a row", ErrMalformed)
	}
	r.err = convert(err)
}

// Values are those of the row. The slice is good until the next Next; the values stay.
func (r *Rows) Values() []Value { return r.row }

// Err is what ended the rows too early, nil if nothing did.
func (r *Rows) Err() error { return r.err }

// Close throws away the rows that were not read and waits for the word on the whole query. It returns Err; after the
// end it does nothing else.
func (r *Rows) Close(ctx context.Context) error {
	if !r.ended {
		r.call.Rows().Drop()
		r.buf = nil
		r.finish(ctx)
	}
	return r.err
}
