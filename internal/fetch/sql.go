package fetch

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/hikyaku/hikyaku/internal/away"
	"github.com/hikyaku/hikyaku/internal/component"
)

// SQL are the settings of a database and a question to it.
type SQL struct {
	Database       string `yaml:"database" secret:"true" doc:"Of sql: a file, which is SQLite's; or postgres://user:password@host:port/database; or mysql://user:password@host:port/database."`
	Query          string `yaml:"query" doc:"Of sql: the query. :name is an attribute or field of the message, bound and never part of the text."`
	MaxConnections int    `yaml:"max_connections" min:"0" max:"1000" doc:"Of sql: connections at once. Not set: as many as there are requests at once."`
}

// DB asks a database one question. Its methods may be called from several goroutines at once.
type DB struct {
	dialect     dialect
	question    *question
	query       string
	connections int

	mu   sync.Mutex
	pool pool // nil until it is needed, and after Close
}

// DefaultConnections is how many connections a DB opens at most where neither the settings nor Want say so.
const DefaultConnections = 4

// NewSQL checks the settings, which stand below prefix ("source."). Errors are *component.SettingError.
func NewSQL(c SQL, prefix string) (*DB, error) {
	d, err := newDialect(c.Database)
	if err != nil {
		return nil, component.Setting(prefix+"database", err)
	}
	if strings.TrimSpace(c.Query) == "" {
		return nil, component.Setting(prefix+"query", errors.New("is missing: what is the database to be asked?"))
	}
	q, err := parseSQL(prefix+"query", c.Query)
	if err != nil {
		return nil, err
	}
	return &DB{dialect: d, question: q, query: c.Query, connections: c.MaxConnections}, nil
}

// Names are the names of the parameters, each as often as it stands there, and the bytes where they do.
func (d *DB) Names() (names []string, at []int) { return d.question.names, d.question.at }

// Uses tells whether the question has a parameter of that name.
func (d *DB) Uses(name string) bool { return d.question.uses(name) }

// Query is the question's text.
func (d *DB) Query() string { return d.query }

// Want says how many connections are of use, unless the settings do. It is called before Start.
func (d *DB) Want(connections int) {
	if d.connections == 0 {
		d.connections = connections
	}
}

// startPatience bounds the look at the question at the start.
const startPatience = 5 * time.Second

// Start looks whether the database understands the question. A database that cannot be reached may come later, so that
// is no error; a file that is not there is one.
func (d *DB) Start(ctx context.Context) error {
	db, err := d.open()
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, startPatience)
	defer cancel()
	p := Params{}
	for _, name := range d.question.names {
		p[name] = nothing
	}
	text, _, err := d.question.build(d.dialect, p)
	if err != nil {
		return err
	}
	if err := db.check(ctx, text); err != nil {
		if passes, known := d.dialect.passing(err); known && !passes || d.dialect.denied(err) {
			return fmt.Errorf("%s: %w", d.dialect.name, err)
		}
	}
	return nil
}

func (d *DB) open() (pool, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.pool == nil {
		if d.connections == 0 {
			d.connections = DefaultConnections
		}
		pool, err := d.dialect.open(d.connections)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", d.dialect.name, err)
		}
		d.pool = pool
	}
	return d.pool, nil
}

// Ask binds the parameters and gives every row to take, until that returns an error, which is then Ask's as it is.
func (d *DB) Ask(ctx context.Context, p Params, take func(Row) error) error {
	text, args, err := d.question.build(d.dialect, p)
	if err != nil {
		return fmt.Errorf("%s: %w", d.dialect.name, err)
	}
	db, err := d.open()
	if err != nil {
		return err
	}
	err = db.ask(ctx, text, listSize(len(p[Keys])), args, take)
	var taken *takenError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &taken):
		return taken.error
	}
	return d.failed(ctx, err)
}

// failed names the database, and says whether it is worth another try.
func (d *DB) failed(ctx context.Context, err error) error {
	if cause := context.Cause(ctx); cause != nil {
		err = errors.Join(cause, err) // drivers do not always say that it was the context
	}
	named := fmt.Errorf("%s: %w", d.dialect.name, err)
	passes, known := d.dialect.passing(err)
	var bad *valueError
	if errors.As(err, &bad) || known && !passes && ctx.Err() == nil {
		return named
	}
	if away.Is(err) { // nothing was asked
		return component.HoldError(0, named)
	}
	return component.RetryError(0, named)
}

// Close lets go of the connections.
func (d *DB) Close() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.pool == nil {
		return nil
	}
	err := d.pool.close()
	d.pool = nil
	return err
}
