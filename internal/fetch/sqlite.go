package fetch

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"

	"modernc.org/sqlite"
)

// connector opens connections of SQLite's driver, which has only names for them.
type connector struct {
	driver *sqlite.Driver
	name   string
}

// Connect opens a connection.
func (c connector) Connect(ctx context.Context) (driver.Conn, error) {
	opened, err := c.driver.Open(c.name)
	if err != nil {
		return nil, err
	}
	whole, ok := opened.(sqliteConn)
	if !ok {
		return nil, errors.Join(fmt.Errorf("SQLite's driver opens a %T, which cannot do what is needed", opened),
			opened.Close())
	}
	prepared, err := whole.PrepareContext(context.WithoutCancel(ctx), active)
	if err != nil {
		return nil, errors.Join(err, whole.Close())
	}
	other, ok := prepared.(driver.StmtQueryContext)
	if !ok {
		return nil, errors.Join(fmt.Errorf("SQLite's driver prepares a %T, which cannot do what is needed", prepared),
			prepared.Close(), whole.Close())
	}
	return endable{whole, prepared, other}, nil
}

// Driver is the driver.
func (c connector) Driver() driver.Driver { return c.driver }

// sqliteConn is what a connection of SQLite's driver can do.
type sqliteConn interface {
	driver.Conn
	driver.ConnBeginTx
	driver.ConnPrepareContext
	driver.ExecerContext
	driver.Pinger
	driver.QueryerContext
	driver.SessionResetter
	driver.Validator
}

// endable is a connection whose questions end with their contexts, whenever that is. The driver interrupts SQLite once,
// and SQLite forgets an interruption when a statement begins while no other is active: one that came a moment before
// the question began was lost, and the question went on for as long as it liked. So another statement is active until
// the question has begun.
type endable struct {
	sqliteConn
	prepared driver.Stmt
	other    driver.StmtQueryContext // the same
}

// active is a statement that stays active after its first row, and touches no table.
const active = "values (1), (2)"

// QueryContext asks a question. It returns with the first row.
func (c endable) QueryContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Rows, error) {
	if ctx.Done() == nil {
		return c.sqliteConn.QueryContext(ctx, query, args)
	}
	other, err := c.other.QueryContext(context.WithoutCancel(ctx), nil)
	if err != nil {
		return nil, err
	}
	rows, err := c.sqliteConn.QueryContext(ctx, query, args)
	if e := other.Close(); e != nil && err == nil {
		return nil, errors.Join(e, rows.Close())
	}
	return rows, err
}

// Close closes the connection.
func (c endable) Close() error { return errors.Join(c.prepared.Close(), c.sqliteConn.Close()) }
