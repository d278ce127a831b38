//go:build linux

package mysql

import (
	"database/sql"
	"errors"
	"fmt"
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
	asked = append(append(append(asked, lines(t, "queries.txt")...), overWindows()...), withSubqueries()...)
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

// withSubqueries are queries with subqueries of all kinds, which read the row of the query around them, in all places.
func withSubqueries() (asked []string) {
	for _, sub := range []string{
		"(SELECT COUNT(*) FROM q2 WHERE q2.k = q1.a)",
		"(SELECT MAX(q2.id) FROM q2 WHERE q2.k <= q1.a AND q2.id > q1.g)",
		"(SELECT COUNT(*) FROM q2 x JOIN q2 y ON x.id = y.id WHERE x.k = q1.a)",
		"(SELECT COUNT(y.v) FROM q2 x LEFT JOIN q2 y ON x.id = y.k AND y.id > q1.g WHERE x.k = q1.a)",
		"(SELECT x.id FROM q2 x, q2 y WHERE x.k = q1.a AND y.id = x.id ORDER BY x.id DESC LIMIT 1)",
		"(SELECT SUM(d.n) FROM (SELECT k, COUNT(*) n FROM q2 GROUP BY k) d WHERE d.k = q1.a)",
		"(SELECT MAX(r) FROM (SELECT k, RANK() OVER (ORDER BY id) r FROM q2) w WHERE w.k = q1.a)",
		"(SELECT COUNT(*) FROM q2 WHERE q2.k = q1.a GROUP BY q2.k HAVING COUNT(*) >= q1.g)",
		"(SELECT COUNT(*) FROM q2 WHERE q2.k IN (SELECT z.k FROM q2 z WHERE z.id > q1.g AND z.k = q1.a))",
		"(SELECT COUNT(*) FROM q1 z WHERE z.g = q1.g AND z.id < q1.id)",
		"(SELECT COUNT(*) FROM q2 WHERE EXISTS (SELECT 1 FROM q1 z JOIN q2 y ON y.k = z.a WHERE z.g = q1.g AND y.id = q2.id))",
		"(SELECT MIN(n) FROM (SELECT id n FROM q2 UNION SELECT k FROM q2) u WHERE u.n >= q1.a)",
		"(EXISTS (SELECT 1 FROM q2 x JOIN q2 y ON x.id = y.id WHERE x.k = q1.a))",
		"(q1.a IN (SELECT x.k FROM q2 x JOIN q2 y ON x.id = y.id WHERE x.id > q1.g))",
		"(q1.a > ALL (SELECT q2.k FROM q2 WHERE q2.id < q1.g))",
		"((q1.g, q1.a) IN (SELECT q2.id, q2.k FROM q2 WHERE q2.id <= q1.id))",
		"((q1.g, q1.a) NOT IN (SELECT q2.id, q2.k FROM q2))",
		"(q1.a NOT IN (SELECT q2.k FROM q2 WHERE q2.id <> q1.id))",
		"(q1.id + (SELECT COUNT(*) FROM q2 WHERE q2.k = q1.a) * 10)",
		"(SELECT COUNT(*) FROM q2)",
	} {
		for _, place := range []string{
			"SELECT id, %s FROM q1 ORDER BY id",
			"SELECT id FROM q1 WHERE %s > 0 ORDER BY id",
			"SELECT id FROM q1 ORDER BY %s, id",
			"SELECT id, %[1]s n FROM q1 ORDER BY n DESC, %[1]s, id LIMIT 4",
			"SELECT DISTINCT %s n FROM q1 ORDER BY n",
			"SELECT g, SUM(%s), COUNT(*) FROM q1 GROUP BY g ORDER BY g",
			"SELECT g, GROUP_CONCAT(%s ORDER BY id), MAX(id) FROM q1 GROUP BY g ORDER BY g",
			"SELECT g, GROUP_CONCAT(id ORDER BY %[1]s, id), MAX(%[1]s) FROM q1 GROUP BY g ORDER BY g",
			"SELECT COUNT(DISTINCT %[1]s), SUM(CASE WHEN %[1]s > 1 THEN a END) FROM q1",
			"SELECT %s n, COUNT(*) FROM q1 GROUP BY n ORDER BY n",
			"SELECT COUNT(*) c, MIN(id) FROM q1 GROUP BY %s ORDER BY 2",
			"SELECT id, a, g FROM q1 GROUP BY id, a, g HAVING %s > 0 ORDER BY id",
			"SELECT MAX(s) m FROM q1 GROUP BY id, a, g HAVING %s > 0 ORDER BY m",
			"SELECT COUNT(*) n FROM q1 GROUP BY g, a, id ORDER BY %s, MAX(id)",
			"SELECT id, SUM(%s) OVER (PARTITION BY g ORDER BY id) FROM q1 ORDER BY id",
			"SELECT id, RANK() OVER (ORDER BY %s), COUNT(*) OVER () FROM q1 ORDER BY id",
			"SELECT id, COUNT(*) OVER (PARTITION BY %s) FROM q1 ORDER BY id",
			"SELECT id, RANK() OVER (ORDER BY d), %s FROM q1 ORDER BY id",
			"SELECT ROW_NUMBER() OVER (ORDER BY id) r, %s FROM q1 WHERE id > 2 ORDER BY r",
			"SELECT id, LAG(%[1]s) OVER (ORDER BY id), %[1]s + 1 FROM q1 ORDER BY id",
			"SELECT id, CASE WHEN %[1]s > 1 THEN %[1]s ELSE s END FROM q1 ORDER BY id",
			"SELECT q1.id, o.id FROM q1 JOIN q2 o ON o.id = %s ORDER BY 1, 2",
			"SELECT q1.id, o.id FROM q1 LEFT JOIN q2 o ON o.k = q1.a AND %s > 1 ORDER BY 1, 2",
			"SELECT q1.id, o.id, %s FROM q2 o JOIN q1 ON o.k = q1.a ORDER BY 1, 2",
			"SELECT o.v, COUNT(*), SUM(%s) FROM q2 o LEFT JOIN q1 ON o.k = q1.a GROUP BY o.v ORDER BY o.v",
			"SELECT t.id, t.n FROM (SELECT id, g, a, %s n FROM q1) t WHERE t.n > 0 ORDER BY t.id",
			"WITH t AS (SELECT id, %s n FROM q1) SELECT x.id, y.n FROM t x JOIN t y ON x.n = y.id ORDER BY 1",
			"SELECT id, %s FROM q1 WHERE g = 1 UNION ALL SELECT k, 1 FROM q2 WHERE id = 1 ORDER BY 1, 2",
			"SELECT id, IF(%s > 0, 'some', 'none') z, COALESCE(s, '-') FROM q1 ORDER BY z, id",
			"SELECT q1.id, o.id FROM q2 o RIGHT JOIN q1 ON o.k = q1.a AND %s > 0 ORDER BY 1, 2",
			"SELECT id FROM q1 WHERE EXISTS (SELECT 1 FROM q2 o WHERE o.id = %s) ORDER BY id",
			"SELECT id FROM q1 WHERE id IN (SELECT %s FROM q2 o) ORDER BY id",
			"SELECT id, (SELECT COUNT(*) FROM q2 o WHERE o.id <= %s) FROM q1 ORDER BY id",
			"SELECT g, COUNT(*), MAX(%[1]s) FROM q1 WHERE %[1]s >= 0 GROUP BY g WITH ROLLUP",
			"SELECT MIN(n), MAX(n) FROM (SELECT %s n FROM q1 GROUP BY id, g, a) t",
			"SELECT id FROM q1 WHERE g = 1 AND NOT (%s > 1) OR id = 8 ORDER BY id",
			"SELECT id, FIRST_VALUE(%[1]s) OVER (PARTITION BY g ORDER BY %[1]s, id) FROM q1 ORDER BY id",
			"SELECT COUNT(*), SUM(o.id) FROM q1 JOIN q2 o ON o.k = q1.a WHERE %s > 0",
			"SELECT id FROM q1 WHERE a = (SELECT MAX(o.k) FROM q2 o WHERE o.id > %s) ORDER BY id",
			"SELECT t.g, t.n FROM (SELECT g, SUM(%s) n FROM q1 GROUP BY g) t JOIN q2 ON q2.id = t.g ORDER BY 1",
		} {
			in := strings.Contains(sub, ") IN") || strings.Contains(sub, " NOT IN")
			if in && strings.Contains(place, "ORDER BY %[1]s, id)") {
				continue // MariaDB takes an unknown IN for 0 there
			}
			asked = append(asked, fmt.Sprintf(place, sub))
		}
	}
	return asked
}

// TestShowNamesItsColumnsAsMariaDBDoes: with a pattern the name of the first column has it.
func TestShowNamesItsColumnsAsMariaDBDoes(t *testing.T) {
	ours, theirs := newRig(t, Config{}, nil).connect(""), mariaDB(t)
	for _, c := range []*sql.Conn{ours, theirs} {
		exec(t, c, "CREATE TABLE named (id int)")
	}
	for _, statement := range []string{
		"SHOW TABLES", "SHOW TABLES LIKE 'named'", "show full tables like 'n%' ;", "SHOW TABLES WHERE 1 = 1",
		"SHOW TABLES FROM information_schema LIKE 'TAB%'", `SHOW TABLES LIKE 'it\_s ''x'''`, `SHOW TABLES LIKE "n%"`,
		"SHOW DATABASES", "SHOW DATABASES LIKE 'inf%'", "SHOW SCHEMAS LIKE 'inf%'", "SHOW VARIABLES LIKE 'port'",
		"SHOW TABLES LIKE /* all */ '%'", "SHOW COLUMNS FROM named LIKE 'i%'", "SHOW TABLE STATUS LIKE 'n%'",
	} {
		var names [2][]string
		for i, c := range []*sql.Conn{ours, theirs} {
			rows, err := c.QueryContext(t.Context(), statement)
			if err != nil {
				t.Fatalf("%s: %v", statement, err)
			}
			names[i], err = rows.Columns()
			if err := errors.Join(err, rows.Close(), rows.Err()); err != nil {
				t.Fatal(err)
			}
			for j := range names[i] {
				names[i][j] = strings.Replace(names[i][j], "_in_oracle", "_in_test", 1) // its database
			}
		}
		if n := min(len(names[0]), len(names[1])); n == 0 || !slices.Equal(names[0][:n], names[1][:n]) {
			t.Errorf("%s: the columns %q, MariaDB's are %q", statement, names[0], names[1])
		}
	}
}
