//go:build linux

package postgres

import (
	"bytes"
	"context"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/hikyaku/hikyaku/internal/component"
	"github.com/hikyaku/hikyaku/internal/databasetest"
	"github.com/hikyaku/hikyaku/internal/rows"
	"github.com/hikyaku/hikyaku/internal/rows/rowstest"
)

// commits recognizes what asks PostgreSQL for a commit: the end of a COPY, and that of a message with an INSERT in it,
// or with an update or deletion by keys.
func commits() func([]byte) bool {
	inserting := false
	return func(sent []byte) bool {
		inserting = inserting || bytes.Contains(sent, []byte("INSERT INTO")) ||
			bytes.Contains(sent, []byte("WITH ORDINALITY"))
		if bytes.HasSuffix(sent, []byte("c\x00\x00\x00\x04")) {
			return true
		}
		if inserting && bytes.HasSuffix(sent, []byte("S\x00\x00\x00\x04")) {
			inserting = false
			return true
		}
		return false
	}
}

// proxied starts a proxy before the server, and gives the address through it.
func proxied(t testing.TB, url string) (*databasetest.Proxy, string) {
	t.Helper()
	p, err := databasetest.NewProxy(server.Address(), commits)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := p.Close(); err != nil {
			t.Error(err)
		}
	})
	return p, strings.Replace(url, server.Address(), p.Address(), 1)
}

