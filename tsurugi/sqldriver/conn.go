package sqldriver

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"time"

	"github.com/hikyaku/hikyaku/tsurugi"
)

// closeWait is how long the server may take to end a session cleanly.
const closeWait = 2 * time.Second

// A conn is one session. database/sql uses it from one goroutine at a time.
type conn struct {
	s      *tsurugi.Session
	tx     *tsurugi.Tx               // nil: each statement has one of its own
	tables map[string]*tsurugi.Table // as the server described them
}

func (c *conn) Close() error {
	ctx, cancel := context.WithTimeout(context.Background(), closeWait)
	defer cancel()
	return c.s.Close(ctx)
}

// Done is closed when the session has ended, for whoever takes the connection out of database/sql.
func (c *conn) Done() <-chan struct{} { return c.s.Done() }

// IsValid tells whether the session is there.
func (c *conn) IsValid() bool { return c.s.Err() == nil }

// ResetSession is called before a session is used again.
func (c *conn) ResetSession(context.Context) error {
	if c.s.Err() != nil {
		return driver.ErrBadConn
	}
	return nil
}

// Ping asks the server for a sign of life.
func (c *conn) Ping(ctx context.Context) error { return c.lost(c.s.Ping(ctx)) }

// lost tells database/sql to take another session when the request certainly did not reach the server.
func (c *conn) lost(err error) error {
	var lost *tsurugi.LostError
	if errors.As(err, &lost) && !lost.Sent && c.s.Err() != nil {
		return driver.ErrBadConn
	}
	return err
}

// Begin is BeginTx without options.
func (c *conn) Begin() (driver.Tx, error) {
	return c.BeginTx(context.Background(), driver.TxOptions{})
}

// BeginTx begins a transaction, which is serializable whatever is asked for.
func (c *conn) BeginTx(ctx context.Context, o driver.TxOptions) (driver.Tx, error) {
	if o.Isolation > driver.IsolationLevel(sql.LevelSerializable) {
		return nil, fmt.Errorf("tsurugi: there is no isolation level %v; transactions are serializable",
			sql.IsolationLevel(o.Isolation))
	}
	tx, err := c.s.Begin(ctx, options(o.ReadOnly))
	if err != nil {
		return nil, c.lost(err)
	}
	c.tx = tx
	return &transaction{ctx, c}, nil
}

func options(readOnly bool) tsurugi.TxOptions {
	if readOnly {
		return tsurugi.TxOptions{Type: tsurugi.ReadOnly}
	}
	return tsurugi.TxOptions{}
}

type transaction struct {
	ctx context.Context // database/sql rolls back when it ends, and gives Commit none
	c   *conn
}

func (t *transaction) Commit() error {
	tx := t.c.tx
	t.c.tx = nil
	return tx.Commit(t.ctx)
}

func (t *transaction) Rollback() error {
	tx := t.c.tx
	t.c.tx = nil
	ctx, cancel := context.WithTimeout(context.WithoutCancel(t.ctx), closeWait)
	defer cancel()
	return tx.Rollback(ctx)
}

// Prepare is PrepareContext without a context.
func (c *conn) Prepare(query string) (driver.Stmt, error) {
	return c.PrepareContext(context.Background(), query)
}

// PrepareContext keeps the text. The server sees it with the first arguments: only they tell the types of the
// placeholders.
func (c *conn) PrepareContext(_ context.Context, query string) (driver.Stmt, error) {
	text, marks := rewrite(query)
	return &stmt{c: c, text: text, marks: marks}, nil
}

// CheckNamedValue lets values of package tsurugi through, and all that tsurugi.ValueOf takes.
func (c *conn) CheckNamedValue(v *driver.NamedValue) error {
	value, err := tsurugi.ValueOf(v.Value)
	if _, moment := v.Value.(time.Time); moment {
		return err // its column says what becomes of its zone
	}
	if err == nil {
		v.Value = value
		return nil
	}
	plain, err := driver.DefaultParameterConverter.ConvertValue(v.Value)
	if err != nil {
		return fmt.Errorf("tsurugi: argument %d: %w", v.Ordinal, err)
	}
	if _, moment := plain.(time.Time); moment {
		v.Value = plain
		return nil
	}
	v.Value, err = tsurugi.ValueOf(plain)
	return err
}

// ExecContext runs a statement.
func (c *conn) ExecContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Result, error) {
	text, marks := rewrite(query)
	return (&stmt{c: c, text: text, marks: marks}).ExecContext(ctx, args)
}

// QueryContext runs a query.
func (c *conn) QueryContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Rows, error) {
	text, marks := rewrite(query)
	return (&stmt{c: c, text: text, marks: marks}).QueryContext(ctx, args)
}

// inTx does something in the transaction that is open, or in one of its own, which own tells: then the caller ends it.
func (c *conn) inTx(ctx context.Context) (tx *tsurugi.Tx, own bool, err error) {
	if c.tx != nil {
		return c.tx, false, nil
	}
	tx, err = c.s.Begin(ctx, tsurugi.TxOptions{})
	return tx, true, c.lost(err)
}

func rollback(ctx context.Context, tx *tsurugi.Tx) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), closeWait)
	defer cancel()
	_ = tx.Rollback(ctx) // there is an error already that says more
}
