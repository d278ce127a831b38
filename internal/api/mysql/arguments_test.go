package mysql

import (
	"testing"
)

// oddTable is a table with a column of every kind that functions of other kinds are given.
func oddTable(t *testing.T) *rig {
	r := newRig(t, Config{}, nil)
	c := r.connect("")
	exec(t, c, "CREATE TABLE k (n int, i bigint, d decimal(10,2), f double, s varchar(40), b varbinary(40), "+
		"at datetime, ti time, j json, u bigint unsigned) ENGINE=QUEUE")
	exec(t, c, `INSERT INTO k VALUES (NULL, 3, 2.50, 1.5, '飛脚bA', x'ff8041', '2024-02-03 04:05:06', '01:02:03',
		'{"a": [1, 2]}', 18446744073709551615)`)
	return r
}

// TestFunctionsTakeBytesThatAreNoCharacters: each byte counts as a character, as with MySQL.
func TestFunctionsTakeBytesThatAreNoCharacters(t *testing.T) {
	answers(t, oddTable(t).connect(""), "k", map[string]string{
		"HEX(REVERSE(b))": "4180FF", "ASCII(b)": "255", "ORD(b)": "255", "LOCATE(x'80', b)": "2",
		"INSTR(b, 'A')":  "3",
		"LOCATE('a', b)": "0", "LOCATE('A', b, 3)": "3", "HEX(INSERT(b, 2, 1, 'x'))": "FF7841",
		"HEX(REPLACE(b, x'80', 'yy'))": "FF797941", "HEX(LPAD(b, 5, x'fe'))": "FEFEFF8041",
		"HEX(RPAD(b, 2, 'x'))": "FF80", "HEX(TRIM(x'ff' FROM b))": "8041", "HEX(LTRIM(b))": "FF8041",
		"HEX(REPEAT(b, 2))": "FF8041FF8041", "HEX(CONCAT_WS(',', b, 'x'))": "FF80412C78", "FIELD(b, 'x', b)": "2",
		"FIND_IN_SET(b, CONCAT('x,', b))": "2", "STRCMP(b, 'x')": "1", "HEX(ELT(2, 'x', b))": "FF8041",
		"HEX(COALESCE(n, b))": "FF8041", "HEX(COALESCE(NULL, x'ff'))": "FF", "HEX(GREATEST(b, 'x'))": "FF8041",
		"HEX(LEAST(b, x'fe'))": "FE", "HEX(SUBSTRING_INDEX(b, x'80', 1))": "FF",
		"HEX(MAKE_SET(3, b, 'x'))": "FF80412C78",
		"CRC32(b)":                 "2072052914",
		"HEX(QUOTE(x'ff'))":        "27FF27", "HEX(EXPORT_SET(1, b, 'x', '', 2))": "FF804178",
	})
}

// TestPlacesInTextsAreCountedInCharacters, not in bytes.
func TestPlacesInTextsAreCountedInCharacters(t *testing.T) {
	answers(t, oddTable(t).connect(""), "k", map[string]string{
		"LOCATE('脚', s)": "2", "INSTR(s, 'b')": "3", "LOCATE('b', s, 4)": "0", "LOCATE('', s)": "1",
		"LOCATE('', s, 5)": "5",
		"LOCATE('', s, 6)": "0", "LOCATE('', '', 2)": "0", "LOCATE('x', s, 9)": "0", "INSERT(s, 2, 1, 'x')": "飛xbA",
		"INSERT(s, 3, 100, 'x')": "飛脚x", "INSERT(s, 3, -1, 'x')": "飛脚x", "INSERT(s, 9, 1, 'x')": "飛脚bA",
		"INSERT(s, 0, 1, 'x')": "飛脚bA", "INSERT(s, u, u, 'x')": "飛脚bA", "ORD(s)": "15311771", "ASCII(s)": "233",
		"ORD('')": "0", "ASCII(i)": "51", "INSTR(123, 2)": "2", "INSTR(n, 'x')": "", "SUBSTRING(s, i, u)": "bA",
		"LENGTH(SUBSTRING(s, u, 1))": "0", "LPAD(s, 5, '車')": "車飛脚bA", "RPAD(s, 1, 'x')": "飛",
		"RPAD('x', 4, '飛a')": "x飛a飛", "LPAD(s, -1, 'x')": "", "LENGTH(LPAD(s, 9, ''))": "0",
	})
}

