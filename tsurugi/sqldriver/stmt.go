package sqldriver

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"slices"

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
// nothing to prepare. If the types of the columns do not do, those of the arguments are tried, and then the columns of
// tables that are asked for anew.
func (s *stmt) prepare(ctx context.Context, args []driver.NamedValue) (*tsurugi.Statement, []tsurugi.Value, error) {
	if len(args) == 0 {
		return nil, nil, nil
	}
	st, values, err := s.choose(ctx, args)
	if err != nil {
		return nil, nil, err
	}
	return st, values, s.upload(ctx, st, values)
}

// choose prepares with the types that the server takes.
func (s *stmt) choose(ctx context.Context, args []driver.NamedValue) (*tsurugi.Statement, []tsurugi.Value, error) {
	had := len(s.c.tables) > 0
	b, err := s.bind(ctx, args, true)
	var st *tsurugi.Statement
	if err == nil {
		st, err = s.c.s.Cached(ctx, s.text, b.holders...)
	}
	if !outdated(err) {
		return st, b.values, s.c.lost(err)
	}
	own, bad := s.bind(ctx, args, false)
	if bad == nil && !slices.Equal(own.holders, b.holders) {
		if st, bad = s.c.s.Cached(ctx, s.text, own.holders...); !outdated(bad) {
			return st, own.values, s.c.lost(bad)
		}
	}
	if !had {
		return nil, nil, err
	}
	s.c.tables = nil
	if b, err = s.bind(ctx, args, true); err != nil {
		return nil, nil, err
	}
	st, err = s.c.s.Cached(ctx, s.text, b.holders...)
	return st, b.values, s.c.lost(err)
}

// bound is what a statement is prepared and run with.
type bound struct {
	holders []tsurugi.Placeholder
	values  []tsurugi.Value
}

// bind makes values of the arguments. With fitted, the type of a placeholder is its column's, as far as that is known,
// so that the server takes whatever the column takes; otherwise it is the argument's.
func (s *stmt) bind(ctx context.Context, args []driver.NamedValue, fitted bool) (bound, error) {
	var found map[string]place
	if fitted {
		found = places(s.text)
	}
	b := bound{make([]tsurugi.Placeholder, len(args)), make([]tsurugi.Value, len(args))}
	for i, a := range args {
		name := a.Name
		if name == "" {
			name = placeholder(i + 1)
		}
		v, err := tsurugi.ValueOf(a.Value)
		if err != nil {
			return bound{}, fmt.Errorf("tsurugi: argument %d: %w", a.Ordinal, err)
		}
		typ := v.Type()
		if v.IsNull() {
			typ = tsurugi.UnknownType
		}
		if at, ok := found[name]; ok {
			column, called, known, err := s.c.typeOf(ctx, at)
			if err != nil {
				return bound{}, err
			}
			if known && v.IsNull() {
				typ = column
			} else if known {
				if v, err = fit(a.Value, column); err != nil {
					return bound{}, &misfit{a.Ordinal, called, err}
				}
				if typ = v.Type(); large(column) && (typ == tsurugi.OctetType || typ == tsurugi.CharacterType) {
					typ = column
				}
			}
		}
		b.holders[i], b.values[i] = tsurugi.Placeholder{Name: name, Type: typ}, v
	}
	return b, nil
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
	r := &rows{ctx: ctx, in: tx}
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
