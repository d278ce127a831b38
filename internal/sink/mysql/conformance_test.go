//go:build linux

package mysql

import (
	"bytes"
	"context"
	"strings"
	"testing"

	"github.com/hikyaku/hikyaku/internal/component"
	"github.com/hikyaku/hikyaku/internal/databasetest"
	"github.com/hikyaku/hikyaku/internal/rows"
	"github.com/hikyaku/hikyaku/internal/rows/rowstest"
)

// The first bytes of packets from a client, behind three of their length and one of their number.
const (
	comQuery   = 0x03
	comExecute = 0x17
)

// commits recognizes what asks MySQL for a commit: that statement, and any that is run outside of a transaction.
func commits() func([]byte) bool {
	within := false
	return func(sent []byte) (commits bool) {
		for len(sent) >= 5 && sent[3] == 0 { // else it is the rest of a packet
			size := int(sent[0]) | int(sent[1])<<8 | int(sent[2])<<16
			said := sent[5:min(4+size, len(sent))]
			switch {
			case sent[4] == comExecute:
				commits = commits || !within && size > 100 // not the few arguments of a question
			case sent[4] != comQuery:
			case bytes.HasPrefix(said, []byte("START TRANSACTION")):
				within = true
			case bytes.HasPrefix(said, []byte("COMMIT")):
				within, commits = false, true
			case bytes.HasPrefix(said, []byte("ROLLBACK")):
				within = false
			}
			sent = sent[min(4+size, len(sent)):]
		}
		return commits
	}
}

// must ends a test that cannot go on.
func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// proxied starts a proxy before the server, and gives the address through it.
func proxied(t testing.TB, url string) (*databasetest.Proxy, string) {
	t.Helper()
	p, err := databasetest.NewProxy(server.Address(), commits)
	must(t, err)
	t.Cleanup(func() {
		if err := p.Close(); err != nil {
			t.Error(err)
		}
	})
	return p, strings.Replace(url, server.Address(), p.Address(), 1)
}

func definitions(columns []rowstest.Definition) string {
	var texts, keys []string
	for _, c := range columns {
		text := rows.QuoteName(c.Name, quote) + " " + c.Type
		switch {
		case c.NotNull:
			text += " NOT NULL"
		case strings.HasPrefix(c.Type, "timestamp"):
			text += " NULL"
		}
		if c.Default != "" {
			text += " DEFAULT " + c.Default
		}
		if c.Key {
			keys = append(keys, rows.QuoteName(c.Name, quote))
		}
		texts = append(texts, text)
	}
	if len(keys) > 0 {
		texts = append(texts, "PRIMARY KEY ("+strings.Join(keys, ", ")+")")
	}
	return strings.Join(texts, ", ")
}

// readAll asks by a prepared statement: its answers have all digits of floats.
func readAll(t testing.TB, url, query string) (found [][]any) {
	t.Helper()
	db := admin(t, url)
	r, err := db.QueryContext(context.WithoutCancel(t.Context()), query+" WHERE ? = 1", 1)
	must(t, err)
	defer r.Close()
	names, err := r.Columns()
	must(t, err)
	for r.Next() {
		row, into := make([]any, len(names)), make([]any, len(names))
		for i := range row {
			into[i] = &row[i]
		}
		must(t, r.Scan(into...))
		found = append(found, row)
	}
	must(t, r.Err())
	return found
}

// outside are times that a timestamp does not hold, which begins with 1970 and ends with 2038, or with 2106.
var outside = []string{`"1969-12-31T23:59:59.25Z"`, `"0001-01-01T00:00:00Z"`, `"9999-12-31T23:59:59.9999999999999Z"`}

// foreignUUIDs are of no version that MariaDB knows.
var foreignUUIDs = []string{`"12345678-9abc-def0-1234-56789abcdef0"`, `"12345678-9ABC-DEF0-1234-56789ABCDEF0"`,
	`"123456789abcdef0123456789abcdef0"`}

func TestConformance(t *testing.T) {
	for name, load := range map[string]bool{"inserts": false, "LOAD DATA": true} {
		t.Run(name, func(t *testing.T) { conformance(t, load) })
	}
}

