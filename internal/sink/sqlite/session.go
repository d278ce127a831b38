package sqlite

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"os"
	"runtime"
	"slices"
	"strings"
	"sync"

	"modernc.org/sqlite"

	"github.com/hikyaku/hikyaku/internal/rows"
)

// database is a file.
type database struct {
	address string // as the library is told of it
	file    string
	makes   bool // the file, when it is not there

	mu      sync.Mutex
	looked  bool // at the file's mode
	notices []string
}

// Open opens the file.
func (d *database) Open(context.Context) (rows.Session, error) {
	if d.makes {
		makeFile(d.file)
	}
	made, err := (&sqlite.Driver{}).Open(d.address)
	if err != nil {
		return nil, fmt.Errorf("open %s: %w", d.file, err)
	}
	conn, ok := made.(connection)
	if !ok {
		return nil, errors.Join(fmt.Errorf("the library's connection is a %T", made), made.Close())
	}
	d.look()
	return &session{conn: conn, statements: map[*rows.Column]statement{}}, nil
}

// look notices once that other accounts may read the rows: a file that was there before may be as open as it likes.
func (d *database) look() {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.looked || runtime.GOOS == "windows" { // its modes say nothing
		return
	}
	info, err := os.Stat(d.file)
	if err != nil {
		return
	}
	d.looked = true
	if mode := info.Mode().Perm(); mode&0o077 != 0 {
		d.notices = append(d.notices, fmt.Sprintf("%s has mode %#o: other accounts of this machine may get at its rows; "+
			"chmod go= %s, and those beside it, if they are not meant to", d.file, mode, d.file))
	}
}

// Notices implements rows.Noticing.
func (d *database) Notices() []string {
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.Clone(d.notices)
}

// makeFile makes a file for its owner alone, as its rows are messages; SQLite gives those beside it the same mode. One
// that is there stays as it is, and why none can be made is for SQLite to say.
func makeFile(name string) {
	if f, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600); err == nil {
		_ = f.Close() // nothing was written
	}
}

// UsualRows implements rows.Wide: each commit waits for the disk, and a transaction of so many rows still takes a few
// hundredths of a second only.
func (d *database) UsualRows() int { return 5000 }

// Close has nothing to do.
func (d *database) Close() error { return nil }

// connection is what the library's has. It is used without database/sql, which would take its place between us and a
// prepared statement.
type connection interface {
	driver.Conn
	driver.ExecerContext
	driver.QueryerContext
}

type statement interface {
	driver.Stmt
	driver.StmtExecContext
}

// session is a connection.
type session struct {
	conn       connection
	statements map[*rows.Column]statement // by the first of the columns that they write
	args       []driver.NamedValue
}

// mostStatements bounds the prepared statements that are kept.
const mostStatements = 64

// exec runs a statement. The context is ours: the library would start a goroutine for each to wait for its end.
func (s *session) exec(text string) error {
	_, err := s.conn.ExecContext(context.Background(), text, nil)
	return err
}

// Write writes a block in one transaction.
func (s *session) Write(ctx context.Context, b *rows.Block) error {
	one, err := s.prepared(b)
	if err != nil {
		return err
	}
	if err := s.exec("begin immediate"); err != nil {
		return err
	}
	if err := s.fill(ctx, one, b); err != nil {
		return s.undo(err)
	}
	if err := s.exec("commit"); err != nil {
		return s.undo(&commitError{err})
	}
	return nil
}

// looksAt is after how many rows it is asked whether the time is over.
const looksAt = 64

