package mysql

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/hikyaku/hikyaku/internal/rows"
)

const quote = '`'

func number(n int) string { return strconv.Itoa(n) }

// conn is what a connection of the library's can do. database/sql would look at each value of a block once more.
type conn interface {
	driver.Conn
	driver.ConnPrepareContext
	driver.ExecerContext
	driver.QueryerContext
	driver.Pinger
}

// session is a connection and what it keeps from one block to the next.
type session struct {
	conn
	driver *sessions
	plans  plans
	packet int // the most that the server takes at once, in bytes
	args   []driver.NamedValue
	text   []byte // what the texts of args stand in
	loads  bool   // LOAD DATA is asked for, and not known to be refused
	reader string // the name of what it reads
	broken bool
}

// tell runs a statement.
func (s *session) tell(ctx context.Context, statement string, args ...string) (driver.Result, error) {
	r, err := s.ExecContext(ctx, statement, named(args))
	return r, s.seen(err)
}

// ask runs a query, and returns its rows' texts.
func (s *session) ask(ctx context.Context, query string, args ...string) (found [][]string, err error) {
	var asked driver.StmtQueryContext
	if len(args) > 0 {
		stmt, err := s.PrepareContext(ctx, query)
		if err != nil {
			return nil, s.seen(err)
		}
		defer stmt.Close()
		var ok bool
		if asked, ok = stmt.(driver.StmtQueryContext); !ok {
			return nil, errors.New("the library's statements take no queries")
		}
	}
	var r driver.Rows
	if asked != nil {
		r, err = asked.QueryContext(ctx, named(args))
	} else {
		r, err = s.QueryContext(ctx, query, nil)
	}
	if err != nil {
		return nil, s.seen(err)
	}
	defer r.Close()
	values := make([]driver.Value, len(r.Columns()))
	for {
		switch err := r.Next(values); {
		case errors.Is(err, io.EOF):
			return found, nil
		case err != nil:
			return nil, s.seen(err)
		}
		row := make([]string, len(values))
		for i, v := range values {
			switch v := v.(type) {
			case nil:
			case []byte:
				row[i] = string(v)
			default:
				row[i] = fmt.Sprint(v)
			}
		}
		found = append(found, row)
	}
}

func named(args []string) []driver.NamedValue {
	values := make([]driver.NamedValue, len(args))
	for i, a := range args {
		values[i] = driver.NamedValue{Ordinal: i + 1, Value: a}
	}
	return values
}

// split is the schema and the name of a table, as expressions and arguments; the schema is that of the session where
// none is said.
func split(n rows.Name) (schema string, args []string, err error) {
	switch len(n) {
	case 1:
		return "DATABASE()", []string{n[0]}, nil
	case 2:
		return "?", []string{n[0], n[1]}, nil
	}
	return "", nil, &nameError{n}
}

// nameError says that a name cannot be that of a table here.
type nameError struct{ name rows.Name }

func (e *nameError) Error() string {
	return fmt.Sprintf("%s has %d parts; a table's name is table or database.table", e.name, len(e.name))
}

// noTableError says that there is no table of that name.
type noTableError struct{ name rows.Name }

func (e *noTableError) Error() string { return fmt.Sprintf("there is no table %s", e.name) }

const (
	describeQuery = `SELECT COLUMN_NAME, DATA_TYPE, COLUMN_TYPE, IS_NULLABLE, IF(COLUMN_DEFAULT IS NULL OR COLUMN_DEFAULT = 'NULL', '', 'd'), LOWER(EXTRA), IFNULL(GENERATION_EXPRESSION, ''),
 IFNULL(CHARACTER_MAXIMUM_LENGTH, 0), IFNULL(CHARACTER_OCTET_LENGTH, 0), IFNULL(NUMERIC_PRECISION, 0), IFNULL(NUMERIC_SCALE, 0), IFNULL(DATETIME_PRECISION, 0)
 FROM information_schema.COLUMNS WHERE TABLE_SCHEMA = %s AND TABLE_NAME = ? ORDER BY ORDINAL_POSITION`
	keysQuery = `SELECT INDEX_NAME, COLUMN_NAME, IFNULL(SUB_PART, 0) FROM information_schema.STATISTICS
 WHERE TABLE_SCHEMA = %s AND TABLE_NAME = ? AND NON_UNIQUE = 0 ORDER BY INDEX_NAME, SEQ_IN_INDEX`
)

