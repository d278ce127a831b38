package mysql

import (
	"database/sql"
	"testing"
)

// TestFunctionsOfDatesAndTimesAreMySQLs: those that go-mysql-server lacks, and those that knew nothing of a TIME.
func TestFunctionsOfDatesAndTimesAreMySQLs(t *testing.T) {
	r := newRig(t, Config{}, nil)
	c := r.connect("")
	exec(t, c, "CREATE TABLE days (at datetime(3), t time(3), d date, s text) ENGINE=QUEUE")
	exec(t, c, "INSERT INTO days VALUES ('2026-01-02 03:04:05.678', '-10:11:12.5', '2026-01-02', '26:00:01')")
	for expression, want := range map[string]string{
		"concat(hour('10:11:12'), minute('10:11:12'), second('10:11:12'), microsecond('1:1:1.5'))":   "101112500000",
		"concat(hour(t), ',', minute(t), ',', second(t), ',', hour(at), ',', hour(d), ',', hour(s))": "10,11,12,3,0,26",
		"hour('2026-01-02 03:04:05') + second(101112) + hour('272:59:59') + minute('1 2:03')":        "290",
		"hour('x')":                                    "NULL",
		"time_to_sec('01:01:01')":                      "3661",
		"time_to_sec(t)":                               "-36672",
		"time_to_sec(at)":                              "11045",
		"to_seconds(d)":                                "63934531200",
		"to_seconds('2026-01-02 00:00:09')":            "63934531209",
		"sec_to_time(3661)":                            "01:01:01",
		"sec_to_time(-1.5)":                            "-00:00:01.5",
		"sec_to_time(99999999)":                        "838:59:59",
		"makedate(2026, 33)":                           "2026-02-02",
		"makedate(26, 366)":                            "2027-01-01",
		"makedate(2026, 0)":                            "NULL",
		"maketime(1, 2, 3)":                            "01:02:03",
		"maketime(-12, 15, 30.5)":                      "-12:15:30.5",
		"maketime(1, 60, 3)":                           "NULL",
		"period_add(202611, 2)":                        "202701",
		"period_add(9912, -1)":                         "199911",
		"period_diff(202603, 202511)":                  "4",
		"addtime('01:00:00', '00:30:00')":              "01:30:00",
		"addtime('2026-01-01 23:59:59', '1 00:00:01')": "2026-01-03 00:00:00",
		"subtime('01:00:00', '01:00:00.5')":            "-00:00:00.500000",
		"addtime(t, '10:11:12.5')":                     "00:00:00.000",
		"date_format(addtime(at, '01:00'), '%T')":      "04:04:05",
		"utc_date() = date(utc_timestamp())":           "1",
		"utc_time() <= time(utc_timestamp(6))":         "1",
		"session_user() = user()":                      "1",
		"addtime(NULL, '1')":                           "NULL",
		"addtime(at, '01:00:00')":                      "2026-01-02 04:04:05.678",
		"addtime('9999-12-31 23:59:59', '1')":          "NULL",
		"second(12.5)":                                 "12",
		"microsecond(12.5)":                            "500000",
		"time_to_sec(1.5)":                             "1",
		"hour('')":                                     "NULL",
		"hour(20260102030405)":                         "3",
		"to_seconds(950501)":                           "62966505600",
		"to_seconds('0000-00-00')":                     "NULL",
		"sec_to_time('x')":                             "00:00:00",
		"sec_to_time('1e-99999')":                      "00:00:00", "sec_to_time('-1e99999')": "-838:59:59",
		"sec_to_time('1e+')":                              "00:00:01",
		"sec_to_time('61.5x')":                            "00:01:01.500000",
		"sec_to_time(1e300)":                              "838:59:59",
		"sec_to_time(at) = sec_to_time('1e9')":            "1",
		"maketime(1, 1, repeat('9', 5000000))":            "NULL",
		"makedate(repeat('9', 5000000), 1)":               "NULL",
		"timestamp('2026-01-02', '01:02:03')":             "2026-01-02 01:02:03",
		"timestamp('2026-01-02 01:00:00', '-01:02:03.5')": "2026-01-01 23:57:56.5",
		"timestamp(at, 100)":                              "2026-01-02 03:05:05.678",
		"timestamp(d)":                                    "2026-01-02 00:00:00",
		"timestamp('x')":                                  "NULL",
		"timestamp('9999-12-31', '24:00:00')":             "NULL",
	} {
		var got sql.NullString
		err := c.QueryRowContext(t.Context(), "SELECT "+expression+" FROM days").Scan(&got)
		if !got.Valid {
			got.String = "NULL"
		}
		if err != nil || got.String != want {
			t.Errorf("%s: %q, %v, want %q", expression, got.String, err, want)
		}
	}
	_, err := c.ExecContext(t.Context(), "SELECT period_add(202613, 1)")
	failsWith(t, err, 1210, "HY000", "a thirteenth month")
	_, err = c.ExecContext(t.Context(), "SELECT maketime(1, 2)")
	failsWith(t, err, 1582, "42000", "two arguments")
}

