package q4m

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/go-sql-driver/mysql"
)

// line is a connection of a client to a server that speaks MySQL's protocol. It is for one goroutine at a time, as a
// worker's connection is. A call ends early, with an error, when the context ends that the line was opened with.
type line interface {
	// ask sends a statement as text and returns the first value of the first row; found is false without a row.
	ask(statement string) (answer string, found bool, err error)
	// prepare prepares the statement that execute then runs, over and over, with the values of a row.
	prepare(statement string) error
	execute(id, payload string, at int64) error
	// ping is one round trip in which nothing is done.
	ping() error
	Close() error
}

// The clients, as the report names them.
const (
	clientDriver = "go-sql-driver/mysql"
	clientLight  = "light" // see lightLine
	clientPGX    = "pgx"
)

// driverLine is a line of Go's usual client, as most programs use it.
type driverLine struct {
	ctx      context.Context
	db       *sql.DB
	conn     *sql.Conn
	prepared *sql.Stmt
}

// openDriver opens a line of go-sql-driver/mysql.
func openDriver(ctx context.Context, to *mysql.Config) (*driverLine, error) {
	connector, err := mysql.NewConnector(to)
	if err != nil {
		return nil, fmt.Errorf("connect to %s: %w", to.Addr, err)
	}
	l := &driverLine{ctx: ctx, db: sql.OpenDB(connector)}
	if l.conn, err = l.db.Conn(ctx); err != nil {
		return nil, errors.Join(fmt.Errorf("connect to %s: %w", to.Addr, err), l.db.Close())
	}
	return l, nil
}

// calls is the context of a call: of one that can be cancelled the driver would start to watch, with each call, which
// costs more than some calls do. What a call waits for is over within seconds.
func (l *driverLine) calls() (context.Context, error) { return outlasting(l.ctx) }

func (l *driverLine) ask(statement string) (answer string, found bool, err error) {
	ctx, err := l.calls()
	if err != nil {
		return "", false, err
	}
	rows, err := l.conn.QueryContext(ctx, statement)
	if err != nil {
		return "", false, err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	if found = rows.Next(); !found {
		return "", false, rows.Err()
	}
	var value sql.RawBytes
	if err := rows.Scan(&value); err != nil {
		return "", false, err
	}
	return string(value), true, nil
}

func (l *driverLine) prepare(statement string) (err error) {
	l.prepared, err = l.conn.PrepareContext(l.ctx, statement)
	return err
}

func (l *driverLine) execute(id, payload string, at int64) error {
	ctx, err := l.calls()
	if err != nil {
		return err
	}
	_, err = l.prepared.ExecContext(ctx, id, payload, at)
	return err
}

func (l *driverLine) ping() error {
	ctx, err := l.calls()
	if err != nil {
		return err
	}
	return l.conn.PingContext(ctx)
}

func (l *driverLine) Close() error {
	var err error
	if l.prepared != nil {
		err = l.prepared.Close()
	}
	return errors.Join(err, l.conn.Close(), l.db.Close())
}