// Describe reads the table's columns.
func (s *session) Describe(ctx context.Context, name rows.Name) (*rows.Table, error) {
	schema, args, err := split(name)
	if err != nil {
		return nil, s.failed(err)
	}
	found, err := s.ask(ctx, fmt.Sprintf(describeQuery, schema), args...)
	if err != nil {
		return nil, s.failed(err)
	}
	if len(found) == 0 {
		return nil, s.failed(s.missing(ctx, name))
	}
	t := &rows.Table{Name: name}
	for _, f := range found {
		c, err := column(f)
		if err != nil {
			return nil, s.failed(err)
		}
		t.Columns = append(t.Columns, c)
	}
	indexes, err := s.ask(ctx, fmt.Sprintf(keysQuery, schema), args...)
	if err != nil {
		return nil, s.failed(err)
	}
	keys(t, indexes)
	return t, nil
}

// missing says why a table has no columns: it is not there, or is not for us to see. The server tells those apart for a
// statement.
func (s *session) missing(ctx context.Context, name rows.Name) error {
	if _, err := s.tell(ctx, "SELECT 1 FROM "+name.Quoted(quote)+" LIMIT 0"); err != nil {
		return err
	}
	return &noTableError{name}
}

// column reads a row of the answer.
func column(f []string) (c rows.Column, err error) {
	c = rows.Column{Name: f[0], Native: f[2], Nullable: f[3] == "YES", Default: f[4] != "" ||
		strings.Contains(f[5], "auto_increment"), Generated: f[6] != ""}
	of := facts{kind: strings.ToLower(f[1]), whole: strings.ToLower(f[2])}
	for i, into := range []*int{&of.length, &of.bytes, &of.precision, &of.scale, &of.fraction} {
		if *into, err = strconv.Atoi(f[7+i]); err != nil {
			return c, fmt.Errorf("column %s: %w", c.Name, err)
		}
	}
	describe(&c, of)
	return c, nil
}

// keys marks the columns of the primary key, or of the only other one, and notes whether there are more.
func keys(t *rows.Table, indexes [][]string) {
	byName := map[string][]string{}
	partial := map[string]bool{} // of the beginnings of texts: they say nothing about whole ones
	for _, f := range indexes {
		byName[f[0]] = append(byName[f[0]], f[1])
		partial[f[0]] = partial[f[0]] || f[2] != "0"
	}
	chosen, ok := byName["PRIMARY"]
	for name, columns := range byName {
		if partial[name] {
			continue
		}
		if !ok && len(byName) == 1 {
			chosen = columns
		}
		if len(columns) == 1 {
			mark(t, columns, func(c *rows.Column) { c.Unique = true })
		}
	}
	mark(t, chosen, func(c *rows.Column) { c.Key = true })
	for i := range t.Columns {
		if own, ok := t.Columns[i].Code.(*code); ok {
			own.others = len(byName) > 1
		}
	}
}

func mark(t *rows.Table, names []string, do func(*rows.Column)) {
	for i := range t.Columns {
		for _, name := range names {
			if strings.EqualFold(t.Columns[i].Name, name) {
				do(&t.Columns[i])
			}
		}
	}
}

// Create makes the table.
func (s *session) Create(ctx context.Context, t *rows.Table) error {
	if _, _, err := split(t.Name); err != nil {
		return s.failed(err)
	}
	_, err := s.tell(ctx, "CREATE TABLE IF NOT EXISTS "+t.Name.Quoted(quote)+" "+t.Definition(quote, native)+
		" DEFAULT CHARSET=utf8mb4")
	return s.failed(err)
}

// Close ends the session. What it has begun ends with it.
func (s *session) Close() error {
	s.plans.close()
	if err := s.conn.Close(); err != nil && !s.broken {
		return err
	}
	return nil
}
