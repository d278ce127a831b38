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
		"SELECT DATE '2026-01-31' + INTERVAL 1 MONTH - INTERVAL 1 DAY":                "2026-02-27",
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

// TestADatePlusAnIntervalIsAsDateAdd: of the type of the date, and with the digits of a second that both have.
func TestADatePlusAnIntervalIsAsDateAdd(t *testing.T) {
	r := newRig(t, Config{}, nil)
	c := r.connect("")
	exec(t, c, "CREATE TABLE shifts (id int, d date, ms datetime(3)) ENGINE=QUEUE")
	exec(t, c, "INSERT INTO shifts VALUES (1, '2026-01-31', '2026-01-02 03:04:05.678')")
	for expression, want := range map[string]string{
		"d + INTERVAL 1 DAY":                               "2026-02-01",
		"d + INTERVAL 1 HOUR":                              "2026-01-31 01:00:00",
		"ms - INTERVAL 1 DAY":                              "2026-01-01 03:04:05.678",
		"INTERVAL id DAY + ms":                             "2026-01-03 03:04:05.678",
		"ms + INTERVAL 1.5 SECOND":                         "2026-01-02 03:04:07.178000",
		"date_sub(ms, INTERVAL '0.5' SECOND)":              "2026-01-02 03:04:05.178000",
		"max('2026-01-02' + INTERVAL id DAY)":              "2026-01-03 00:00:00",
		"'2026-01-02' + INTERVAL 1 DAY":                    "2026-01-03",
		"'2026-01-02' + INTERVAL '1.5' SECOND_MICROSECOND": "2026-01-02 00:00:01.500000",
	} {
		var got string
		err := c.QueryRowContext(t.Context(), "SELECT "+expression+" FROM shifts").Scan(&got)
		if err != nil || got != want {
			t.Errorf("%s: %q, %v, want %q", expression, got, err, want)
		}
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
