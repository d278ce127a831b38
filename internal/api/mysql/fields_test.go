package mysql

import (
	"encoding/binary"
	"fmt"
	"strings"
	"testing"

	"github.com/dolthub/vitess/go/sqltypes"
	querypb "github.com/dolthub/vitess/go/vt/proto/query"
)

// described sends a statement and returns what its answer says of the first column: its type, length and decimals, and
// "!" when it is never NULL.
func (c *rawClient) described(statement string) string {
	c.t.Helper()
	c.write(0, append([]byte{3}, statement...))
	first := c.must()
	if first[0] == 0xff {
		return fmt.Sprintf("error %d: %s", binary.LittleEndian.Uint16(first[1:]), first[9:])
	}
	column := c.columns(int(first[0]))
	for ends := 0; ends < 2; { // of the columns, and of the rows
		if p := c.must(); p[0] == 0xfe && len(p) < 9 {
			ends++
		}
	}
	return c.description(column)
}

// columns reads the descriptions of so many columns, and returns the first.
func (c *rawClient) columns(n int) (first []byte) {
	for i := range n {
		if p := c.must(); i == 0 {
			first = p
		}
	}
	return first
}

// prepared is the same of what a statement says of its answer when it is prepared.
func (c *rawClient) prepared(statement string) string {
	c.t.Helper()
	c.write(0, append([]byte{0x16}, statement...))
	first := c.must()
	if first[0] == 0xff {
		return fmt.Sprintf("error %d: %s", binary.LittleEndian.Uint16(first[1:]), first[9:])
	}
	columns, parameters := binary.LittleEndian.Uint16(first[5:]), binary.LittleEndian.Uint16(first[7:])
	if parameters > 0 {
		c.columns(int(parameters) + 1) // and their end
	}
	if columns == 0 {
		return "none"
	}
	column := c.columns(int(columns))
	c.must()
	return c.description(column)
}

// description is what the packet of a column says.
func (c *rawClient) description(column []byte) string {
	c.t.Helper()
	for range 6 { // names
		column = column[1+int(column[0]):]
	}
	column = column[1:]
	length, kind := binary.LittleEndian.Uint32(column[2:]), column[6]
	flags, decimals := binary.LittleEndian.Uint16(column[7:]), column[9]
	typ, err := sqltypes.MySQLToType(int64(kind), int64(flags))
	if err != nil {
		c.t.Fatal(kind, err)
	}
	never := ""
	if flags&uint16(querypb.MySqlFlag_NOT_NULL_FLAG) != 0 {
		never = "!"
	}
	return strings.ToLower(fmt.Sprintf("%s(%d,%d)%s", typ, length, decimals, never))
}

