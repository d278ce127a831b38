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

// prepare gives the arguments' names and types to the server, and returns their values. Without arguments there is
// nothing to prepare.
func (s *stmt) prepare(ctx context.Context, args []driver.NamedValue) (*tsurugi.Statement, []tsurugi.Value, error) {
	if len(args) == 0 {
		return nil, nil, nil
	}
	had := len(s.c.tables) > 0
	st, values, err := s.try(ctx, args)
	if had && outdated(err) {
		s.c.tables = nil
		return s.try(ctx, args)
	}
	return st, values, err
}

// try prepares by what is known of the tables: the type of a placeholder is its column's, so that the server takes
// whatever the column takes, or else its argument's.
func (s *stmt) try(ctx context.Context, args []driver.NamedValue) (*tsurugi.Statement, []tsurugi.Value, error) {
	found := places(s.text)
	holders := make([]tsurugi.Placeholder, len(args))
	values := make([]tsurugi.Value, len(args))
	for i, a := range args {
		name := a.Name
		if name == "" {
			name = placeholder(i + 1)
		}
		v, err := tsurugi.ValueOf(a.Value)
		if err != nil {
			return nil, nil, fmt.Errorf("tsurugi: argument %d: %w", a.Ordinal, err)
		}
		typ := v.Type()
		if v.IsNull() {
			typ = tsurugi.UnknownType
		}
		if at, ok := found[name]; ok {
			column, called, known, err := s.c.typeOf(ctx, at)
			if err != nil {
				return nil, nil, err
			}
			if known && v.IsNull() {
				typ = column
			} else if known {
				if v, err = fit(a.Value, column); err != nil {
					return nil, nil, &misfit{a.Ordinal, called, err}
				}
				typ = v.Type()
			}
		}
		holders[i], values[i] = tsurugi.Placeholder{Name: name, Type: typ}, v
	}
	st, err := s.c.s.Cached(ctx, s.text, holders...)
	return st, values, s.c.lost(err)
}

// stale forgets what a statement was prepared by, if the server has dropped it without an answer: its table may be
// another one.
func (s *stmt) stale(st *tsurugi.Statement, err error) bool {
	if st == nil || !tsurugi.IsDissipated(err) {
		return false
	}
	s.c.s.Forget(st)
	s.c.tables = nil
	return true
}

// ExecContext runs a statement; outside a transaction it is committed.
func (s *stmt) ExecContext(ctx context.Context, args []driver.NamedValue) (driver.Result, error) {
	res, again, err := s.exec(ctx, args)
	if again {
		res, _, err = s.exec(ctx, args)
	}
	return res, err
}

// exec does it once; again says that nothing was done and it can be.
func (s *stmt) exec(ctx context.Context, args []driver.NamedValue) (_ driver.Result, again bool, _ error) {
	st, values, err := s.prepare(ctx, args)
	if err != nil {
		return nil, false, err
	}
	tx, own, err := s.c.inTx(ctx)
	if err != nil {
		return nil, false, err
	}
	var res tsurugi.Result
	if st == nil {
		res, err = tx.Exec(ctx, s.text)
	} else {
		res, err = tx.ExecPrepared(ctx, st, values...)
	}
	again = s.stale(st, err) && own
	switch {
	case err != nil && own:
		rollback(ctx, tx)
	case err == nil && own:
		err = tx.Commit(ctx)
	}
	if err != nil {
		return nil, again, err
	}
	return driver.RowsAffected(res.Rows()), false, nil
}

// QueryContext runs a query; outside a transaction it has one of its own, which ends with the rows.
func (s *stmt) QueryContext(ctx context.Context, args []driver.NamedValue) (driver.Rows, error) {
	r, again, err := s.query(ctx, args)
	if again {
		r, _, err = s.query(ctx, args)
	}
	if err != nil {
		return nil, err
	}
	return r, nil
}

// query does it once, as exec does.
func (s *stmt) query(ctx context.Context, args []driver.NamedValue) (_ *rows, again bool, _ error) {
	st, values, err := s.prepare(ctx, args)
	if err != nil {
		return nil, false, err
	}
	tx, own, err := s.c.inTx(ctx)
	if err != nil {
		return nil, false, err
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
		again = s.stale(st, err) && own
		if own {
			rollback(ctx, tx)
		}
		return nil, again, err
	}
	return r, false, nil
}