// TestNumbersAreReadOutOfWhatStandsForThem: MySQL takes the number that a text begins with, and 0 without one.
func TestNumbersAreReadOutOfWhatStandsForThem(t *testing.T) {
	c := oddTable(t).connect("")
	answers(t, c, "k", map[string]string{
		"LEFT('abc', '2x')": "ab", "LENGTH(LEFT('abc', 'x'))": "0", "LEFT(12345, 2)": "12", "RIGHT(-2.5, 2)": ".5",
		"REPEAT('x', '2')": "xx", "REPEAT('x', CAST(3 AS BINARY))": "xxx", "LPAD(7, '3x', 0)": "007",
		"ABS(CAST('-3' AS JSON))": "3", "SQRT(CAST('16' AS JSON))": "4", "ABS(j)": "0",
		"CEIL(CAST('1.5' AS JSON))":         "2",
		"MAKEDATE(2024, CAST('2' AS JSON))": "2024-01-02", "MAKE_SET('3', 'a', 'b')": "a,b",
		"REVERSE(-2.5)":                   "5.2-",
		"REVERSE(CAST('[1, 2]' AS JSON))": "]2 ,1[", "CRC32(d)": "3445454534", "HEX(CAST('[1]' AS JSON))": "5B315D",
		"IF(j, 'yes', 'no')": "yes", "IF(CAST('0' AS JSON), 'yes', 'no')": "no", "IF(ti, 'yes', 'no')": "yes",
		"CASE WHEN j THEN 1 END": "1", "3 COLLATE utf8mb4_bin": "3", "CONVERT(12 USING utf8mb4)": "12",
		"(NULL, 1) = ('x', 2)": "0", "(NULL, 1) = ('x', 1)": "", "(1, 'x') = (1, 'x')": "1",
		"(n, 1) <=> (NULL, 1)": "1",
		"LAST_INSERT_ID(NULL)": "", "LAST_INSERT_ID('7x')": "7", "FROM_DAYS(u)": "0000-00-00",
		"FROM_BASE64('x')": "", "FROM_BASE64('eHk=')": "xy", "UNIX_TIMESTAMP(x'ff')": "0",
		"DATE_FORMAT(at, 7)": "7", "SPACE('2x')": "  ", "COALESCE(ti, f)": "01:02:03", "LAG(i) OVER ()": "",
		"LEAD(i, 1, 'x') OVER ()": "x",
	})
	one(t, c, int64(7), "SELECT LAST_INSERT_ID()")
}

// TestTimesAreSubtractedWhateverTheyAreWrittenAs: MySQL reads numbers as times, too.
func TestTimesAreSubtractedWhateverTheyAreWrittenAs(t *testing.T) {
	answers(t, oddTable(t).connect(""), "k", map[string]string{
		"TIMEDIFF(10203, 203)": "01:00:00", "TIMEDIFF(ti, 3)": "01:02:00",
		"TIMEDIFF('10:00', '11:30')":   "-01:30:00",
		"TIMEDIFF(20240203040506, at)": "00:00:00", "TIMEDIFF(at, ti)": "",
		"TIMEDIFF('2024-02-03 04:05:06', '2024-02-02 00:00:00')": "28:05:06",
		"TIMEDIFF('2024-02-03', '2020-02-02')":                   "00:00:04",
		"GREATEST(ti, CAST('-10:00:00' AS TIME))":                "01:02:03",
		"LEAST(ti, CAST('-10:00:00' AS TIME))":                   "-10:00:00",
		"GREATEST(10, '9')":                                      "9",
		"GREATEST(f, u)":                                         "1.8446744073709552e+19", "GREATEST('2', '10')": "2",
		"JSON_ARRAY(ti)": `["01:02:03.000000"]`, "JSON_OBJECT('t', ti)": `{"t": "01:02:03.000000"}`,
	})
}

