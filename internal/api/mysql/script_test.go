package mysql

import (
	"bytes"
	"context"
	"database/sql"
	sqldriver "database/sql/driver"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	driver "github.com/go-sql-driver/mysql"
)

// TestScripts runs the scripts of testdata and compares what clients were answered with what stands there. -update
// writes it anew.
//
// A line "a> STATEMENT" is sent by the connection called a; the lines below it are the answer. "a& STATEMENT" is sent
// without waiting for the answer, which "a." asks for later. "a x" closes the connection. Lines with # are comments.
// {b} stands for the number of connection b. "! queue NAME ATTEMPTS", "! put NAME BODY ATTRIBUTES" and "! take NAME"
// are what another door does. A connection whose name begins with "multi" may send several statements at once.
//
// Each script is run on the short path, on the long one and with prepared statements: all have to answer the same. One
// after the other: go-mysql-server counts what happens in variables of the process, which a door that starts sets back.
func TestScripts(t *testing.T) {
	files, err := filepath.Glob("testdata/*.sql")
	if err != nil || len(files) == 0 {
		t.Fatal("no scripts", err)
	}
	for _, path := range files {
		name := strings.TrimSuffix(filepath.Base(path), ".sql")
		t.Run(name, func(t *testing.T) {
			script, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			for _, way := range []string{"short", "long", "prepared"} {
				t.Run(way, func(t *testing.T) {
					got := runScript(t, string(script), way)
					if *update && way == "short" {
						if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
							t.Fatal(err)
						}
						script = []byte(got)
						return
					}
					if got != string(script) {
						t.Errorf("the %s way answers differently:\n%s", way, difference(string(script), got))
					}
				})
			}
		})
	}
}

// difference shows the statements that two texts answer differently.
func difference(want, got string) string {
	var b strings.Builder
	w, g := blocks(want), blocks(got)
	for i := 0; i < max(len(w), len(g)) && b.Len() < 5000; i++ {
		x, y := "", ""
		if i < len(w) {
			x = w[i]
		}
		if i < len(g) {
			y = g[i]
		}
		if x != y {
			fmt.Fprintf(&b, "want %sgot  %s", x, y)
		}
	}
	return b.String()
}

// blocks cuts a script before each of its statements.
func blocks(script string) (bs []string) {
	bs = append(bs, "")
	for line := range strings.Lines(script) {
		if said.MatchString(strings.TrimRight(line, "\n")) || strings.HasPrefix(line, "! ") {
			bs = append(bs, "")
		}
		bs[len(bs)-1] += line
	}
	return bs
}

var (
	said         = regexp.MustCompile(`^([a-z][a-z0-9]*)([>&.]| x)(?: (.*))?$`)
	connectionOf = regexp.MustCompile(`\{([a-z][a-z0-9]*)\}`)
)

// client is a connection of a script.
type client struct {
	conn *sql.Conn
	id   int
	busy chan string
}

// hangUp ends the connection.
func (c *client) hangUp() {
	_ = c.conn.Raw(func(any) error { return sqldriver.ErrBadConn }) // or else it would be kept for later
	c.conn.Close()
}

func runScript(t *testing.T, script, way string) string {
	r := newRig(t, Config{}, nil)
	r.door.noShort = way == "long"
	clients := map[string]*client{}
	open := func(name string) *client {
		c := clients[name]
		if c == nil {
			args := ""
			if strings.HasPrefix(name, "multi") {
				args = "multiStatements=true"
			}
			c = &client{conn: r.connect(args)}
			if err := c.conn.QueryRowContext(t.Context(), "SELECT connection_id()").Scan(&c.id); err != nil {
				t.Fatal(err)
			}
			clients[name] = c
		}
		return c
	}
	var out bytes.Buffer
	for line := range strings.Lines(script) {
		line = strings.TrimRight(line, "\n")
		if strings.HasPrefix(line, "#") || line == "" {
			fmt.Fprintln(&out, line)
			continue
		}
		if do, ok := strings.CutPrefix(line, "! "); ok {
			fmt.Fprintln(&out, line)
			out.WriteString(r.otherDoor(do))
			continue
		}
		m := said.FindStringSubmatch(line)
		if m == nil {
			continue // an answer
		}
		fmt.Fprintln(&out, line)
		c := open(m[1])
		statement := connectionOf.ReplaceAllStringFunc(m[3],
			func(who string) string { return strconv.Itoa(open(strings.Trim(who, "{}")).id) })
		prepared := way == "prepared" && !strings.HasPrefix(m[1], "multi")
		switch m[2] {
		case ">":
			out.WriteString(answer(t, c.conn, statement, prepared))
		case "&":
			before := r.waiting()
			c.busy = make(chan string, 1)
			go func() { c.busy <- answer(t, c.conn, statement, prepared) }()
			for r.waiting() <= before && len(c.busy) == 0 && t.Context().Err() == nil {
				runtime.Gosched()
			}
		case ".":
			out.WriteString(<-c.busy)
		case " x":
			c.hangUp()
			delete(clients, m[1])
			r.gone(c.id)
		}
	}
	return out.String()
}

