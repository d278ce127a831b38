package sqldriver

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"

	"github.com/hikyaku/hikyaku/tsurugi"
)

// A stmt is a statement's text; the session keeps what the server has prepared of it.
type stmt struct {
	c     *conn
	text  string
	marks int // how many question marks it had
}

func (s *stmt) Close() error { return nil }

// NumInput is how many arguments there have to be; of names nobody knows before the server has seen them.
func (s *stmt) NumInput() int {
	if s.marks > 0 {
		return s.marks
	}
	return -1
}

// errNoContext is what the calls answer that database/sql has not made since it knows contexts.
var errNoContext = errors.New("tsurugi: use the calls with a context")

func (s *stmt) Exec([]driver.Value) (driver.Result, error) { return nil, errNoContext }
func (s *stmt) Query([]driver.Value) (driver.Rows, error)  { return nil, errNoContext }

// prepare gives the arguments' names and types to the server, and returns their values. Without arguments there is nothing to prepare.
func (s *stmt) prepare(ctx context.Context, args []driver.NamedValue) (*tsurugi.Statement, []tsurugi.Value, error) {
	if len(args) == 0 {
		return nil, nil, nil
	}
	holders := make([]tsurugi.Placeholder, len(args))
	values := make([]tsurugi.Value, len(args))
	for i, a := range args {
		v, ok := a.Value.(tsurugi.Value)
		if !ok {
			return nil, nil, fmt.Errorf("tsurugi: argument %d is a %T", a.Ordinal, a.Value)
		}
		holders[i] = tsurugi.Placeholder{Name: placeholder(i + 1), Type: v.Type()}
		if a.Name != "" {
			holders[i].Name = a.Name
		}
		if v.IsNull() {
			holders[i].Type = tsurugi.UnknownType
		}
		values[i] = v
	}
	st, err := s.c.s.Cached(ctx, s.text, holders...)
	return st, values, s.c.lost(err)
}

// ExecContext runs a statement; outside a transaction it is committed.
func (s *stmt) ExecContext(ctx context.Context, args []driver.NamedValue) (driver.Result, error) {
	st, values, err := s.prepare(ctx, args)
	if err != nil {
		return nil, err
	}
	tx, own, err := s.c.inTx(ctx)
	if err != nil {
		return nil, err
	}
	var res tsurugi.Result
	if st == nil {
		res, err = tx.Exec(ctx, s.text)
	} else {
		res, err = tx.ExecPrepared(ctx, st, values...)
	}
	switch {
	case err != nil && own:
		rollback(ctx, tx)
	case err == nil && own:
		err = tx.Commit(ctx)
	}
	if err != nil {
		return nil, err
	}
	return driver.RowsAffected(res.Rows()), nil
}

// QueryContext runs a query; outside a transaction it has one of its own, which ends with the rows.
func (s *stmt) QueryContext(ctx context.Context, args []driver.NamedValue) (driver.Rows, error) {
	st, values, err := s.prepare(ctx, args)
	if err != nil {
		return nil, err
	}
	tx, own, err := s.c.inTx(ctx)
	if err != nil {
		return nil, err
	}
	r := &rows{ctx: ctx}
	if own {
		r.tx = tx
	}
	if st == nil {
		r.rows, err = tx.Query(ctx, s.text)
	} else {
		r.rows, err = tx.QueryPrepared(ctx, st, values...)
	}
	if err != nil {
		if own {
			rollback(ctx, tx)
		}
		return nil, err
	}
	return r, nil
}
