package mysql

import (
	"database/sql"
	"testing"
)

// TestDatesAreTheTextsAndNumbersOfMySQL: a date has no clock, and a number is made of digits, with its fraction.
func TestDatesAreTheTextsAndNumbersOfMySQL(t *testing.T) {
	r := newRig(t, Config{}, nil)
	c := r.connect("")
	exec(t, c, "CREATE TABLE told (d date, s datetime, ms datetime(3), ti time, n int) ENGINE=QUEUE")
	exec(t, c, "INSERT INTO told VALUES ('2024-01-02', '2024-01-02 03:04:05', '2024-01-02 03:04:05.678', "+
		"'10:11:12', 1)")
	for expression, want := range map[string]string{
		"concat(d, 'x')":           "2024-01-02x",
		"concat_ws(',', d, s, ms)": "2024-01-02,2024-01-02 03:04:05,2024-01-02 03:04:05.678",
		"ifnull(d, 'none')":        "2024-01-02", "coalesce(NULL, d, 'none')": "2024-01-02",
		"if(n = 1, d, 'x')":                 "2024-01-02",
		"CASE n WHEN 1 THEN d ELSE 'x' END": "2024-01-02", "CASE d WHEN '2024-01-02' THEN 'x' ELSE d END": "x",
		"group_concat(DISTINCT d)": "2024-01-02", "group_concat(d ORDER BY d DESC)": "2024-01-02",
		"concat(max(d), 'x')": "2024-01-02x", "concat(d + INTERVAL 1 DAY, '')": "2024-01-03",
		"CAST(d AS CHAR)": "2024-01-02", "CAST(d AS BINARY)": "2024-01-02", "left(d, 4)": "2024",
		"substring(d, 6, 2)": "01", "reverse(d)": "20-10-4202", "length(d)": "10", "d LIKE '%-02'": "1",
		"greatest(d, '2020-01-01')": "2024-01-02", "json_object('d', d)": `{"d": "2024-01-02"}`,
		"upper(ms)": "2024-01-02 03:04:05.678", "ifnull(d, NULL)": "2024-01-02",
		"CAST(d AS UNSIGNED)": "20240102", "CAST(s AS UNSIGNED)": "20240102030405",
		"CAST(ms AS SIGNED)":                        "20240102030406",
		"CAST(ms AS DECIMAL(20,3))":                 "20240102030405.678",
		"CAST(CAST('-10:11:12' AS TIME) AS SIGNED)": "-101112",
		"d + 0": "20240102", "s + 0": "20240102030405",
		"ms + 0": "20240102030405.678", "ti + 0": "101112",
		"date(s) + 0": "20240102", "-d": "-20240102", "d DIV 10000": "2024", "d % 100": "2", "abs(d)": "20240102",
		"group_concat(ti)": "10:11:12", "concat(CAST('10:11:12' AS TIME(2)))": "10:11:12.00", "upper(ti)": "10:11:12",
		"length(now(3))": "23", "length(concat(utc_timestamp()))": "19",
		"now(6) + 0 > 20240101000000": "1", "curdate() + 0 > 20240101": "1",
	} {
		var got sql.NullString
		err := c.QueryRowContext(t.Context(), "SELECT "+expression+" FROM told").Scan(&got)
		if err != nil || got.String != want {
			t.Errorf("%s: %q, %v, want %q", expression, got.String, err, want)
		}
	}
	one(t, c, int64(1), "SELECT count(*) FROM told WHERE concat(d, '') = '2024-01-02' AND s + 0 = 20240102030405")
}

// TestTimesOfSecondsAndZonesHaveTheirDigits, no more and no less.
func TestTimesOfSecondsAndZonesHaveTheirDigits(t *testing.T) {
	r := newRig(t, Config{}, nil)
	c := r.connect("")
	exec(t, c, "SET time_zone = '+00:00'")
	exec(t, c, "CREATE TABLE zones (n int, x decimal(12,4), ms datetime(3), d date) ENGINE=QUEUE")
	exec(t, c, "INSERT INTO zones VALUES (1, 1.25, '2024-01-02 03:04:05.678', '2024-01-02')")
	for expression, want := range map[string]string{
		"from_unixtime(0)": "1970-01-01 00:00:00", "from_unixtime(n)": "1970-01-01 00:00:01",
		"from_unixtime(1.5)": "1970-01-01 00:00:01.5", "from_unixtime(x)": "1970-01-01 00:00:01.2500",
		"from_unixtime('1.5')": "1970-01-01 00:00:01.500000", "from_unixtime(1.5, '%s %f')": "01 500000",
		"from_unixtime(-1)": "", "from_unixtime(NULL)": "", "from_unixtime(1e300)": "",
		"convert_tz(ms, '+00:00', '+01:00')":                       "2024-01-02 04:04:05.678",
		"convert_tz(d, '+00:00', '+01:00')":                        "2024-01-02 01:00:00",
		"convert_tz('2024-01-02 03:04:05', '+00:00', '+01:00')":    "2024-01-02 04:04:05",
		"convert_tz('2024-01-02 03:04:05.25', '+00:00', '+01:00')": "2024-01-02 04:04:05.25",
	} {
		var got sql.NullString
		err := c.QueryRowContext(t.Context(), "SELECT "+expression+" FROM zones").Scan(&got)
		if err != nil || got.String != want {
			t.Errorf("%s: %q, %v, want %q", expression, got.String, err, want)
		}
	}
}

// TestTimeFormatCountsHoursBeyondADay, as a TIME does.
func TestTimeFormatCountsHoursBeyondADay(t *testing.T) {
	c := newRig(t, Config{}, nil).connect("")
	for expression, want := range map[string]string{
		"time_format('100:00:00', '%H %k %h %l')":         "100 100 04 4",
		"time_format('-10:00:00', '%H')":                  "-10",
		"time_format('25:01:02', '%H:%i:%s %p %r %T %%')": "25:01:02 AM 01:01:02 AM 25:01:02 %",
		"time_format('13:00:00.25', '%l %f %p')":          "1 250000 PM",
		"time_format('2024-01-02 03:04:05', '%k.%i')":     "3.04",
		"time_format('1:00:00', '%M')":                    "",
		"time_format(NULL, '%k')":                         "",
	} {
		var got sql.NullString
		err := c.QueryRowContext(t.Context(), "SELECT "+expression).Scan(&got)
		if err != nil || got.String != want {
			t.Errorf("%s: %q, %v, want %q", expression, got.String, err, want)
		}
	}
}
