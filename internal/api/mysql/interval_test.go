package mysql

import (
	"database/sql"
	"testing"
	"time"
)

// TestAnIntervalThatIsNullMakesNull, wherever it is added or subtracted, as DATE_ADD does it.
func TestAnIntervalThatIsNullMakesNull(t *testing.T) {
	r := newRig(t, Config{}, nil)
	c := r.connect("")
	exec(t, c, "CREATE TABLE days (d datetime, n int) ENGINE=QUEUE")
	exec(t, c, "INSERT INTO days VALUES ('2026-01-01' + INTERVAL NULL DAY, 1), ('2026-01-01' + INTERVAL 1 DAY, 1)")
	for _, statement := range []string{
		"SELECT now() + INTERVAL NULL DAY",
		"SELECT INTERVAL NULL DAY + now()",
		"SELECT '2026-01-01' - INTERVAL @nothing HOUR",
		"SELECT max(d - INTERVAL NULL DAY) FROM days",
		"SELECT n FROM days WHERE d > now() + INTERVAL NULL DAY", "SELECT d FROM days WHERE n = 1 AND d IS NULL",
	} {
		if number, value := ask(t, c, statement); number != 0 || value != nil {
			t.Errorf("%s: error %d, %v", statement, number, value)
		}
	}
	for statement, want := range map[string]string{
		"SELECT max(d) + INTERVAL n DAY FROM days GROUP BY n":                         "2026-01-03 00:00:00",
		"SELECT DATE '2026-01-31' + INTERVAL 1 MONTH - INTERVAL 1 DAY":                "2026-02-27 00:00:00",
		"SELECT INTERVAL n DAY + d FROM days WHERE d - INTERVAL 1 DAY = '2026-01-01'": "2026-01-03 00:00:00",
	} {
		var got sql.NullString
		if err := c.QueryRowContext(t.Context(), statement).Scan(&got); err != nil || got.String != want {
			t.Errorf("%s: %q, %v, want %s", statement, got.String, err, want)
		}
	}
	for _, statement := range []string{
		"SELECT INTERVAL 1 DAY",
		"SELECT abs(INTERVAL 1 DAY)",
		"SELECT n FROM days WHERE INTERVAL 1 DAY",
		"SELECT n FROM days ORDER BY INTERVAL 1 DAY",
	} {
		_, err := c.ExecContext(t.Context(), statement)
		failsWith(t, err, 1064, "42000", statement)
	}
}

// TestTheWayOfASimpleSelectIsBoundedToo: what stands in the WHERE of a single table is evaluated while it is planned,
// by a way of its own. Each of these took minutes of a processor, which no time-out ended.
func TestTheWayOfASimpleSelectIsBoundedToo(t *testing.T) {
	r := newRig(t, Config{StatementTimeout: 20 * time.Second}, nil)
	r.makeJobs(1)
	c := r.connect("")
	for _, statement := range []string{
		"SELECT v FROM jobs WHERE year(repeat('1', 60000)) = 1",
		"SELECT v FROM jobs WHERE v = 1 AND month(repeat('1', 60000)) = 1",
		"SELECT v FROM jobs WHERE repeat('9', 60000) + INTERVAL 1 DAY > 1",
		"SELECT repeat('9', 60000) + INTERVAL 1 DAY FROM jobs",
	} {
		if number, value := ask(t, c, statement); number != 0 || value != nil {
			t.Errorf("%s: error %d, %v", statement, number, value)
		}
	}
}
