package fetch

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"sync"
	"time"
)

// pool asks over a bounded number of connections, which it opens when they are needed and keeps.
type pool interface {
	// check looks whether the database understands a text.
	check(ctx context.Context, text string) error
	// ask gives every row to take until that returns an error, which is then the answer. size is what tells the texts
	// of one pool apart.
	ask(ctx context.Context, text string, size int, args []any, take func(Row) error) error
	close() error
}

// idleTime is how long a connection is kept that nobody uses.
const idleTime = 5 * time.Minute

// sqlPool is a pool of database/sql.
type sqlPool struct {
	db   *sql.DB
	keep bool // statements are worth keeping prepared by us: the driver does not

	mu         sync.Mutex
	statements map[int]*sql.Stmt // by size
}

func newSQLPool(c driver.Connector, connections int, keep bool) *sqlPool {
	db := sql.OpenDB(c)
	db.SetMaxOpenConns(connections)
	db.SetMaxIdleConns(connections)
	db.SetConnMaxIdleTime(idleTime)
	return &sqlPool{db: db, keep: keep, statements: map[int]*sql.Stmt{}}
}

func (p *sqlPool) check(ctx context.Context, text string) error {
	s, err := p.db.PrepareContext(ctx, text)
	if err != nil {
		return err
	}
	return s.Close()
}

func (p *sqlPool) ask(ctx context.Context, text string, size int, args []any, take func(Row) error) error {
	rows, err := p.query(ctx, text, size, args)
	if err != nil {
		return err
	}
	defer rows.Close()
	c, err := newColumns(rows)
	if err != nil {
		return err
	}
	for rows.Next() {
		row, err := c.scan(rows)
		if err != nil {
			return err
		}
		if err := take(row); err != nil {
			return &takenError{err}
		}
	}
	return rows.Err()
}

func (p *sqlPool) query(ctx context.Context, text string, size int, args []any) (*sql.Rows, error) {
	if !p.keep {
		return p.db.QueryContext(ctx, text, args...)
	}
	p.mu.Lock()
	s := p.statements[size]
	p.mu.Unlock()
	if s == nil {
		var err error
		if s, err = p.prepare(ctx, text, size); err != nil {
			return nil, err
		}
	}
	return s.QueryContext(ctx, args...)
}

// prepare keeps the texts for each number of keys prepared: there are as many as powers of two.
func (p *sqlPool) prepare(ctx context.Context, text string, size int) (*sql.Stmt, error) {
	s, err := p.db.PrepareContext(ctx, text)
	if err != nil {
		return nil, err
	}
	p.mu.Lock()
	other := p.statements[size]
	if other == nil {
		p.statements[size] = s
	}
	p.mu.Unlock()
	if other != nil { // somebody was faster
		return other, s.Close()
	}
	return s, nil
}

func (p *sqlPool) close() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	var errs []error
	for _, s := range p.statements {
		errs = append(errs, s.Close())
	}
	clear(p.statements)
	return errors.Join(append(errs, p.db.Close())...)
}

// takenError carries the error of whoever took the rows, so that it is not held for the database's.
type takenError struct{ error }
