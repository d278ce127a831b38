package mysql

import (
	"database/sql"
	"testing"
)

// answers demands the text of each expression, of the first row of a table; "" is NULL.
func answers(t *testing.T, c *sql.Conn, table string, want map[string]string) {
	t.Helper()
	for expression, text := range want {
		var got sql.NullString
		err := c.QueryRowContext(t.Context(), "SELECT "+expression+" FROM "+table).Scan(&got)
		if err != nil || got.String != text || got.Valid != (text != "") {
			t.Errorf("%s: %q, %v, want %q", expression, got.String, err, text)
		}
	}
}

// TestBitsAreTextsOrNumbers as they are used: b'1000001' is A, and 65 in calculations and beside numbers.
func TestBitsAreTextsOrNumbers(t *testing.T) {
	c := newRig(t, Config{}, nil).connect("")
	exec(t, c, "CREATE TABLE bits (n int, d decimal(10,2), y year, b bit(8), s varchar(10), x blob) ENGINE=QUEUE")
	exec(t, c, "INSERT INTO bits VALUES (b'1000001', 0x41, 0x10, 0b101, b'1000001', x'4142')")
	answers(t, c, "bits", map[string]string{
		"n": "65", "d": "65.00", "y": "2016", "b + 0": "5", "s": "A", "hex(x)": "4142",
		"b'01000001'": "A", "hex(b'101')": "05", "0b1000001": "A", "concat(b'1000001', 'x')": "Ax",
		"b'1000001' = 'A'": "1", "n = b'1000001'": "1", "n = 0x41": "1", "65 = 0x41": "1", "0x41 = 'A'": "1",
		"n IN (0x42, 0x41)": "1", "n BETWEEN 0x40 AND 0x42": "1", "0x10 > 5": "1", "x'0a' + 1": "11", "-0x10": "-16",
		"0x10 / 4": "4.0000", "round(0x0a)": "10", "sum(0x0a)": "10", "if(0x0, 1, 2)": "2", "b'1' AND 1": "1",
		"NOT b'0'": "1", "CAST(0x41 AS UNSIGNED)": "65", "CAST(0x41 AS CHAR)": "A",
		"b'1' = 1 AND 'b''1'' ' = 'b''1'''": "0",
		"s = 'b''11'''":                     "0", "b = b'101'": "1", "length(b'')": "0",
	})
}

// TestNumbersAndLooseTextsBesideADateAreDates, wherever they are literals.
func TestNumbersAndLooseTextsBesideADateAreDates(t *testing.T) {
	c := newRig(t, Config{}, nil).connect("")
	exec(t, c, "CREATE TABLE held (d date, at datetime, ms datetime(3), t time, n int) ENGINE=QUEUE")
	exec(t, c, "INSERT INTO held VALUES ('2024-01-02', '2024-01-02 03:04:05', '2024-01-02 03:04:05.678', "+
		"'26:00:00', 20240102)")
	answers(t, c, "held", map[string]string{
		"d = 20240102": "1", "20240102 = d": "1", "d > 20240101": "1", "d <> 20240102": "0", "d = 240102": "1",
		"d IN (20240102, 20240103)": "1", "d NOT IN (20240103)": "1", "d BETWEEN 20240101 AND 20240103": "1",
		"at = 20240102030405": "1", "at > 20240102": "1", "at < 20240103": "1", "ms = 20240102030405.678": "1",
		"date(at) = 20240102": "1", "d = 20241399": "0", "d = 0": "0", "d = '24-1-2'": "1", "d = '20240102'": "1",
		"year(20240102)": "2024", "year(n)": "2024", "datediff(20240105, d)": "3", "date(n)": "2024-01-02",
		"date_format(20240102030405, '%H:%i')": "03:04", "last_day(240201)": "2024-02-29", "week(n, 1)": "1",
		"year(0)": "", "nullif(d, 20240102)": "",
		"month(20241399)": "", "date_add(n, INTERVAL 1 DAY) = 20240103": "1", "dayname(n)": "Tuesday",
		"t = '1 02:00:00'": "1", "t > '1 01:00:00'": "1", "t > 235959": "1", "d = NULL": "",
	})
	one(t, c, int64(1), "SELECT count(*) FROM held WHERE d = 20240102 AND at BETWEEN 20240102 AND 20240103")
	one(t, c, int64(1), "SELECT count(*) FROM held WHERE d = ?", 20240102)
}

