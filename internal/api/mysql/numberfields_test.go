//go:build linux

package mysql

import (
	"encoding/binary"
	"fmt"
	"strings"
	"testing"
)

// numberTypes are the columns of numbers whose description differs between the types, and between what is stored and
// what a query makes of it.
const numberTypes = `b1 bit(1), b8 bit(8), b64 bit(64), d102 decimal(10,2), d5 decimal(5,0) unsigned, f float, ` +
	`g double, t tinyint unsigned, s smallint unsigned, m mediumint unsigned, i int unsigned, l bigint unsigned, y year`

// computedReals are the descriptions of computed reals here, where MariaDB's length is another one.
var computedReals = map[string]string{
	"max(f)":             "character set 63, length 12, type 4, flags 0x80, decimals 31",
	"coalesce(g, g)":     "character set 63, length 23, type 5, flags 0x80, decimals 31",
	"(SELECT g LIMIT 1)": "character set 63, length 23, type 5, flags 0x80, decimals 31",
}

// TestColumnsOfNumbersAreDescribedAsMariaDBDoes, stored and computed, as text and prepared: programs choose their
// buffers and types by it.
func TestColumnsOfNumbersAreDescribedAsMariaDBDoes(t *testing.T) {
	r := newRig(t, Config{}, nil)
	exec(t, r.connect(""), "CREATE TABLE n ("+numberTypes+") ENGINE=QUEUE")
	ours := r.dialRaw()
	theirs := mariaDB(t)
	exec(t, theirs, "CREATE DATABASE test")
	// The UNSIGNED of a DECIMAL is not kept here (docs/q4m.md).
	signed := strings.Replace(numberTypes, "decimal(5,0) unsigned", "decimal(5,0)", 1)
	exec(t, theirs, "CREATE TABLE test.n ("+signed+")")
	var port int
	if err := theirs.QueryRowContext(t.Context(), "SELECT @@port").Scan(&port); err != nil {
		t.Fatal(err)
	}
	raw := logIn(t, "tcp", fmt.Sprintf("127.0.0.1:%d", port), identity{user: "root"})
	for _, column := range []string{"b1", "b8", "b64", "d102", "d5", "f", "g", "t", "s", "m", "i", "l", "y"} {
		for _, form := range []string{"%s", "max(%s)", "coalesce(%[1]s, %[1]s)", "(SELECT %s LIMIT 1)",
			"x.%s FROM (SELECT * FROM n) x UNION SELECT %[1]s"} {
			statement := "SELECT " + fmt.Sprintf(form, column) + " FROM n"
			want := raw.wholly(statement, false)
			// MariaDB gives a computed FLOAT the length of a DOUBLE, and a DOUBLE the one or the other of two.
			if own, ok := computedReals[fmt.Sprintf(form, column)]; ok {
				want = own
			}
			for _, prepared := range []bool{false, true} {
				if got := ours.wholly(statement, prepared); got != want {
					t.Errorf("%s, prepared %t:\n%s\n%s", statement, prepared, got, want)
				}
			}
		}
	}
}

// wholly is what the answer to a statement says of its first column: character set, length, type, flags and decimals.
func (c *rawClient) wholly(statement string, prepared bool) string {
	c.t.Helper()
	var column []byte
	if prepared {
		c.write(0, append([]byte{0x16}, statement...))
		first := c.must()
		if first[0] == 0xff {
			return fmt.Sprintf("error %q", first[1:])
		}
		column = c.columns(int(binary.LittleEndian.Uint16(first[5:])))
		c.must()
	} else {
		c.write(0, append([]byte{3}, statement...))
		first := c.must()
		if first[0] == 0xff {
			return fmt.Sprintf("error %q", first[1:])
		}
		column = c.columns(int(first[0]))
		for ends := 0; ends < 2; { // of the columns, and of the rows
			if p := c.must(); p[0] == 0xfe && len(p) < 9 {
				ends++
			}
		}
	}
	for range 6 { // names
		column = column[1+int(column[0]):]
	}
	column = column[1:]
	return fmt.Sprintf("character set %d, length %d, type %d, flags %#x, decimals %d", binary.LittleEndian.Uint16(column),
		binary.LittleEndian.Uint32(column[2:]), column[6], binary.LittleEndian.Uint16(column[7:]), column[9])
}