// TestADecimalWithoutDigitsBehindThePointIsRounded, however it is written, and no longer than it says.
func TestADecimalWithoutDigitsBehindThePointIsRounded(t *testing.T) {
	r := newRig(t, Config{}, nil)
	c := r.connect("")
	exec(t, c, "CREATE TABLE prices (p decimal(10,3), s text) ENGINE=QUEUE")
	exec(t, c, "INSERT INTO prices VALUES (12.500, '-12.5'), (-0.4, '1e3')")
	for query, want := range map[string]string{
		"SELECT CAST(12.7 AS DECIMAL)":                                              "13",
		"SELECT CAST('12.5' AS DECIMAL(3))":                                         "13",
		"SELECT CAST(-12.5 AS DECIMAL(3, 0))":                                       "-13",
		"SELECT CONVERT(99999.5, DECIMAL(3))":                                       "999",
		"SELECT CAST(-1e30 AS DECIMAL(5))":                                          "-99999",
		"SELECT CAST(12.345 AS DECIMAL(5,1))":                                       "12.3",
		"SELECT CAST(p AS DECIMAL(5)) FROM prices WHERE s = '-12.5'":                "13",
		"SELECT p FROM prices WHERE CAST(s AS DECIMAL) = -13":                       "12.500",
		"SELECT CAST(p AS DECIMAL) FROM prices WHERE s = '1e3'":                     "0",
		"SELECT count(*) FROM prices GROUP BY CAST(p AS DECIMAL(5)) LIMIT 1":        "1",
		"SELECT sum(CAST(s AS DECIMAL(9))) FROM prices":                             "987",
		"SELECT CAST(s AS DECIMAL(9)) AS n FROM prices ORDER BY n DESC LIMIT 1":     "1000",
		"SELECT CAST(0.00000000000000000000000000000000000000000000004 AS DECIMAL)": "0",
	} {
		var got string
		if err := c.QueryRowContext(t.Context(), query).Scan(&got); err != nil || got != want {
			t.Errorf("%s: %q, %v, want %q", query, got, err, want)
		}
	}
}

// TestADatePlusAnIntervalHasTheDigitsOfTheDate, sent as text and in binary.
func TestADatePlusAnIntervalHasTheDigitsOfTheDate(t *testing.T) {
	r := newRig(t, Config{}, nil)
	c := r.connect("")
	exec(t, c, "CREATE TABLE shifts (id int, at datetime, ms datetime(3), d date, n int) ENGINE=QUEUE")
	exec(t, c, "INSERT INTO shifts VALUES (1, '2026-01-02 03:04:05', '2026-01-02 03:04:05.678', '2026-01-02', 1)")
	for expression, want := range map[string]string{
		"date_add(at, INTERVAL 1 DAY)":              "2026-01-03 03:04:05",
		"date_sub(at, INTERVAL n SECOND)":           "2026-01-02 03:04:04",
		"adddate(at, 1)":                            "2026-01-03 03:04:05",
		"timestampadd(HOUR, 1, at)":                 "2026-01-02 04:04:05",
		"date_add(ms, INTERVAL 1 DAY)":              "2026-01-03 03:04:05.678",
		"date_add(at, INTERVAL 5 MICROSECOND)":      "2026-01-02 03:04:05.000005",
		"date_add(d, INTERVAL 1 DAY)":               "2026-01-03",
		"date_add(at, INTERVAL NULL DAY)":           "",
		"max(date_add(at, INTERVAL 1 DAY)) is null": "0",
	} {
		for _, way := range []string{"1", "?"} {
			query, args := "SELECT "+expression+" FROM shifts WHERE id = "+way, []any{}
			if way == "?" {
				args = append(args, 1)
			}
			var got sql.NullString
			if err := c.QueryRowContext(t.Context(), query, args...).Scan(&got); err != nil || got.String != want {
				t.Errorf("%s: %q, %v, want %q", query, got.String, err, want)
			}
		}
	}
}

// TestTheClockOfAStatementIsOne, with as many digits as are asked for and no more.
func TestTheClockOfAStatementIsOne(t *testing.T) {
	c := newRig(t, Config{}, nil).connect("")
	exec(t, c, "CREATE TABLE one (n int) ENGINE=QUEUE")
	exec(t, c, "INSERT INTO one VALUES (1)")
	exec(t, c, "SET time_zone = '+00:00'")
	want := map[string]string{"time(utc_timestamp()) = utc_time()": "1", "microsecond(utc_timestamp())": "0",
		"microsecond(utc_timestamp(2)) % 10000": "0"}
	for _, digits := range []string{"", "1", "3", "6"} {
		want["utc_timestamp("+digits+") = now("+digits+")"] = "1"
		want["utc_timestamp("+digits+") <= now(6)"] = "1"
	}
	answers(t, c, "one", want)
}
