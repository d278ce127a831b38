//go:build linux

package postgres

import (
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/hikyaku/hikyaku/internal/rows"
)

// open is a session with a database.
func open(t testing.TB, url string) (*driver, rows.Session) {
	t.Helper()
	d, err := newDriver(Config{Database: url})
	if err != nil {
		t.Fatal(err)
	}
	s, err := d.Open(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return d, s
}

func described(t testing.TB, s rows.Session, name ...string) *rows.Table {
	t.Helper()
	table, err := s.Describe(t.Context(), name)
	if err != nil {
		t.Fatal(err)
	}
	return table
}

func TestEveryTypeIsDescribedAndWrittenAsItIs(t *testing.T) {
	day := time.Date(2026, 1, 2, 3, 4, 5, 678_901_999, time.UTC)
	uuid := [16]byte{0x55, 0x0e, 0x84, 0, 0xe2, 0x9b, 0x41, 0xd4, 0xa7, 0x16, 0x44, 0x66, 0x55, 0x44, 0, 0}
	url := database(t)
	tell(t, url, "CREATE TYPE mood AS ENUM ('sad', 'glad')", "CREATE DOMAIN small AS int2 CHECK (value < 100)",
		"CREATE DOMAIN short AS varchar(2)")
	_, s := open(t, url)
	for n, c := range []struct {
		sql, kind string
		value     rows.Value
		want      string
	}{
		{"bool", "bool", rows.BoolOf(true), "t"},
		{"int2", "integer", rows.IntOf(math.MinInt16), "-32768"},
		{"int4", "integer", rows.IntOf(math.MaxInt32), "2147483647"},
		{"int8", "integer", rows.IntOf(math.MinInt64), "-9223372036854775808"},
		{"oid", "unsigned integer", rows.UintOf(math.MaxUint32), "4294967295"},
		{"float4", "float", rows.FloatOf(0.1), "0.1"},
		{"float8", "float", rows.FloatOf(math.Inf(-1)), "-Infinity"},
		{"double precision", "float", rows.FloatOf(math.NaN()), "NaN"},
		{"numeric", "decimal", rows.DecimalOf("-00123456789012345678901234567890.000012300"),
			"-123456789012345678901234567890.000012300"},
		{"numeric(10,3)", "decimal", rows.DecimalOf("1000000.125"), "1000000.125"},
		{"numeric", "decimal", rows.DecimalOf("0.00001"), "0.00001"},
		{"numeric", "decimal", rows.DecimalOf("-0"), "0"},
		{"text", "text", rows.TextOf("飛脚\t\\N\n\r\\."), "飛脚\t\\N\n\r\\."},
		{"varchar(3)", "text", rows.TextOf("飛脚!"), "飛脚!"},
		{"char(3)", "text", rows.TextOf("a"), "a  "},
		{"name", "text", rows.TextOf("n"), "n"},
		{`"char"`, "text", rows.TextOf("x"), "x"},
		{"bytea", "bytes", rows.BytesOf("\x00\xff\\"), `\x00ff5c`},
		{"date", "date", rows.DateOf(20455), "2026-01-02"},
		{"date", "date", rows.DateOf(-719528 - 365), "0002-01-01 BC"},
		{"time", "time of day", rows.TimeOfDayOf(86_399_999_999_000), "23:59:59.999999"},
		{"timetz", "time of day", rows.TimeOfDayOf(1_000_000_000), "00:00:01+00"},
		{"timestamp", "timestamp", rows.TimestampOf(day.Unix(), int32(day.Nanosecond())), "2026-01-02 03:04:05.678901"},
		{"timestamptz", "timestamp with time zone", rows.InstantOf(day), "2026-01-02 03:04:05.678901+00"},
		{"uuid", "uuid", rows.UUIDOf(uuid), "550e8400-e29b-41d4-a716-446655440000"},
		{"json", "json", rows.JSONOf(`{"b": 1, "a":2}`), `{"b": 1, "a":2}`},
		{"jsonb", "json", rows.JSONOf(`{"b": 1, "a":2}`), `{"a": 2, "b": 1}`},
		{"mood", "text", rows.TextOf("glad"), "glad"},
		{"small", "integer", rows.IntOf(7), "7"},
		{"short", "text", rows.TextOf("ab"), "ab"},
		{"interval", "text", rows.TextOf("1 day 2 hours"), "1 day 02:00:00"},
		{"inet", "text", rows.TextOf("10.0.0.0/8"), "10.0.0.0/8"},
		{"int4[]", "text", rows.TextOf("{1,NULL,3}"), "{1,NULL,3}"},
		{"bit(3)", "text", rows.TextOf("101"), "101"},
		{"xml", "text", rows.TextOf("<a>1</a>"), "<a>1</a>"},
		{"point", "text", rows.TextOf("(1,2)"), "(1,2)"},
		{"tsvector", "text", rows.TextOf("a b"), "'a' 'b'"},
	} {
		t.Run(c.sql, func(t *testing.T) {
			// Beside a column that has no binary form, the same value goes the other way.
			plain, beside := fmt.Sprint("plain", n), fmt.Sprint("beside", n)
			tell(t, url, "CREATE TABLE "+plain+" (id int8 PRIMARY KEY, v "+c.sql+")",
				"CREATE TABLE "+beside+" (id int8 PRIMARY KEY, v "+c.sql+", i interval)")
			for i, name := range []string{plain, beside} {
				table := described(t, s, name)
				if got := table.Columns[1].Kind.String(); got != c.kind {
					t.Errorf("%s is %s", c.sql, got)
				}
				for j, mode := range []rows.Mode{rows.Insert, rows.Once, rows.Upsert} {
					b := &rows.Block{Table: table, Mode: mode, Columns: table.Columns}
					for k := range 2 { // one of them is null
						v := c.value
						if k == 1 {
							v = rows.Value{}
						}
						b.Values = append(b.Values, rows.IntOf(int64(j*2+k)), v)
						if i == 1 {
							b.Values = append(b.Values, rows.Value{})
						}
					}
					if err := s.Write(t.Context(), b); err != nil {
						t.Fatalf("%s, %v: %v", name, mode, err)
					}
				}
				got := ask(t, url, "SELECT id, v FROM "+name+" ORDER BY id")
				want := fmt.Sprintf("0|%[1]s\n1|NULL\n2|%[1]s\n3|NULL\n4|%[1]s\n5|NULL", c.want)
				if got != want {
					t.Errorf("%s:\ngot  %q\nwant %q", name, got, want)
				}
			}
		})
	}
}

func TestWideTablesAndManyRowsAreWritten(t *testing.T) {
	url := database(t)
	const width, height = 150, 600 // several frames
	tell(t, url, "CREATE TABLE wide (id int8 PRIMARY KEY, "+columns(width)+")")
	_, s := open(t, url)
	table := described(t, s, "wide")
	for _, mode := range []rows.Mode{rows.Insert, rows.Once, rows.Upsert} {
		b := &rows.Block{Table: table, Mode: mode, Columns: table.Columns}
		for i := range height {
			b.Values = append(b.Values, rows.IntOf(int64(i)))
			for j := range width {
				b.Values = append(b.Values, rows.FloatOf(float64(j)+float64(mode)))
			}
		}
		if err := s.Write(t.Context(), b); err != nil {
			t.Fatal(err)
		}
	}
	if got := ask(t, url, "SELECT count(*), sum(c0), sum(c149) FROM wide"); got != "600|600|90000" &&
		got != "600|600|90600" {
		t.Errorf("%s", got)
	}
}

func columns(n int) string {
	var c []string
	for i := range n {
		c = append(c, fmt.Sprintf("c%d float8", i))
	}
	return strings.Join(c, ", ")
}
