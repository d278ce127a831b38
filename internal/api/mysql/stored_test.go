package mysql

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	driver "github.com/go-sql-driver/mysql"
)

// TestStoredValuesAreThoseOfMariaDB puts values of all kinds into columns of all types, as text and as parameters of
// prepared statements: what is there then is what a real server has, and what that refuses is refused.
func TestStoredValuesAreThoseOfMariaDB(t *testing.T) {
	ours := newRig(t, Config{}, nil).connect("")
	theirs := mariaDB(t)
	const mode = "STRICT_TRANS_TABLES,NO_ZERO_IN_DATE,NO_ZERO_DATE,ERROR_FOR_DIVISION_BY_ZERO"
	exec(t, ours, "SET sql_mode = '"+mode+"'")
	exec(t, theirs, "SET sql_mode = '"+mode+",TIME_ROUND_FRACTIONAL'") // as MySQL does it
	n := 0
	for i, typ := range storedTypes {
		table := fmt.Sprint("stored", i)
		create := fmt.Sprintf("CREATE TABLE %s (id int, v %s) DEFAULT CHARACTER SET utf8mb4", table, typ)
		exec(t, ours, create)
		exec(t, theirs, create)
		exec(t, theirs, "BEGIN") // one sync for all
		put := func(what, value string, args ...any) {
			if otherwise[what+" "+typ] || otherwise[what] && typ == "json" {
				return
			}
			n++
			insert := fmt.Sprintf("INSERT INTO %s VALUES (%d, %s)", table, n, value)
			_, refused := theirs.ExecContext(t.Context(), insert, args...)
			_, err := ours.ExecContext(t.Context(), insert, args...)
			var a, b *driver.MySQLError
			if errors.As(refused, &a) && errors.As(err, &b) { // numbers of errors differ by release
				return
			}
			read := fmt.Sprintf("SELECT v FROM %s WHERE id = %d", table, n)
			want, _ := cellsOf(t.Context(), theirs, read)
			got, _ := cellsOf(t.Context(), ours, read)
			if refused != nil || err != nil || !slices.EqualFunc(got, want, sameCells) {
				t.Errorf("%s into %s: %q, %v; MariaDB has %q, %v", what, typ, got, err, want, refused)
			}
		}
		for _, value := range storedValues {
			put(value, value)
		}
		for _, v := range storedParameters {
			put(fmt.Sprintf("%T(%v)", v, v), "?", v)
		}
		exec(t, theirs, "COMMIT")
	}
	t.Logf("%d values", n)
}

var storedParameters = []any{
	int64(5), int64(-1), int64(300), int64(20260102), uint64(18446744073709551615), 1.5, 2.5, -2.5, 2.0, -0.6, "text",
	"12", "", "a", "x,y", "2026-01-02", "2026-01-02 03:04:05.6", "10:11:12", []byte("ab"), []byte("7"), []byte{0xff, 0},
	time.Date(2026, 1, 2, 3, 4, 5, 600_000_000, time.UTC), time.Date(2026, 1, 2, 0, 0, 0, 0, time.UTC),
	true, false, nil, `{"a": 9007199254740993}`, "飛脚",
}

// otherwise are values that are something else here, as with MySQL or on purpose (docs/q4m.md). MariaDB keeps the text
// of a document, which 0x41 is not.
var otherwise = map[string]bool{
	"DATE'2026-01-02'": true, "TIMESTAMP'2026-01-02 03:04:05'": true, "TIME'01:02:03'": true, "TRUE": true,
	"'a' = 'a'": true, "' 1'": true, "'1 '": true, "'-0'": true, "18446744073709551616": true,
	"DATE'2026-01-02' year": true, "TIMESTAMP'2026-01-02 03:04:05' year": true, "'1.5' year": true,
	"'1.5' enum('a','b','c d')": true, "'1.5' set('x','y','z')": true, "'1 ' set('x','y','z')": true,
	"127 date": true, "128 date": true, "1112 date": true, "127 datetime": true, "128 datetime": true,
	"1112 datetime": true, "127 datetime(3)": true, "128 datetime(3)": true, "1112 datetime(3)": true,
	"127 timestamp NULL": true, "128 timestamp NULL": true, "1112 timestamp NULL": true,
	"'+7' time": true, "'+7' time(2)": true, "20260102 time": true, "20260102 time(2)": true,
	"-1.5 bit(64)": true, "-0.6 bit(64)": true, "1e40 bit(64)": true, "TIME'01:02:03' bit(64)": true,
	"int64(20260102) time": true, "int64(20260102) time(2)": true, "float64(-0.6) year": true,
	"1e40 char(5)": true, "1e40 varchar(5)": true, "1e40 binary(4)": true, "1e40 varbinary(4)": true,
}

var storedTypes = []string{
	"tinyint", "tinyint unsigned", "smallint", "mediumint unsigned", "int", "int unsigned", "bigint", "bigint unsigned",
	"decimal(5,2)", "decimal(10,0)", "float", "double", "bit(8)", "bit(64)", "date", "datetime", "datetime(3)",
	"timestamp NULL", "time", "time(2)", "year", "char(5)", "varchar(5)", "binary(4)", "varbinary(4)", "text", "blob",
	"enum('a','b','c d')", "set('x','y','z')", "json", "boolean",
}

var storedValues = strings.Split(`0 | 1 | -1 | 127 | 128 | 255 | 256 | -128 | -129 | 32767 | 65536 | 16777216 | 2147483647 | `+
	`2147483648 | 4294967296 | 9223372036854775807 | 9223372036854775808 | 18446744073709551615 | `+
	`18446744073709551616 | 1.5 | 2.5 | -1.5 | -0.6 | 0.005 | 999.994 | 999.995 | 1e2 | 1.5e0 | 2.5e0 | -2.5e0 | 1e40 | '0' | '' | ' 1' | `+
	`'1 ' | '12abc' | 'abc' | '1.5' | '1e3' | '-0' | '+7' | NULL | TRUE | 0x41 | b'101' | 0x4142434445 | '2026-01-02' | `+
	`'2026-01-02 03:04:05' | '2026-01-02 03:04:05.678' | '2026-01-02 03:04:05.9999' | '26-1-2' | '20260102' | 20260102 | `+
	`20260102030405 | '2026-02-30' | '0000-00-00' | '2026-01-02T03:04:05' | '10:11:12' | '10:11:12.345' | '10:11' | `+
	`101112 | 1112 | '-838:59:59' | '839:00:00' | '24:00:00' | '1 02:03:04' | 2026 | 26 | '26' | 70 | 'a' | 'b' | 'A' | `+
	`'c d' | 'x,y' | 'y,x' | 'x,q' | 3 | 'abcdef' | 'abc  ' | '飛脚' | '飛脚飛脚飛' | '飛脚飛脚飛脚' | '{"a": 1}' | '[1, 2]' | `+
	`DATE'2026-01-02' | TIMESTAMP'2026-01-02 03:04:05' | TIME'01:02:03' | 1 + 1.5 | 7 / 2 | `+
	`18446744073709551614 + 0.4 | CONCAT('1', '2') | CAST('9' AS UNSIGNED) | 'a' = 'a' | 1 / 0`, " | ")