// TestUUIDsAreReadAndWrittenAsMySQLDoes, with the parts of the time swapped where that is asked for.
func TestUUIDsAreReadAndWrittenAsMySQLDoes(t *testing.T) {
	c := oddTable(t).connect("")
	const id = "6ccd780c-baba-1026-9564-5b8c656024db"
	answers(t, c, "k", map[string]string{
		"HEX(UUID_TO_BIN('" + id + "'))":                                     "6CCD780CBABA102695645B8C656024DB",
		"HEX(UUID_TO_BIN('" + id + "', 1))":                                  "1026BABA6CCD780C95645B8C656024DB",
		"BIN_TO_UUID(UUID_TO_BIN('{6CCD780C-BABA-1026-9564-5B8C656024DB}'))": id,
		"BIN_TO_UUID(UUID_TO_BIN('" + id + "', 1), 1)":                       id,
		"BIN_TO_UUID(UUID_TO_BIN('" + id + "'), NULL)":                       id,
		"IS_UUID('" + id + "')":                                              "1",
		"IS_UUID('6ccd780cbaba102695645b8c656024db')":                        "1",
		"IS_UUID('{6ccd780cbaba102695645b8c656024db}')":                      "0",
		"IS_UUID('6ccd780-cbaba-1026-9564-5b8c656024db')":                    "0",
		"IS_UUID(3)":                  "0",
		"IS_UUID(n)":                  "",
		"UUID_TO_BIN(n)":              "",
		"BIN_TO_UUID(n)":              "",
		"LENGTH(UUID_TO_BIN(UUID()))": "16",
		"BIN_TO_UUID(x'6CCD780CBABA102695645B8C656024DB') = BIN_TO_UUID(NULL)": "",
	})
	for _, statement := range []string{"SELECT UUID_TO_BIN('x')", "SELECT BIN_TO_UUID('x')",
		"SELECT BIN_TO_UUID(b) FROM k"} {
		if number, _ := ask(t, c, statement); number != 1411 {
			t.Errorf("%s: error %d", statement, number)
		}
	}
}

// TestErrorsOfArgumentsHaveMySQLsNumbers, and the connection goes on.
func TestErrorsOfArgumentsHaveMySQLsNumbers(t *testing.T) {
	c := oddTable(t).connect("")
	for statement, want := range map[string]int{
		"SELECT JSON_TYPE(3)":                                3146,
		"SELECT JSON_EXTRACT(j, 'a') FROM k":                 3143,
		"SELECT JSON_SET(j, '', 1) FROM k":                   3143,
		"SELECT JSON_SEARCH(j, 'some', 'x') FROM k":          3154,
		"SELECT JSON_OBJECTAGG(n, 1) FROM k":                 3158,
		"SELECT JSON_QUOTE(3)":                               3064,
		"SELECT JSON_UNQUOTE(d) FROM k":                      3064,
		"SELECT JSON_OBJECT(b, 1) FROM k":                    3144,
		"SELECT CAST('' AS JSON)":                            3141,
		"SELECT DATE_ADD(at, 3) FROM k":                      1064,
		"SELECT JSON_VALUE(j, '$.a', NULL) FROM k":           1064,
		"SELECT SYSDATE('')":                                 1064,
		"SELECT VEC_DISTANCE(1, 2)":                          1305,
		"SELECT LAST_INSERT_UUID(1)":                         1305,
		"SELECT 'x' LIKE 'x' ESCAPE 'xx'":                    1210,
		"SELECT b COLLATE utf8mb4_bin FROM k":                1253,
		"SELECT TIMESTAMPADD(DAY, j, '2024-01-01') FROM k":   3156,
		"SELECT LINESTRING(1, 2)":                            1305,
		"SELECT ST_GEOMFROMTEXT('x')":                        1305,
		"SELECT 1 = 1":                                       0,
		"SELECT JSON_UNQUOTE(n) FROM k":                      0,
		"SELECT JSON_UNQUOTE(JSON_EXTRACT(j, '$.a')) FROM k": 0,
	} {
		if number, _ := ask(t, c, statement); number != want {
			t.Errorf("%s: error %d, want %d", statement, number, want)
		}
	}
}