func conformance(t *testing.T, load bool) {
	url := database(t)
	schema := url[strings.LastIndexByte(url, '/')+1:]
	// A sink that waits for a lock gives up soon, so that it can lose.
	proxy, through := proxied(t, url+"?innodb_lock_wait_timeout=1&lock_wait_timeout=1")
	column := func(kind rows.Kind, edit func(*rows.Column)) rows.Column {
		c := rows.Column{Kind: kind, Nullable: true, NoNaN: kind == rows.Float, NoInf: kind == rows.Float}
		if edit != nil {
			edit(&c)
		}
		return c
	}
	downs := 0
	bits := func(n int) func(*rows.Column) { return func(c *rows.Column) { c.Bits = n } }
	scale := func(n int) func(*rows.Column) { return func(c *rows.Column) { c.Scale = n } }
	length := func(n int) func(*rows.Column) { return func(c *rows.Column) { c.Length = n } }
	rowstest.Run(t, rowstest.Harness{
		Open: func(t testing.TB, c rows.Config) component.Sink {
			t.Helper()
			s, err := New(Config{Config: c, Database: through, LoadData: load}, component.Env{})
			must(t, err)
			return s
		},
		Name: func(table string) rows.Name { return rows.Name{schema, table} },
		Create: func(t testing.TB, table rows.Name, columns []rowstest.Definition) {
			t.Helper()
			tell(t, url, "CREATE TABLE "+table.Quoted(quote)+" ("+definitions(columns)+
				") DEFAULT CHARSET utf8mb4 COLLATE utf8mb4_bin")
		},
		Drop: func(t testing.TB, table rows.Name) {
			t.Helper()
			tell(t, url, "DROP TABLE IF EXISTS "+table.Quoted(quote))
		},
		Read: func(t testing.TB, table rows.Name, columns []string) [][]any {
			t.Helper()
			names := make([]string, len(columns))
			for i, c := range columns {
				names[i] = rows.QuoteName(c, quote)
			}
			return readAll(t, url, "SELECT "+strings.Join(names, ", ")+" FROM "+table.Quoted(quote))
		},
		Types: []rowstest.Type{
			{SQL: "tinyint", Column: column(rows.Int, bits(8))},
			{SQL: "smallint", Column: column(rows.Int, bits(16))},
			{SQL: "mediumint", Column: column(rows.Int, bits(24))},
			{SQL: "int", Column: column(rows.Int, bits(32))},
			{SQL: "bigint", Column: column(rows.Int, bits(64))},
			{SQL: "tinyint unsigned", Column: column(rows.Uint, bits(8))},
			{SQL: "mediumint unsigned", Column: column(rows.Uint, bits(24))},
			{SQL: "bigint unsigned", Column: column(rows.Uint, bits(64))},
			{SQL: "float", Column: column(rows.Float, bits(32))},
			{SQL: "double", Column: column(rows.Float, bits(64))},
			{SQL: "decimal(12,3)", Column: column(rows.Decimal, func(c *rows.Column) { c.Precision, c.Scale = 12, 3 })},
			{SQL: "decimal(65,30)",
				Column: column(rows.Decimal, func(c *rows.Column) { c.Precision, c.Scale = 65, 30 })},
			{SQL: "varchar(70)", Column: column(rows.Text, func(c *rows.Column) { c.Length, c.Runes = 70, true })},
			{SQL: "text", Column: column(rows.Text, length(65535))},
			{SQL: "longtext", Column: column(rows.Text, nil)},
			{SQL: "varbinary(300)", Column: column(rows.Bytes, length(300))},
			{SQL: "longblob", Column: column(rows.Bytes, nil)},
			{SQL: "date", Column: column(rows.Date, nil)},
			{SQL: "time", Column: column(rows.TimeOfDay, scale(0))},
			{SQL: "time(6)", Column: column(rows.TimeOfDay, scale(6))},
			{SQL: "datetime", Column: column(rows.Timestamp, scale(0))},
			{SQL: "datetime(6)", Column: column(rows.Timestamp, scale(6))},
			{SQL: "timestamp(3)", Column: column(rows.TimestampTZ, scale(3)), Except: outside},
			{SQL: "uuid", Column: column(rows.UUID, nil), Except: foreignUUIDs, Cases: []rowstest.Case{
				{Field: `"550e8400-e29b-41d4-a716-446655440000"`, Want: "550e8400-e29b-41d4-a716-446655440000"},
				{Field: `"12345678-9abc-def0-1234-56789abcdef0"`, Refused: "Incorrect uuid value"},
			}},
		},
		Int: "bigint", Text: "varchar(200)", Huge: "longtext", None: "bigtext", Duplicate: "Duplicate entry",
		AddColumn: func(t testing.TB, table rows.Name, c rowstest.Definition) {
			t.Helper()
			tell(t, url, "ALTER TABLE "+table.Quoted(quote)+" ADD COLUMN "+definitions([]rowstest.Definition{c}))
		},
		DropColumn: func(t testing.TB, table rows.Name, c string) {
			t.Helper()
			tell(t, url, "ALTER TABLE "+table.Quoted(quote)+" DROP COLUMN "+rows.QuoteName(c, quote))
		},
		Retype: func(t testing.TB, table rows.Name, c string) {
			t.Helper()
			tell(t, url, "ALTER TABLE "+table.Quoted(quote)+" MODIFY "+rows.QuoteName(c, quote)+" varchar(200)")
		},
		Conflict: func(t testing.TB, table rows.Name) func() {
			t.Helper()
			db := connect(t, url)
			ctx := context.WithoutCancel(t.Context())
			c, err := db.Conn(ctx)
			must(t, err)
			_, err = c.ExecContext(ctx, "LOCK TABLES "+table.Quoted(quote)+" READ")
			must(t, err)
			return func() {
				_, err := c.ExecContext(ctx, "UNLOCK TABLES")
				must(t, err)
				must(t, c.Close())
				must(t, db.Close())
			}
		},
		Kill: func(t testing.TB) {
			t.Helper()
			var kills []string
			for _, id := range strings.Fields(ask(t, url, "SELECT ID FROM information_schema.PROCESSLIST WHERE DB = '"+
				schema+"' AND ID <> CONNECTION_ID()")) {
				kills = append(kills, "KILL "+id)
			}
			db := connect(t, url)
			defer db.Close()
			for _, k := range kills {
				_, _ = db.ExecContext(context.WithoutCancel(t.Context()), k) // it may have ended by itself
			}
		},
		CutAfter:   func(_ testing.TB, bytes int) { proxy.CutAfter(bytes) },
		LoseAnswer: func(testing.TB) func() bool { return proxy.LoseAnswer() },
		Hang: func(t testing.TB) func() {
			t.Helper()
			must(t, server.Freeze())
			return func() { must(t, server.Thaw()) }
		},
		Down: func(t testing.TB) func() {
			t.Helper()
			end := server.Kill
			if downs++; downs%2 == 0 {
				end = server.Stop
			}
			must(t, end())
			return func() { must(t, server.Start(context.WithoutCancel(t.Context()))) }
		},
	})
}
