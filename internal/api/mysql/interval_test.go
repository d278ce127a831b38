package mysql

import (
	"database/sql"
	"strings"
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
		"ms + INTERVAL 1.5 SECOND":                         "2026-01-02 03:04:07.178",
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

// TestNoIntervalIsTooLargeForItsNumber: it leads to a date as far as MySQL has dates, and to NULL with a warning
// behind.
func TestNoIntervalIsTooLargeForItsNumber(t *testing.T) {
	c := newRig(t, Config{}, nil).connect("")
	exec(t, c, "CREATE TABLE far (d date, at datetime, ti time, n bigint) ENGINE=QUEUE")
	exec(t, c, "INSERT INTO far VALUES ('2024-01-31', '2024-01-31 10:00:00', '10:20:30', 9223372036854775807)")
	answers(t, c, "far", map[string]string{
		"at + INTERVAL 99999999999 SECOND":                    "5192-12-15 19:46:39",
		"at - INTERVAL 60000000000 SECOND":                    "0122-10-04 23:20:00",
		"date_add('2024-01-31', INTERVAL 99999999999 SECOND)": "5192-12-15 09:46:39",
		"d + INTERVAL 8000 * 365 DAY":                         "",
		"d + INTERVAL 7000 YEAR":                              "9024-01-31", "d + INTERVAL 27 WEEK": "2024-08-07",
		"d + INTERVAL 9 QUARTER": "2026-04-30", "d - INTERVAL 11 MONTH": "2023-02-28",
		"date '2024-02-29' - INTERVAL 1 YEAR": "2023-02-28", "'9999-12-31' + INTERVAL 0 DAY": "9999-12-31",
		"ti + INTERVAL 1 HOUR": "11:20:30", "date_sub(ti, INTERVAL 30 SECOND)": "10:20:00",
		"ti + INTERVAL 1000 HOUR": "838:59:59", "date_add(20240131, INTERVAL 1 DAY)": "2024-02-01",
		"date_add('2024-01-31', INTERVAL 1 HOUR)":         "2024-01-31 01:00:00",
		"timestampadd(MINUTE, 1, d)":                      "2024-01-31 00:01:00",
		"adddate(d, 1)":                                   "2024-02-01",
		"date_add('2024-01-31 10:00:00', INTERVAL 1 DAY)": "2024-02-01 10:00:00",
	})
	for _, unit := range strings.Fields("MICROSECOND SECOND MINUTE HOUR DAY WEEK MONTH QUARTER YEAR") {
		for _, beyond := range []string{"at + INTERVAL n " + unit, "d - INTERVAL n " + unit,
			"at + INTERVAL -n-1 " + unit,
			"date_add('2024-01-31', INTERVAL 9223372036854775807 " + unit + ")"} {
			if number, value := ask(t, c, "SELECT "+beyond+" FROM far"); number != 0 || value != nil {
				t.Errorf("%s: error %d, %v", beyond, number, value)
			}
			const want = "Warning 1441 Datetime function: datetime field overflow"
			if text := warnings(t, c); !strings.HasPrefix(text, want) {
				t.Errorf("%s: warnings %q", beyond, text)
			}
		}
	}
	for _, beyond := range []string{"date_sub('0001-01-01', INTERVAL 1 DAY)",
		"'9999-12-31 23:59:59' + INTERVAL 1 SECOND"} {
		if number, value := ask(t, c, "SELECT "+beyond); number != 0 || value != nil {
			t.Errorf("%s: error %d, %v", beyond, number, value)
		}
	}
}

// TestYearsBeforeTheThousandthHaveFourDigits, of columns and of what is made of them, in both protocols.
func TestYearsBeforeTheThousandthHaveFourDigits(t *testing.T) {
	c := newRig(t, Config{}, nil).connect("")
	exec(t, c, "CREATE TABLE old (d date, at datetime(3)) ENGINE=QUEUE")
	exec(t, c, "INSERT INTO old VALUES ('0622-07-16', '0033-04-03 15:00:00.250')")
	answers(t, c, "old", map[string]string{
		"d": "0622-07-16", "at": "0033-04-03 15:00:00.250", "from_days(366)": "0001-01-01", "max(d)": "0622-07-16",
		"concat(d)": "0622-07-16", "d + INTERVAL 1 DAY": "0622-07-17",
	})
	var d, at string
	err := c.QueryRowContext(t.Context(), "SELECT d, at FROM old WHERE d <> ?", "2024-01-01").Scan(&d, &at)
	if err != nil || d != "0622-07-16" || at != "0033-04-03 15:00:00.250" {
		t.Errorf("%s, %s, %v", d, at, err)
	}
}