func (s *session) fill(ctx context.Context, one statement, b *rows.Block) error {
	n := len(b.Columns)
	for len(s.args) < n {
		s.args = append(s.args, driver.NamedValue{Ordinal: len(s.args) + 1})
	}
	at := places(b)
	for r := range b.Rows() {
		if r%looksAt == 0 && ctx.Err() != nil {
			return context.Cause(ctx)
		}
		for i, v := range b.Row(r) {
			bound, err := bind(v, &b.Columns[i])
			if err != nil {
				return &rowError{r, b.Columns[i].Name, err}
			}
			s.args[at[i]].Value = bound
		}
		done, err := one.ExecContext(context.Background(), s.args[:n])
		if err != nil {
			return &rowError{r, "", err}
		}
		if !b.Mode.Finds() {
			continue
		}
		if changed, err := done.RowsAffected(); err != nil {
			return err
		} else if changed == 0 {
			b.Miss(r)
		}
	}
	return nil
}

// undo ends a transaction that failed. Some failures have ended it already.
func (s *session) undo(err error) error {
	if e := s.exec("rollback"); e != nil && !strings.Contains(e.Error(), "no transaction is active") {
		return &brokenError{errors.Join(err, e)}
	}
	return err
}

// prepared gives the prepared statement for one row of a block.
func (s *session) prepared(b *rows.Block) (statement, error) {
	at := &b.Columns[0]
	if st := s.statements[at]; st != nil {
		return st, nil
	}
	made, err := s.conn.Prepare(textOf(b))
	if err != nil {
		return nil, err
	}
	st, ok := made.(statement)
	if !ok {
		return nil, errors.Join(fmt.Errorf("the library's statement is a %T", made), made.Close())
	}
	if len(s.statements) >= mostStatements {
		s.forget()
	}
	s.statements[at] = st
	return st, nil
}

func (s *session) forget() {
	for _, st := range s.statements {
		st.Close() // it only gives memory back
	}
	clear(s.statements)
}

// places are those that the columns' values have among a statement's parameters: an update has the key's behind the
// others.
func places(b *rows.Block) []int {
	at := make([]int, len(b.Columns))
	for i := range at {
		at[i] = i
	}
	if b.Mode == rows.Update {
		key, others := b.Parts()
		for k, i := range append(others, key...) {
			at[i] = k
		}
	}
	return at
}

// textOf is the statement for one row.
func textOf(b *rows.Block) string {
	if !b.Mode.Finds() {
		return insertText(b)
	}
	key, others := b.Parts()
	text := "delete from " + b.Table.Name.Quoted('"')
	if b.Mode == rows.Update {
		text = "update " + b.Table.Name.Quoted('"') + " set " + equals(b, others, ", ")
	}
	return text + " where " + equals(b, key, " and ")
}

func equals(b *rows.Block, places []int, between string) string {
	var parts []string
	for _, i := range places {
		parts = append(parts, rows.QuoteName(b.Columns[i].Name, '"')+" = ?")
	}
	return strings.Join(parts, between)
}

// insertText is the statement that makes one row.
func insertText(b *rows.Block) string {
	names, places := make([]string, len(b.Columns)), make([]string, len(b.Columns))
	var sets []string
	keys := map[string]bool{}
	key := make([]string, len(b.Key))
	for i, c := range b.Key {
		key[i] = rows.QuoteName(c.Name, '"')
		keys[key[i]] = true
	}
	for i, c := range b.Columns {
		names[i], places[i] = rows.QuoteName(c.Name, '"'), "?"
		if !keys[names[i]] {
			sets = append(sets, names[i]+" = excluded."+names[i])
		}
	}
	text := "insert into " + b.Table.Name.Quoted('"') + " (" + strings.Join(names, ", ") + ") values (" +
		strings.Join(places, ", ") + ")"
	switch {
	case b.Mode == rows.Insert:
		return text
	case b.Mode == rows.Once || len(sets) == 0:
		return text + " on conflict (" + strings.Join(key, ", ") + ") do nothing"
	}
	return text + " on conflict (" + strings.Join(key, ", ") + ") do update set " + strings.Join(sets, ", ")
}

// Close closes the file.
func (s *session) Close() error {
	s.forget()
	return s.conn.Close()
}
