package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
)

// checks runs them and remembers whether one failed.
type checks struct{ failed bool }

func (c *checks) check(name string, body func() error) {
	err := body()
	if err == nil {
		fmt.Println("ok", name)
		return
	}
	c.failed = true
	fmt.Printf("not ok %s: %.500s\n", name, strings.Join(strings.Fields(err.Error()), " "))
}

func (c *checks) code() int {
	if c.failed {
		return 1
	}
	return 0
}

// link is one connection. Without arguments its statements go as text; with arguments, or through prepared, they are
// prepared by the server.
type link struct {
	ctx  context.Context
	conn *sql.Conn
}

func (l *link) run(statement string, args ...any) (changed int64, err error) {
	r, err := l.conn.ExecContext(l.ctx, statement, args...)
	if err != nil {
		return 0, err
	}
	return r.RowsAffected()
}

// changes demands that a statement changes so many rows.
func (l *link) changes(want int64, statement string, args ...any) error {
	got, err := l.run(statement, args...)
	if err == nil && got != want {
		err = fmt.Errorf("%s: changed %d rows, wanted %d", statement, got, want)
	}
	return err
}

// does runs statements.
func (l *link) does(statements ...string) error {
	for _, s := range statements {
		if _, err := l.run(s); err != nil {
			return fmt.Errorf("%s: %w", s, err)
		}
	}
	return nil
}

// rows reads all rows of a query, each value as the driver gives it, but bytes as a string.
func (l *link) rows(query string, args ...any) ([][]any, error) {
	r, err := l.conn.QueryContext(l.ctx, query, args...)
	if err != nil {
		return nil, err
	}
	return all(r)
}

func all(r *sql.Rows) ([][]any, error) {
	defer r.Close()
	names, err := r.Columns()
	if err != nil {
		return nil, err
	}
	found := [][]any{}
	for r.Next() {
		row, to := make([]any, len(names)), make([]any, len(names))
		for i := range row {
			to[i] = &row[i]
		}
		if err := r.Scan(to...); err != nil {
			return nil, err
		}
		for i, v := range row {
			switch v := v.(type) {
			case []byte:
				row[i] = string(v)
			case uint64: // the binary protocol's large ones come as text
				row[i] = strconv.FormatUint(v, 10)
			}
		}
		found = append(found, row)
	}
	return found, r.Err()
}

// prepared is rows through a statement that the server prepared.
func (l *link) prepared(query string, args ...any) (found [][]any, err error) {
	statement, err := l.conn.PrepareContext(l.ctx, query)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, statement.Close()) }()
	r, err := statement.QueryContext(l.ctx, args...)
	if err != nil {
		return nil, err
	}
	return all(r)
}

// gives demands these rows. The driver makes numbers of the text protocol int64 too.
func (l *link) gives(want [][]any, query string, args ...any) error {
	got, err := l.rows(query, args...)
	return same(want, got, err, query)
}

// givesPrepared is gives through a statement that the server prepared.
func (l *link) givesPrepared(want [][]any, query string, args ...any) error {
	got, err := l.prepared(query, args...)
	return same(want, got, err, query)
}

// is demands one value.
func (l *link) is(want any, query string, args ...any) error {
	return l.gives([][]any{{want}}, query, args...)
}

// describes demands the types of a query's columns, by the driver's names.
func (l *link) describes(query string, want ...string) error {
	r, err := l.conn.QueryContext(l.ctx, query)
	if err != nil {
		return err
	}
	defer r.Close()
	types, err := r.ColumnTypes()
	if err != nil {
		return err
	}
	var got []string
	for _, t := range types {
		got = append(got, t.DatabaseTypeName())
	}
	if !slices.Equal(got, want) {
		return fmt.Errorf("got %q, wanted %q", got, want)
	}
	return nil
}

func same(want, got [][]any, err error, about string) error {
	if err == nil && !reflect.DeepEqual(want, got) {
		err = fmt.Errorf("got %#v, wanted %#v", got, want)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", about, err)
	}
	return nil
}
