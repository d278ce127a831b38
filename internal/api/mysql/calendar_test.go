package mysql

import (
	"strings"
	"testing"
)

// TestDatesAndTimesAreReadAsFarAsTheyGo: what stands behind one in a text is left out with a warning, and what is no
// date or time is NULL with a warning.
func TestDatesAndTimesAreReadAsFarAsTheyGo(t *testing.T) {
	c := newRig(t, Config{}, nil).connect("")
	exec(t, c, "CREATE TABLE one (n int) ENGINE=QUEUE")
	exec(t, c, "INSERT INTO one VALUES (1)")
	for expression, want := range map[string]string{
		"time('5x')": "00:00:05", "time('-1:2:3 x')": "-01:02:03", "time('1 2:3:4x')": "26:03:04",
		"time('999:00:00')": "838:59:59", "time('35 0:0:0')": "838:59:59", "time('2024-02-30')": "00:20:24",
		"time('x')": "", "time('')": "", "time('12:60:00')": "", "time('10:11:12.5x')": "10:11:12.5",
		"hour('5x')": "0", "hour('1:2x')": "1", "hour('1000:00:00')": "838", "minute('1:2x')": "2",
		"second('1:2:3x')": "3", "microsecond('1:2:3.5x')": "500000", "time_to_sec('5x')": "5",
		"time_to_sec('999:00:00')": "3020399", "addtime('5x', 1)": "00:00:06",
		"timediff('5x', '1x')": "00:00:04", "time_format('5x', '%T')": "00:00:05",
		"timestamp('2024-01-01', '5x')": "2024-01-01 00:00:05", "CAST('5x' AS TIME)": "00:00:05",
		"CAST('900:00:00' AS TIME)": "838:59:59", "CAST('x' AS TIME)": "", "date('2024-1-2x')": "2024-01-02",
		"CAST('2024-02-30' AS DATE)": "", "CAST('2024-01-02 x' AS DATETIME)": "2024-01-02 00:00:00",
		"year('2024-02-30')": "", "extract(HOUR_MINUTE FROM '-1:2x')": "-102",
		"datediff('2024-01-02x', '2024-1-1')": "1",
	} {
		answers(t, c, "one", map[string]string{expression: want})
		exec(t, c, "SELECT "+expression)
		if got := warnings(t, c); !strings.HasPrefix(got, "Warning 1292 Truncated incorrect ") {
			t.Errorf("%s: warnings %q", expression, got)
		}
	}
	for expression, want := range map[string]string{
		"time('5')": "00:00:05", "time('1:2')": "01:02:00", "time('12345')": "01:23:45",
		"time(' -1 2 ')":    "-26:00:00",
		"time('838:59:59')": "838:59:59", "time('20240229101112')": "10:11:12", "time(20240229101112)": "10:11:12",
		"time('2024-02-29T10:11:12.123456')": "10:11:12.123456", "time('24-02-29 1:2')": "01:02:00",
		"time('10:11:12.9999999')": "10:11:13", "date('24-1-2')": "2024-01-02", "date('2024/1/2')": "2024-01-02",
		"date('20240102T030405')": "2024-01-02", "CAST('2024-01-01 10' AS DATETIME)": "2024-01-01 10:00:00",
		"CAST('2024-01-02 03:04:05.9999999' AS DATETIME(6))": "2024-01-02 03:04:06.000000",
		"year('70-1-1')": "1970", "dayofmonth('2024.01.02')": "2", "date('20240102.5')": "2024-01-02",
		"extract(HOUR FROM '100:00:00')": "100", "extract(MICROSECOND FROM '10:11:12.5')": "500000",
		"extract(DAY_MICROSECOND FROM '2024-05-01 10:11:12.5')": "1101112500000",
		"extract(DAY_HOUR FROM '2024-05-01 10:11:12')":          "110",
		"extract(MINUTE_SECOND FROM '01:02:03')":                "203",
		"extract(YEAR_MONTH FROM '2024-05-01')":                 "202405", "extract(QUARTER FROM 20241130)": "4",
		"week('2024-12-31', 3)": "1", "week('2024-12-31', 2)": "52", "week('2024-01-01')": "0",
		"week('2024-01-07')":    "1",
		"week('2023-01-01', 1)": "0", "week('2023-01-01', 3)": "52", "week('2023-01-01')": "1",
		"weekofyear('2027-01-03')": "53", "yearweek('2024-12-31', 3)": "202501", "yearweek('2024-01-01')": "202353",
		"extract(WEEK FROM '2024-12-31')": "52", "yearweek('2023-01-01')": "202301", "yearweek(NULL)": "",
	} {
		answers(t, c, "one", map[string]string{expression: want})
		exec(t, c, "SELECT "+expression)
		if got := warnings(t, c); got != "" {
			t.Errorf("%s: warnings %q", expression, got)
		}
	}
}

// TestTheSecondsOfANumberAreThoseOfTheDateThatItIs.
func TestTheSecondsOfANumberAreThoseOfTheDateThatItIs(t *testing.T) {
	c := newRig(t, Config{}, nil).connect("")
	exec(t, c, "CREATE TABLE numbers (n int, b bigint) ENGINE=QUEUE")
	exec(t, c, "INSERT INTO numbers VALUES (20240101, 20240101103000), (7, NULL)")
	exec(t, c, "SET time_zone = '+00:00'")
	answers(t, c, "numbers WHERE b > 0", map[string]string{
		"unix_timestamp(20240101)": "1704067200", "unix_timestamp(20240101103000)": "1704105000",
		"unix_timestamp(n)": "1704067200", "unix_timestamp(b)": "1704105000",
		"unix_timestamp('2024-1-1')": "1704067200",
		"unix_timestamp(240101)":     "1704067200", "unix_timestamp(date '2024-01-01')": "1704067200",
	})
	answers(t, c, "numbers WHERE n = 7", map[string]string{"unix_timestamp(n)": "0", "unix_timestamp(b)": ""})
}