// TestColumnsOfAnswersAreDescribedAsMySQLDoes: programs make buffers of the length, and types of their own of the type.
func TestColumnsOfAnswersAreDescribedAsMySQLDoes(t *testing.T) {
	r := newRig(t, Config{}, nil)
	exec(t, r.connect(""), "CREATE TABLE f (a tinyint(1), b tinyint, c time, d time(3), e datetime, g datetime(6), "+
		"h timestamp, i date, n int NOT NULL, s varchar(20), x longtext) ENGINE=QUEUE")
	raw := r.dialRaw()
	for _, q := range []struct{ expression, want string }{
		{"a", "int8(1,0)"}, {"b", "int8(4,0)"}, {"c", "time(10,0)"}, {"d", "time(14,3)"},
		{"e", "datetime(19,0)"}, {"g", "datetime(26,6)"}, {"h", "timestamp(19,0)"}, {"i", "date(10,0)"},
		{"n = 1", "int64(1,0)!"}, {"now()", "datetime(19,0)!"},
		{"curdate()", "date(10,0)!"}, {"current_date", "date(10,0)!"}, {"current_date()", "date(10,0)!"},
		{"coalesce(i, curdate())", "date(10,0)"}, {"curdate() - INTERVAL 1 DAY", "date(10,0)"},
		{"sum(n)", "decimal(33,0)"}, {"max(n)", "int32(11,0)"}, {"min(n) + 1", "int64(21,0)"},
		{"count(*)", "int64(21,0)!"}, {"ifnull(max(n), 0)", "int64(21,0)!"},
		{"'x'", "varchar(4,31)!"}, {"concat('飛脚', n)", "varchar(52,31)!"}, {"hex('ab')", "varchar(64,31)!"},
		{"CASE WHEN n THEN 'a' ELSE 'bcd' END", "varchar(12,31)!"},
		{"CASE n WHEN 1 THEN x ELSE 'b' END", "text(4294967295,0)"},
		{"1", "int64(2,0)!"}, {"200", "int64(4,0)!"}, {"true", "int64(1,0)!"}, {"n", "int32(11,0)!"},
		{"CASE WHEN n THEN 1 END", "int64(2,0)"},
		{"max(c)", "time(10,0)"}, {"max(s)", "varchar(80,31)"}, {"s", "varchar(80,0)"},
		{"cast(s as time(3))", "time(14,3)"}, {"left(s, 2)", "varchar(8,31)"}, {"cast(n as char(5))", "varchar(20,31)"},
		{"concat_ws(',', s, n)", "varchar(128,31)!"}, {"(SELECT n LIMIT 1)", "int32(11,0)"},
		{"x'4142'", "varbinary(2,31)!"}, {"n FROM f UNION SELECT 1", "int64(21,0)!"},
		{"sum(n) + 1e0", "float64(23,31)"},
		{"group_concat(n)", "varchar(65532,31)"}, {"space(3)", "varchar(12,31)!"},
		{"md5('x')", "varchar(128,31)!"}, {"version()", "varchar(240,31)!"}, {"database()", "varchar(256,31)"},
		{"cast(n as char)", "varchar(44,31)"}, {"concat(s, '!')", "varchar(84,31)"},
		{"upper(s) AS u", "varchar(80,31)"},
		{"concat(x, 'x')", "text(4294967295,0)"},
		{"curtime()", "time(10,0)!"}, {"curtime(3)", "time(14,3)!"}, {"time(e)", "time(10,0)"},
		{"time(g)", "time(17,6)"}, {"timediff(e, e)", "time(10,0)"}, {"timediff(d, c)", "time(14,3)"},
		{"utc_time()", "time(10,0)!"}, {"maketime(1, 2, 3)", "time(10,0)"},
		{"utc_timestamp()", "datetime(19,0)!"}, {"utc_timestamp(3)", "datetime(23,3)!"},
		{"from_unixtime(n)", "datetime(19,0)"}, {"now(3)", "datetime(23,3)!"},
		{"unix_timestamp()", "int64(21,0)!"}, {"unix_timestamp(e)", "int64(21,0)"},
		{"unix_timestamp(i)", "int64(21,0)"}, {"unix_timestamp(g)", "decimal(21,6)"},
	} {
		if got := raw.described("SELECT " + q.expression + " FROM f"); got != q.want {
			t.Errorf("%s is described as %s, want %s", q.expression, got, q.want)
		}
		if got := raw.prepared("SELECT " + q.expression + " FROM f"); got != q.want {
			t.Errorf("%s is described as %s when it is prepared, want %s", q.expression, got, q.want)
		}
	}
	for statement, want := range map[string]string{
		"SELECT ?": "text(4294967295,0)", "SELECT n FROM f WHERE s = ?": "int32(11,0)!", "SELECT ? + 1, n FROM f": "",
		"INSERT INTO f (n) VALUES (?)": "none", "DELETE FROM f WHERE n = ?": "none",
		"SELECT queue_wait('f')": "int64(21,0)",
		"SELECT table_name FROM information_schema.tables WHERE table_schema = ?": "varchar(256,0)",
	} {
		if got := raw.prepared(statement); got != want && want != "" || strings.HasPrefix(got, "error") {
			t.Errorf("%s is described as %s when it is prepared, want %s", statement, got, want)
		}
	}
}

// TestTodayAndSecondsAreOfTheirTypes, whatever is done with them.
func TestTodayAndSecondsAreOfTheirTypes(t *testing.T) {
	c := newRig(t, Config{}, nil).connect("")
	exec(t, c, "SET time_zone = '+00:00', timestamp = 1767323045")
	exec(t, c, "CREATE TABLE f (e datetime, g datetime(3), i date) ENGINE=QUEUE")
	exec(t, c, "INSERT INTO f VALUES ('2026-01-02 03:04:05', '2026-01-02 03:04:05.250', curdate())")
	for _, q := range []struct{ expression, want string }{
		{"unix_timestamp(e)", "1767323045"}, {"unix_timestamp(g)", "1767323045.250"},
		{"sum(unix_timestamp(e))", "1767323045"}, {"unix_timestamp(e) DIV 10", "176732304"},
		{"i = curdate()", "1"}, {"curdate() = date(now())", "1"}, {"length(curdate())", "10"},
		{"concat(curdate(), '') = concat(i)", "1"}, {"datediff(current_date, i)", "0"},
		{"curdate() + INTERVAL 1 DAY > i", "1"}, {"year(curdate()) = year(now())", "1"},
		{"curdate() + 0 = date_format(i, '%Y%m%d') + 0", "1"}, {"curdate() BETWEEN i AND i", "1"},
	} {
		one(t, c, q.want, "SELECT "+q.expression+" FROM f")
	}
}
