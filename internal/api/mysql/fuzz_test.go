package mysql

import (
	"context"
	"database/sql"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"
)

// FuzzStatements sends the same statements, made from a grammar by the input, to two doors over stores of equal
// content: one answers on the short path what it can, the other everything on the long one. They have to answer the
// same and come to the same state. Each byte chooses once.
func FuzzStatements(f *testing.F) {
	for n := range uint64(12) {
		random := rand.New(rand.NewPCG(n, 0))
		choices := make([]byte, 400)
		for i := range choices {
			choices[i] = byte(random.UintN(256))
		}
		f.Add(choices)
	}
	f.Fuzz(func(t *testing.T, choices []byte) {
		if len(choices) <= 2000 {
			comparePaths(t, choices)
		}
	})
}

// comparePaths runs the statements that choices make on both paths.
func comparePaths(t *testing.T, choices []byte) {
	short, long := newRig(t, Config{}, nil), newRig(t, Config{}, nil)
	long.door.noShort = true
	s, l := newPair(short), newPair(long)
	g := &grammar{left: choices}
	for _, statement := range []string{
		"CREATE TABLE a (i int NOT NULL, s varchar(6) DEFAULT 'x', d decimal(4,1), b varbinary(4)) ENGINE=QUEUE",
		"CREATE TABLE b (u bigint unsigned, t text NOT NULL, f double, at datetime(3) NULL DEFAULT '2020-01-01 " +
			"00:00:00') ENGINE=QUEUE",
		"CREATE TABLE c (y tinyint NOT NULL DEFAULT 3, c char(3), n blob, z time) ENGINE=QUEUE",
	} {
		s.same(t, l, 0, statement, nil)
	}
	for len(g.left) > 0 {
		statement, args := g.statement()
		s.same(t, l, g.upTo(2), statement, args)
	}
	for _, table := range []string{"a", "b", "c"} {
		x, y := state(t, short, table), state(t, long, table)
		if x != y {
			t.Fatalf("table %s came to\n%s on the short path and to\n%s on the long one", table, x, y)
		}
	}
}

// pair are two connections of a door.
type pair [2]*sql.Conn

func newPair(r *rig) pair { return pair{r.connect(""), r.connect("")} }

// same sends a statement to both doors.
func (p pair) same(t *testing.T, other pair, n int, statement string, args []any) {
	t.Helper()
	x, y := answerTo(t, p[n], statement, args), answerTo(t, other[n], statement, args)
	if x != y {
		t.Fatalf("%s %q is answered with\n%son the short path and with\n%son the long one", statement, args, x, y)
	}
}

func answerTo(t *testing.T, c *sql.Conn, statement string, args []any) string {
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	if writes.MatchString(statement) {
		result, err := c.ExecContext(ctx, statement, args...)
		if err != nil {
			return errorText(err)
		}
		n, _ := result.RowsAffected()
		return fmt.Sprintf("ok, %d rows\n", n)
	}
	rows, err := c.QueryContext(ctx, statement, args...)
	if err != nil {
		return errorText(err)
	}
	defer rows.Close()
	types, err := rows.ColumnTypes()
	if err != nil {
		return errorText(err)
	}
	var b strings.Builder
	for _, c := range types {
		length, _ := c.Length()
		nullable, _ := c.Nullable()
		precision, scale, _ := c.DecimalSize()
		fmt.Fprintf(&b, "%s %s %d %t %d,%d;", c.Name(), c.DatabaseTypeName(), length, nullable, precision, scale)
	}
	return b.String() + rowsText(rows)
}

// state is what is in a table, and what happened to it.
func state(t *testing.T, r *rig, table string) string {
	st, err := r.store.Stats(t.Context(), inTest(table))
	if err != nil {
		return err.Error()
	}
	rows := answer(t, r.connect(""), "SELECT * FROM "+table, false)
	return fmt.Sprintf("%d put, %d claims, %d done, %d removed, %d claimed\n%s", st.TotalPut, st.TotalClaims,
		st.TotalDone, st.TotalPurged, st.Claimed, rows)
}

// grammar makes statements of choices.
type grammar struct {
	left []byte
	args []any
}

func (g *grammar) upTo(n int) int {
	if len(g.left) == 0 {
		return 0
	}
	c := g.left[0]
	g.left = g.left[1:]
	return int(c) % n
}

func (g *grammar) one(of ...string) string { return of[g.upTo(len(of))] }