// writes are statements that answer with a number of rows.
var writes = regexp.MustCompile(`(?i)^\s*(insert|replace|update|delete|truncate|load)\b`)

// answer is what a client gets for a statement, as text.
func answer(t *testing.T, c *sql.Conn, statement string, prepared bool) string {
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute) // a script that hangs says where
	defer cancel()
	var st interface {
		QueryContext(ctx context.Context, args ...any) (*sql.Rows, error)
		ExecContext(ctx context.Context, args ...any) (sql.Result, error)
	} = unprepared{c, statement}
	if prepared {
		p, err := c.PrepareContext(ctx, statement)
		switch {
		case err == nil:
			defer p.Close()
			st = p
		case !strings.HasPrefix(errorText(err), unparsed): // else it is sent as text, as a client would
			return errorText(err)
		}
	}
	if writes.MatchString(statement) && !strings.Contains(statement, ";") {
		result, err := st.ExecContext(ctx)
		if err != nil {
			return errorText(err)
		}
		n, _ := result.RowsAffected()
		return fmt.Sprintf("ok, %d rows\n", n)
	}
	rows, err := st.QueryContext(ctx)
	if err != nil {
		return errorText(err)
	}
	defer rows.Close()
	var b strings.Builder
	for {
		b.WriteString(rowsText(rows))
		if !rows.NextResultSet() {
			break
		}
	}
	if err := rows.Err(); err != nil {
		b.WriteString(errorText(err))
	}
	return b.String()
}

// unparsed is the answer to what only the door understands when it is prepared: a client sends it as text then.
const unparsed = `  ERROR 1295 (HY000): `

// unprepared is a statement that is sent as text.
type unprepared struct {
	c         *sql.Conn
	statement string
}

func (u unprepared) QueryContext(ctx context.Context, args ...any) (*sql.Rows, error) {
	return u.c.QueryContext(ctx, u.statement, args...)
}

func (u unprepared) ExecContext(ctx context.Context, args ...any) (sql.Result, error) {
	return u.c.ExecContext(ctx, u.statement, args...)
}

// rowsText shows one set of rows.
func rowsText(rows *sql.Rows) string {
	names, err := rows.Columns()
	if err != nil {
		return errorText(err)
	}
	if len(names) == 0 {
		return "ok\n"
	}
	var b strings.Builder
	b.WriteString("  " + strings.Join(names, " | ") + "\n")
	for rows.Next() {
		values := make([]any, len(names))
		for i := range values {
			values[i] = new(sql.RawBytes)
		}
		if err := rows.Scan(values...); err != nil {
			return b.String() + errorText(err)
		}
		for i, v := range values {
			text := "NULL"
			if raw := *v.(*sql.RawBytes); raw != nil {
				text = visible(string(raw))
			}
			if i == 0 {
				b.WriteString("  " + text)
			} else {
				b.WriteString(" | " + text)
			}
		}
		b.WriteString("\n")
	}
	return b.String()
}

// visible writes what is no character of a text as \n and \x00.
func visible(s string) string {
	var b strings.Builder
	for i, r := range s {
		switch {
		case r == '\n':
			b.WriteString(`\n`)
		case r == utf8.RuneError && s[i] != "\uFFFD"[0], r < ' ':
			fmt.Fprintf(&b, `\x%02x`, s[i])
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

func errorText(err error) string {
	var m *driver.MySQLError
	if errors.As(err, &m) {
		return fmt.Sprintf("  ERROR %d (%s): %s\n", m.Number, m.SQLState[:], visible(m.Message))
	}
	return "  ERROR " + err.Error() + "\n"
}

// waiting is how many readers wait.
func (r *rig) waiting() int {
	waiting := 0
	queues, err := r.store.Queues(r.t.Context())
	if err != nil {
		r.t.Error(err)
	}
	for _, q := range queues {
		if st, err := r.store.Stats(r.t.Context(), q); err == nil { // one that is dropped meanwhile has none
			waiting += st.Waiters
		}
	}
	return waiting
}

// gone returns when the door has forgotten a connection.
func (r *rig) gone(id int) {
	for end := time.Now().Add(time.Minute); time.Now().Before(end); {
		there := false
		for _, p := range r.door.processes.Processes() {
			there = there || int(p.Connection) == id
		}
		if !there {
			return
		}
		runtime.Gosched()
	}
	r.t.Errorf("connection %d is still there", id)
}
