package mysql

import (
	"database/sql"
	"testing"
)

// TestWhatEndedConnectionsIsAnsweredAsMySQLDoes: each of these met a panic of go-mysql-server, or was silently 0.
func TestWhatEndedConnectionsIsAnsweredAsMySQLDoes(t *testing.T) {
	r := newRig(t, Config{}, nil)
	r.makeJobs(3)
	c := r.connect("")
	exec(t, c, "SET @moment = '2026-01-02 03:04:05', time_zone = '+00:00'")
	for _, q := range []struct{ want, statement string }{
		{"1", "SELECT first_value(v) OVER () FROM jobs LIMIT 1"},
		{"3", "SELECT last_value(v) OVER () FROM jobs LIMIT 1"},
		{"4", "SELECT last_value(v + 1) OVER w FROM jobs WINDOW w AS () LIMIT 1"},
		{"1", "SELECT rand(NULL) = rand(0) AND rand('x') = rand(0) AND rand(1) <> rand(2)"},
		{"1767323045", "SELECT unix_timestamp(@moment) DIV 1"},
		{"1", "SELECT v FROM jobs WHERE unix_timestamp(@moment) > v LIMIT 1"},
		{"", "SELECT unix_timestamp(@nothing)"},
		{"b", "SELECT regexp_substr('飛脚b', 'b', 3)"},
		{"", "SELECT regexp_substr('abc', 'b', 4)"},
		{"1", "SELECT 'a%' LIKE 'a|%' ESCAPE '|' AND 'ab' LIKE 'a%' ESCAPE '' AND 'a' NOT LIKE 'b' ESCAPE ''"},
		{"999.99", "SELECT CAST('1e9999999999' AS DECIMAL(5,2))"},
		{"-999.99", "SELECT CAST('-1e99' AS DECIMAL(5,2))"},
		{"999.99", "SELECT CAST(99999 AS DECIMAL(5,2))"},
		{"99999999.99", "SELECT CAST(1e308 AS DECIMAL(10,2))"},
		{"50.00", "SELECT CAST('0.0005e5' AS DECIMAL(5,2))"},
		{"0.00", "SELECT CAST('1e-9999999999999999999999' AS DECIMAL(5,2))"},
		{"12.35", "SELECT CAST(' +12.345' AS DECIMAL(5,2))"},
		{"3", "SELECT count(*) FROM jobs WHERE v < CAST('1e9999999999' AS DECIMAL)"},
	} {
		var got sql.NullString
		if err := c.QueryRowContext(t.Context(), q.statement).Scan(&got); err != nil || got.String != q.want {
			t.Errorf("%s: %q, %v, want %q", q.statement, got.String, err, q.want)
		}
	}
	for _, statement := range []string{
		"SELECT regexp_substr('abc', 'b', 5)", "SELECT regexp_substr('abc', 'b', 0)",
		"SELECT regexp_instr('abc', 'b', 9)",
	} {
		_, err := c.ExecContext(t.Context(), statement)
		failsWith(t, err, 3686, "HY000", statement)
	}
}

// TestATableOfASelectIsMadeWholeOrNot: a column that the SELECT does not fill is refused before there is a table.
func TestATableOfASelectIsMadeWholeOrNot(t *testing.T) {
	r := newRig(t, Config{}, nil)
	r.makeJobs(3)
	c := r.connect("")
	for _, statement := range []string{
		"CREATE TABLE made (n int) ENGINE=QUEUE AS SELECT 1", "CREATE TABLE made (v int, w int) SELECT * FROM jobs",
	} {
		_, err := c.ExecContext(t.Context(), statement)
		failsWith(t, err, 1235, "42000", statement)
	}
	_, err := c.ExecContext(t.Context(), "CREATE TABLE made (v int) SELECT * FROM no_such")
	failsWith(t, err, 1146, "42S02", "a SELECT of no table")
	exec(t, c, "CREATE TABLE made (v int) ENGINE=QUEUE SELECT * FROM jobs") // there is none yet
	one(t, c, int64(6), "SELECT sum(v) FROM made")
}
