//go:build linux

package mysql

import (
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/hikyaku/hikyaku/internal/rows"
)

func TestEveryTypeIsDescribedAndWrittenAsItIs(t *testing.T) {
	day := time.Date(2026, 1, 2, 3, 4, 5, 678_901_999, time.UTC)
	uuid := [16]byte{0x55, 0x0e, 0x84, 0, 0xe2, 0x9b, 0x41, 0xd4, 0xa7, 0x16, 0x44, 0x66, 0x55, 0x44, 0, 0}
	url := database(t)
	_, inserting := open(t, url, false)
	_, loading := open(t, url, true)
	for i, c := range []struct {
		sql, kind string
		value     rows.Value
		want      string
	}{
		{"tinyint", "integer", rows.IntOf(-128), "-128"},
		{"boolean", "integer", rows.BoolOf(true), "1"},
		{"smallint", "integer", rows.IntOf(math.MaxInt16), "32767"},
		{"mediumint", "integer", rows.IntOf(-1 << 23), "-8388608"},
		{"int", "integer", rows.IntOf(math.MinInt32), "-2147483648"},
		{"bigint", "integer", rows.IntOf(math.MinInt64), "-9223372036854775808"},
		{"bigint unsigned", "unsigned integer", rows.UintOf(math.MaxUint64), "18446744073709551615"},
		{"bit(17)", "unsigned integer", rows.UintOf(1<<17 - 1), "131071"},
		{"year", "unsigned integer", rows.UintOf(2026), "2026"},
		{"float", "float", rows.FloatOf(0.5), "0.5"},
		{"double", "float", rows.FloatOf(1.7976931348623157e308), "1.7976931348623157e+308"},
		{"decimal(30,10)", "decimal", rows.DecimalOf("-12345678901234567890.0123456789"),
			"-12345678901234567890.0123456789"},
		{"char(3)", "text", rows.TextOf("飛脚"), "飛脚"},
		{"varchar(40)", "text", rows.TextOf("飛脚\t\\N\n\r\x00'\"%_\\"), "飛脚\t\\N\n\r\x00'\"%_\\"},
		{"text", "text", rows.TextOf("\\N"), "\\N"},
		{"longtext", "text", rows.TextOf(""), ""},
		{"varbinary(10)", "bytes", rows.BytesOf("\x00\xff\\\n"), "\x00\xff\\\n"},
		{"longblob", "bytes", rows.BytesOf("\xfe"), "\xfe"},
		{"date", "date", rows.DateOf(20455), "2026-01-02"},
		{"time(6)", "time of day", rows.TimeOfDayOf(86_399_999_999_000), "23:59:59.999999"},
		{"datetime(6)", "timestamp", rows.TimestampOf(day.Unix(), int32(day.Nanosecond())),
			"2026-01-02 03:04:05.678901"},
		{"timestamp(3) null", "timestamp with time zone", rows.InstantOf(day.Truncate(time.Millisecond)),
			"2026-01-02 03:04:05.678"},
		{"json", "text", rows.TextOf(`{"b": 1, "a":2}`), `{"b": 1, "a":2}`}, // MariaDB's is a text
		{"uuid", "uuid", rows.UUIDOf(uuid), "550e8400-e29b-41d4-a716-446655440000"},
		{"char(36)", "text", rows.TextOf("550e8400-e29b-41d4-a716-446655440000"),
			"550e8400-e29b-41d4-a716-446655440000"},
		{"enum('sad','glad')", "text", rows.TextOf("glad"), "glad"},
		{"set('a','b')", "text", rows.TextOf("a,b"), "a,b"},
		{"inet6", "text", rows.TextOf("::1"), "::1"},
	} {
		t.Run(c.sql, func(t *testing.T) {
			name := fmt.Sprintf("t%d", i)
			tell(t, url, "CREATE TABLE "+name+" (id bigint PRIMARY KEY, v "+c.sql+") DEFAULT CHARSET utf8mb4")
			table := described(t, inserting, name)
			if got := table.Columns[1].Kind.String(); got != c.kind {
				t.Errorf("%s is %s", c.sql, got)
			}
			for j, way := range []struct {
				on   *session
				mode rows.Mode
			}{{inserting, rows.Insert}, {inserting, rows.Once}, {inserting, rows.Upsert}, {loading, rows.Insert}} {
				b := &rows.Block{Table: table, Mode: way.mode, Columns: table.Columns,
					Values: []rows.Value{rows.IntOf(int64(j * 2)), c.value, rows.IntOf(int64(j*2 + 1)), {}}}
				if err := way.on.Write(t.Context(), b); err != nil {
					t.Fatalf("%v: %v", way.mode, err)
				}
			}
			column := "v"
			if c.sql == "bit(17)" {
				column = "v+0"
			}
			got := ask(t, url, "SELECT id, "+column+" FROM "+name+" ORDER BY id")
			want := fmt.Sprintf("0|%[1]s\n1|NULL\n2|%[1]s\n3|NULL\n4|%[1]s\n5|NULL\n6|%[1]s\n7|NULL", c.want)
			if got != want {
				t.Errorf("got  %q\nwant %q", got, want)
			}
		})
	}
	if d := loading.driver; d.denied.Load()+d.undone.Load() > 0 {
		t.Errorf("LOAD DATA: %d sessions refused, %d batches undone", d.denied.Load(), d.undone.Load())
	}
}