// TestWholeNumbersKeepTheirBits: also beside one of another kind, and beyond a BIGINT with a sign.
func TestWholeNumbersKeepTheirBits(t *testing.T) {
	answers(t, oddTable(t).connect(""), "k", map[string]string{
		"u & i": "3", "u | i": "18446744073709551615", "u ^ i": "18446744073709551612", "u >> 60": "15",
		"u >> s": "18446744073709551615",
		"-1 & u": "18446744073709551615", "ti << 1": "20406", "'5x' | ti": "10207", "BIT_COUNT(u)": "64",
		"BIT_COUNT('5x')":    "2",
		"BIT_COUNT(x'ff01')": "9", "BIN('5x')": "101", "BIN(ti)": "1", "OCT('8x')": "10",
		"ROUND(u)":    "18446744073709551615",
		"ROUND(u, 2)": "18446744073709551615", "ROUND(u, -2)": "18446744073709551600",
		"TRUNCATE(u, 1)": "18446744073709551615",
		"COALESCE(u, d)": "18446744073709551615.00", "COALESCE(n, i, d)": "3.00",
		"LEFT(at, ti)":       "2024-02-03 04:05:06",
		"LEFT('abc', '1.9')": "a",
	})
}

// TestBytesOfColumnsAreReadAsNumbers by their digits, as texts are; those of a literal are a number.
func TestBytesOfColumnsAreReadAsNumbers(t *testing.T) {
	answers(t, oddTable(t).connect(""), "k", map[string]string{
		"b + i": "3", "CAST('12' AS BINARY) + 1": "13", "ABS(CAST('-12' AS BINARY))": "12",
		"SQRT(CAST('16' AS BINARY))": "4",
		"CAST('5' AS BINARY) > 4":    "1", "x'41' + 1": "66", "COUNT(DISTINCT b)": "1", "COUNT(DISTINCT b, i)": "1",
	})
}

// TestFunctionsAnswerAsMySQLDoesWhereThereIsNothingToAnswer of.
func TestFunctionsAnswerAsMySQLDoesWhereThereIsNothingToAnswer(t *testing.T) {
	c := oddTable(t).connect("")
	answers(t, c, "k", map[string]string{
		"QUOTE(NULL)": "NULL", "QUOTE(n)": "NULL", "QUOTE('it')": "'it'", "DATE_FORMAT('garbage', '%Y')": "",
		"DATE_FORMAT(s, '%Y')": "", "DATE_FORMAT('2024-02-03 04:05:06', '%Y%m')": "202402",
		"DATE_FORMAT(20240203, '%d')": "03",
		"CONCAT('>', SOUNDEX(12))":    ">", "SOUNDEX('Robert')": "R163", "INET_ATON('1.2.3')": "16908291",
		"INET_ATON('3')":       "3",
		"INET_ATON('1.2.3.4')": "16909060", "INET_ATON('1.2.3.400')": "", "INET_ATON('')": "",
		"INET_NTOA(16909060)": "1.2.3.4",
		"INET_NTOA(u)":        "", "INET_NTOA(-1)": "", "NULL COLLATE utf8mb4_bin": "",
		"CASE ti WHEN j THEN 1 ELSE 2 END": "2",
		"b = j":                            "0", "ti = j": "0",
	})
	for statement, want := range map[string]int{
		"SELECT POW(-1, 1.5)": 1690, "SELECT i LIKE 'a' ESCAPE u FROM k": 1210,
	} {
		if number, _ := ask(t, c, statement); number != want {
			t.Errorf("%s: error %d, want %d", statement, number, want)
		}
	}
}