func (g *grammar) statement() (string, []any) {
	g.args = nil
	bound := g.upTo(3) == 0
	var s string
	switch g.upTo(12) {
	case 0, 1, 2, 3:
		s = g.insert(bound)
	case 4, 5:
		s = g.wait(bound)
	case 6:
		s = g.one("SELECT queue_end()", "select queue_end() as e", "SELECT Queue_End()", "SELECT queue_end(1)")
	case 7:
		s = g.one("SELECT queue_abort()", "SELECT queue_rowid()", "SELECT queue_rowid() AS `the id`",
			"select queue_abort ( )")
	case 8, 9:
		s = g.selects()
	case 10:
		s = fmt.Sprintf("SELECT queue_set_srcid(%s, %s, %s)",
			g.value(bound, "1", "2", "63", "64", "-1", "'1'", "'x'", "1.6"), g.value(bound, "'a'", "'w'", "'A'", "1"),
			g.value(bound, "0", "1", "2", "3", "'2'", "-4"))
	default:
		s = g.one("DELETE FROM a", "DELETE FROM a WHERE i = 1", "DELETE FROM b LIMIT 1", "TRUNCATE TABLE c",
			"SHOW WARNINGS", "BEGIN", "ROLLBACK", "SET sql_mode = 'ANSI_QUOTES'",
			"SET sql_mode = 'NO_BACKSLASH_ESCAPES'", "SET sql_mode = ''", "SELECT COUNT(*) FROM a", "SELECT 'x",
			"DELETE FROM missing")
	}
	return s, g.args
}

// value is a literal, or a placeholder for it.
func (g *grammar) value(bound bool, of ...string) string {
	v := g.one(of...)
	if !bound || g.upTo(2) == 0 {
		return v
	}
	var arg any = v
	switch {
	case v == "NULL":
		arg = nil
	case v == "DEFAULT" || strings.HasPrefix(v, "0x"):
		return v
	case v[0] == '\'':
		arg = strings.Trim(v, "'")
		if g.upTo(3) == 0 {
			arg = []byte(strings.Trim(v, "'"))
		}
	default:
		var n int64
		if _, err := fmt.Sscanf(v, "%d", &n); err == nil && fmt.Sprint(n) == v {
			arg = n
		}
	}
	g.args = append(g.args, arg)
	return "?"
}

var literals = []string{"1", "2", "0", "-1", "NULL", "DEFAULT", "'a'", "'it''s'", `'b\'s'`, "'飛脚'", "''", "'toolong'",
	"12.5", "-0.4", "1e2", "0xff41", "x'4142'", "127", "128", "300", "99999999999",
	"18446744073709551615", "'2026-11-22 01:02:03.5'", "'12:34:56'", "true", `"q"`, "'1'", "' 7'", "1+1", "b'101'",
	"@x", "-2147483648", "+3"}

func (g *grammar) insert(bound bool) string {
	columns := map[string][]string{"a": {"i", "s", "d", "b"}, "b": {"u", "t", "f", "at"}, "c": {"y", "c", "n", "z"},
		"missing": {"x"}}
	table := g.one("a", "b", "c", "a", "b", "c", "a", "missing")
	given := columns[table]
	list := ""
	switch g.upTo(4) {
	case 0:
		given = given[:1+g.upTo(len(given))]
		list = " (" + strings.Join(given, ", ") + ")"
	case 1:
		list = " (`" + strings.ToUpper(given[0]) + "`)"
		given = given[:1]
	}
	s := g.one("INSERT INTO ", "insert  into ", "INSERT INTO test.", "/* c */ INSERT INTO ") + table + list +
		g.one(" VALUES ", " VALUE ", "\nVALUES")
	rows := 1 + g.upTo(3)
	width := len(given) - g.upTo(8)/7
	for i := range rows {
		if i > 0 {
			s += ","
		}
		values := make([]string, max(width, 1))
		for n := range values {
			// Mostly what fits the column, so that rows get in.
			switch g.upTo(4) {
			case 0:
				values[n] = g.value(bound, literals...)
			default:
				values[n] = g.value(bound, "1", "'2'", "3")
			}
		}
		s += "(" + strings.Join(values, g.one(",", ", ")) + ")"
	}
	return s
}

func (g *grammar) wait(bound bool) string {
	s := g.one("SELECT queue_wait(", "select QUEUE_WAIT (")
	for range 1 + g.upTo(3) {
		s += g.value(bound, "'a'", "'b'", "'c'", "'a:i>0'", "'a:i = 1'", "'b:u is null'", "'c:y<>3'", "'test.a'", "'A'",
			"'a:'", "'a:i >'", "'missing'", "NULL", "1", "'a:s=\"x\"'") + ", "
	}
	return s + g.value(bound, "0", "'0'", "-1", "NULL", "0.3", "'b'") + ")" + g.one("", "", " AS w", " w")
}

func (g *grammar) selects() string {
	return "SELECT " + g.one("*", "*", "*", "i", "s, i", "I", "`i`", "d, b", "t, u", "y", "z, y", "a.i", "nothing") +
		" FROM " + g.one("a", "a", "b", "c", "test.a", "`b`", "A", "missing", "nowhere.a") +
		g.one("", "", "", ";", " ", " LIMIT 1", " WHERE 1", " x")
}