// TestPIHasSixDigits as a column and in texts, and all of them where more are asked for.
func TestPIHasSixDigits(t *testing.T) {
	c := newRig(t, Config{}, nil).connect("")
	answers(t, c, "dual", map[string]string{
		"pi()": "3.141593", "pi() * 2": "6.283185", "-pi()": "-3.141593", "concat(pi())": "3.141593",
		"pi() + 0.0000000000": "3.1415926536", "pi() > 3.14159265": "1", "round(pi(), 3)": "3.142",
	})
	var all float64
	if err := c.QueryRowContext(t.Context(), "SELECT pi() + ?", 0).Scan(&all); err != nil || all != 3.141592653589793 {
		t.Errorf("in a binary row PI() is %v, %v", all, err)
	}
}

// TestFunctionsOfDocumentsFollowPaths as JSON_EXTRACT does.
func TestFunctionsOfDocumentsFollowPaths(t *testing.T) {
	c := newRig(t, Config{}, nil).connect("")
	exec(t, c, "CREATE TABLE paths (j json) ENGINE=QUEUE")
	exec(t, c, `INSERT INTO paths VALUES ('{"a": [1, {"b": 2}], "c": "z", "n": null}')`)
	answers(t, c, "paths", map[string]string{
		"json_length(j)": "3", "json_length('[]')": "0", "json_length(j, '$.a')": "2", "json_length('5')": "1",
		"json_length(j, '$.a.b')": "", "json_length(j, '$.x')": "", "json_length(NULL)": "",
		"json_contains_path(j, 'one', '$.x', '$.a')": "1", "json_contains_path(j, 'all', '$.x', '$.a')": "0",
		"json_contains_path(j, 'one', '$.a.b')": "0", "json_contains_path(j, 'one', '$**.b')": "1",
		"json_contains_path(j, 'one', '$.a[*].b')": "1", "json_contains_path(j, 'one', '$.n')": "1",
		"json_contains_path(j, 'one', NULL)": "", "json_value(j, '$.c')": "z", "json_value(j, '$.a[1].b')": "2",
		"json_value(j, '$.a')": "", "json_value(j, '$.n')": "", "json_value(j, '$.a.b')": "",
		"json_keys(j, '$.a[1]')": `["b"]`, "json_keys(j, '$.a')": "", "json_contains(j, '2', '$.a[1].b')": "1",
		"json_contains(j, '1', '$.a.b')": "", "j->'$**.b'": "[2]",
		"json_extract('[1, 2, 3, 4]', '$[1 to 2]')":         "[2, 3]",
		"json_extract('[1, 2, 3, 4]', '$[last-1 to last]')": "[3, 4]", "json_extract('[1]', '$[2 to 3]')": "",
		`json_extract('{"a": {"b": 1}, "b": [{"b": 2}]}', '$**.b')`: `[[{"b": 2}], 1, 2]`,
		"json_extract('[[1, 2], [3]]', '$**[0]')":                   "[[1, 2], 1, 3]",
	})
	for expression, want := range map[string]struct {
		number uint16
		state  string
	}{
		"json_length(j, '$[*]')": {3149, "42000"}, "json_keys(j, '$.*')": {3149, "42000"},
		"json_contains_path(j, 'two', '$')": {3154, "42000"},
		"json_value(j, '$.')":               {3143, "42000"}, "json_length('x')": {3141, "22032"},
		"json_contains_path(j, 'one', '$**')": {3143, "42000"},
	} {
		_, err := c.ExecContext(t.Context(), "SELECT "+expression+" FROM paths")
		failsWith(t, err, want.number, want.state, expression)
	}
}
