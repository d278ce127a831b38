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
	var column []byte
	for i := range int(first[0]) {
		if p := c.must(); i == 0 {
			column = p
		}
	}
	for ends := 0; ends < 2; { // of the columns, and of the rows
		if p := c.must(); p[0] == 0xfe && len(p) < 9 {
			ends++
		}
	}
	for range 6 { // names
		column = column[1+int(column[0]):]
	}
	column = column[1:]
	length, kind := binary.LittleEndian.Uint32(column[2:]), column[6]
	flags, decimals := binary.LittleEndian.Uint16(column[7:]), column[9]
	typ, err := sqltypes.MySQLToType(int64(kind), int64(flags))
	if err != nil {
		c.t.Fatal(statement, err)
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
		"h timestamp, i date, n int NOT NULL) ENGINE=QUEUE")
	raw := r.dialRaw()
	for _, q := range []struct{ expression, want string }{
		{"a", "int8(1,0)"}, {"b", "int8(4,0)"}, {"c", "time(10,0)"}, {"d", "time(14,3)"},
		{"e", "datetime(19,0)"}, {"g", "datetime(26,6)"}, {"h", "timestamp(19,0)"}, {"i", "date(10,0)"},
		{"n = 1", "int8(4,0)!"}, {"now()", "datetime(19,0)!"},
	} {
		if got := raw.described("SELECT " + q.expression + " FROM f"); got != q.want {
			t.Errorf("%s is described as %s, want %s", q.expression, got, q.want)
		}
	}
}