// must ends a test that cannot go on.
func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func definitions(columns []rowstest.Definition) string {
	var texts, keys []string
	for _, c := range columns {
		text := rows.QuoteName(c.Name, quote) + " " + c.Type
		if c.NotNull {
			text += " NOT NULL"
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

func readAll(t testing.TB, url, query string) (found [][]any) {
	t.Helper()
	admin(t, url, func(ctx context.Context, c *pgx.Conn) {
		r, err := c.Query(ctx, query, pgx.QueryExecModeDescribeExec, pgx.QueryResultFormats{pgx.TextFormatCode})
		must(t, err)
		defer r.Close()
		for r.Next() {
			row := make([]any, 0, len(r.RawValues()))
			for i, raw := range r.RawValues() {
				switch {
				case raw == nil:
					row = append(row, nil)
				case r.FieldDescriptions()[i].DataTypeOID == 17: // bytea
					var b []byte
					must(t, c.TypeMap().Scan(17, pgx.TextFormatCode, raw, &b))
					row = append(row, b)
				default:
					row = append(row, string(raw))
				}
			}
			found = append(found, row)
		}
		must(t, r.Err())
	})
	return found
}

func TestConformance(t *testing.T) {
	url := database(t)
	schema := url[strings.LastIndexByte(url, '=')+1:]
	tell(t, url, "CREATE DOMAIN small AS int2")
	// A sink that waits for a lock gives up soon, so that it can lose.
	proxy, through := proxied(t, url+"&lock_timeout=100ms")
	column := func(kind rows.Kind, edit func(*rows.Column)) rows.Column {
		c := rows.Column{Kind: kind, Nullable: true, NoNUL: kind == rows.Text}
		if edit != nil {
			edit(&c)
		}
		return c
	}
	downs := 0
	bits := func(n int) func(*rows.Column) { return func(c *rows.Column) { c.Bits = n } }
	scale := func(n int) func(*rows.Column) { return func(c *rows.Column) { c.Scale = n } }
	rowstest.Run(t, rowstest.Harness{
		Open: func(t testing.TB, c rows.Config) component.Sink {
			t.Helper()
			s, err := New(Config{Config: c, Database: through}, component.Env{})
			must(t, err)
			return s
		},
		Name: func(table string) rows.Name { return rows.Name{schema, table} },
		Create: func(t testing.TB, table rows.Name, columns []rowstest.Definition) {
			t.Helper()
			tell(t, url, "CREATE TABLE "+tableName(table)+" ("+definitions(columns)+")")
		},
		Drop: func(t testing.TB, table rows.Name) {
			t.Helper()
			tell(t, url, "DROP TABLE IF EXISTS "+tableName(table))
		},
		Read: func(t testing.TB, table rows.Name, columns []string) [][]any {
			t.Helper()
			names := make([]string, len(columns))
			for i, c := range columns {
				names[i] = rows.QuoteName(c, quote)
			}
			return readAll(t, url, "SELECT "+strings.Join(names, ", ")+" FROM "+tableName(table))
		},
		Types: []rowstest.Type{
			{SQL: "boolean", Column: column(rows.Bool, nil)},
			{SQL: "smallint", Column: column(rows.Int, bits(16))},
			{SQL: "integer", Column: column(rows.Int, bits(32))},
			{SQL: "bigint", Column: column(rows.Int, bits(64))},
			{SQL: schema + ".small", Column: column(rows.Int, bits(16))},
			{SQL: "oid", Column: column(rows.Uint, bits(32))},
			{SQL: "real", Column: column(rows.Float, bits(32))},
			{SQL: "double precision", Column: column(rows.Float, bits(64))},
			{SQL: "numeric", Column: column(rows.Decimal, nil)},
			{SQL: "numeric(12,3)", Column: column(rows.Decimal, func(c *rows.Column) { c.Precision, c.Scale = 12, 3 })},
			{SQL: "numeric(5)", Column: column(rows.Decimal, func(c *rows.Column) { c.Precision = 5 })},
			{SQL: "text", Column: column(rows.Text, nil)},
			{SQL: "varchar(70)", Column: column(rows.Text, func(c *rows.Column) { c.Length, c.Runes = 70, true })},
			{SQL: "bytea", Column: column(rows.Bytes, nil)},
			{SQL: "date", Column: column(rows.Date, nil)},
			{SQL: "time", Column: column(rows.TimeOfDay, scale(6))},
			{SQL: "time(2)", Column: column(rows.TimeOfDay, scale(2))},
			{SQL: "timestamp", Column: column(rows.Timestamp, scale(6))},
			{SQL: "timestamp(0)", Column: column(rows.Timestamp, scale(0))},
			{SQL: "timestamptz", Column: column(rows.TimestampTZ, scale(6))},
			{SQL: "timestamptz(3)", Column: column(rows.TimestampTZ, scale(3))},
			{SQL: "uuid", Column: column(rows.UUID, nil)},
			{SQL: "json", Column: column(rows.JSON, nil)},
			{SQL: "jsonb", Column: column(rows.JSON, nil)},
		},
		Int: "bigint", Text: "text", Huge: "text", None: "bigtext", Duplicate: "duplicate key value",
		AddColumn: func(t testing.TB, table rows.Name, c rowstest.Definition) {
			t.Helper()
			tell(t, url, "ALTER TABLE "+tableName(table)+" ADD COLUMN "+definitions([]rowstest.Definition{c}))
		},
		DropColumn: func(t testing.TB, table rows.Name, c string) {
			t.Helper()
			tell(t, url, "ALTER TABLE "+tableName(table)+" DROP COLUMN "+rows.QuoteName(c, quote))
		},
		Retype: func(t testing.TB, table rows.Name, c string) {
			t.Helper()
			tell(t, url, "ALTER TABLE "+tableName(table)+" ALTER COLUMN "+rows.QuoteName(c, quote)+" TYPE text")
		},
		Conflict: func(t testing.TB, table rows.Name) func() {
			t.Helper()
			ctx := context.WithoutCancel(t.Context())
			c, err := pgx.Connect(ctx, url)
			must(t, err)
			_, err = c.Exec(ctx, "BEGIN; LOCK TABLE "+tableName(table)+" IN SHARE MODE")
			must(t, err)
			return func() { must(t, c.Close(ctx)) }
		},
		Kill: func(t testing.TB) {
			t.Helper()
			tell(t, url, "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'hikyaku'")
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
