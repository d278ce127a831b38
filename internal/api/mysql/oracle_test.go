//go:build linux

package mysql

import (
	"database/sql"
	"errors"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	driver "github.com/go-sql-driver/mysql"

	"github.com/hikyaku/hikyaku/internal/databasetest"
)

// oracle are tables with what tells implementations apart: NULLs, equal values, groups of one row and without values.
const oracle = `CREATE TABLE q1 (id int, g int, a int, d decimal(10,2), s varchar(20), f double, t datetime);
INSERT INTO q1 VALUES (1,1,3,1.10,'b',0.5,'2026-01-01 00:00:00'), (2,1,1,2.25,'d',1.5,'2026-01-02 00:00:00'),
(3,1,NULL,NULL,NULL,NULL,NULL), (4,1,3,-1.00,'c',2.5,'2026-01-03 12:00:00'), (5,2,5,10.00,'a',-1,'2025-12-31 00:00:00'),
(6,2,5,0.01,'e',3.25,'2026-01-01 00:00:00'), (7,3,NULL,NULL,NULL,NULL,NULL), (8,2,2,3.33,'z',7,'2026-02-01 00:00:00');
CREATE TABLE q2 (id int, k int, v varchar(10));
INSERT INTO q2 VALUES (1,1,'x'), (2,1,'y'), (3,2,NULL), (4,NULL,'w'), (5,5,'v'), (6,3,'u')`

// TestAnswersAreThoseOfMariaDB asks a real server the same: expressions, queries, and window functions over windows of
// all kinds. What differs on purpose is not asked (docs/q4m.md).
func TestAnswersAreThoseOfMariaDB(t *testing.T) {
	ours := newRig(t, Config{}, nil).connect("")
	theirs := mariaDB(t)
	for _, statement := range strings.Split(oracle, ";\n") {
		exec(t, theirs, statement)
		exec(t, ours, statement)
	}
	var asked []string
	for _, e := range lines(t, "expressions.txt") {
		asked = append(asked, "SELECT "+e)
	}
	asked = append(append(asked, lines(t, "queries.txt")...), overWindows()...)
	for _, statement := range asked {
		want, refused := cellsOf(t.Context(), theirs, statement)
		got, err := cellsOf(t.Context(), ours, statement)
		var a, b *driver.MySQLError
		switch {
		case errors.As(refused, &a) && errors.As(err, &b) && a.Number == b.Number:
		case refused != nil, err != nil, !slices.EqualFunc(got, want, sameCells):
			t.Errorf("%s: %q, %v; MariaDB answers %q, %v", statement, got, err, want, refused)
		}
	}
	t.Logf("%d statements", len(asked))
}

func mariaDB(t *testing.T) *sql.Conn {
	t.Helper()
	s, err := databasetest.StartMariaDB(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	db, err := sql.Open("mysql", "root@tcp("+s.Address()+")/mysql?charset=utf8mb4")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	c, err := db.Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	for _, statement := range []string{"CREATE DATABASE oracle", "USE oracle"} {
		exec(t, c, statement)
	}
	return c
}

func lines(t *testing.T, name string) []string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", "oracle", name))
	if err != nil {
		t.Fatal(err)
	}
	return strings.Split(strings.TrimSpace(string(text)), "\n")
}

// overWindows are statements with window functions. Where the rows of a frame depend on the order of rows that are
// equal in the window's, there is more than one right answer, so that these are left out.
func overWindows() (statements []string) {
	ordered := []string{"ORDER BY id", "PARTITION BY g ORDER BY id", "ORDER BY a, id", "ORDER BY a DESC, id"}
	frames := []string{
		"ROWS UNBOUNDED PRECEDING", "ROWS BETWEEN 1 PRECEDING AND 1 FOLLOWING",
		"ROWS BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING", "ROWS BETWEEN 2 FOLLOWING AND 3 FOLLOWING",
		"ROWS BETWEEN 3 PRECEDING AND 2 PRECEDING", "RANGE BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING",
	}
	ranges := []string{
		"", "PARTITION BY g", "ORDER BY a", "PARTITION BY g ORDER BY a", "ORDER BY a DESC", "ORDER BY s",
		"PARTITION BY g ORDER BY t DESC",
	}
	for _, by := range []string{"ORDER BY a", "ORDER BY a DESC", "PARTITION BY g ORDER BY a", "ORDER BY d",
		"ORDER BY f DESC"} {
		for _, frame := range []string{
			"UNBOUNDED PRECEDING", "BETWEEN 1 PRECEDING AND CURRENT ROW", "BETWEEN 2 PRECEDING AND 1 FOLLOWING",
			"BETWEEN 1 FOLLOWING AND 2 FOLLOWING", "BETWEEN 3 PRECEDING AND 1 PRECEDING",
			"BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING", "BETWEEN CURRENT ROW AND CURRENT ROW",
		} {
			ranges = append(ranges, by+" RANGE "+frame)
		}
	}
	rows := slices.Clone(ordered)
	for _, frame := range frames {
		rows = append(rows, "ORDER BY id "+frame, "PARTITION BY g ORDER BY id "+frame)
	}
	add := func(functions string, over []string) {
		for _, f := range strings.Split(functions, "; ") {
			for _, w := range over {
				statements = append(statements, "SELECT id, "+f+" OVER ("+w+") FROM q1 ORDER BY id")
			}
		}
	}
	add("COUNT(*); COUNT(a); SUM(a); SUM(d); SUM(f); AVG(a); AVG(d); AVG(f); MIN(a); MAX(a); MIN(s); MAX(s); MAX(t); MIN(d); "+
		"MAX(f); STD(a); VAR_SAMP(a); VARIANCE(d); STDDEV_SAMP(f)", append(ranges, rows...))
	add("FIRST_VALUE(a); LAST_VALUE(a); FIRST_VALUE(s); NTH_VALUE(a, 2)", rows)
	add("LEAD(a); LAG(a, 2); ROW_NUMBER(); NTILE(3)", ordered)
	add("RANK(); DENSE_RANK(); PERCENT_RANK(); CUME_DIST()",
		append(ordered, "ORDER BY a", "PARTITION BY g ORDER BY s DESC"))
	return statements
}

// sameCells tells whether two rows are the same, but for the blanks of JSON and the last digits of numbers: MariaDB
// gives a deviation of whole numbers four of them.
func sameCells(a, b string) bool {
	return slices.EqualFunc(strings.Split(a, "\t"), strings.Split(b, "\t"), func(a, b string) bool {
		if strings.HasPrefix(a, "[") || strings.HasPrefix(a, "{") {
			a, b = strings.ReplaceAll(a, " ", ""), strings.ReplaceAll(b, " ", "")
		}
		if a == b {
			return true
		}
		x, err := strconv.ParseFloat(a, 64)
		if err != nil || !strings.ContainsAny(a+b, ".e") {
			return false
		}
		y, err := strconv.ParseFloat(b, 64)
		return err == nil && math.Abs(x-y) <= 1e-4*max(math.Abs(x), math.Abs(y))
	})
}
