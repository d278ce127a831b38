package sqlite

import (
	"context"
	"database/sql"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hikyaku/hikyaku/internal/component"
	"github.com/hikyaku/hikyaku/internal/rows"
	"github.com/hikyaku/hikyaku/internal/rows/rowstest"
)

// other opens the file as any program would.
func other(t testing.TB, file string) *sql.DB {
	t.Helper()
	db, err := sql.Open("sqlite", "file:"+file+"?_pragma=busy_timeout(10000)")
	if err != nil {
		t.Fatal(err)
	}
	db.SetMaxOpenConns(1)
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	return db
}

func run(t testing.TB, db *sql.DB, statement string) {
	t.Helper()
	if _, err := db.Exec(statement); err != nil {
		t.Fatalf("%s: %v", statement, err)
	}
}

func quoted(name string) string { return rows.QuoteName(name, '"') }

// definition is a column in a create table.
func definition(c rowstest.Definition) string {
	text := quoted(c.Name) + " " + c.Type
	if c.NotNull {
		text += " not null"
	}
	if c.Default != "" {
		text += " default " + c.Default
	}
	return text
}

func harness(t *testing.T) rowstest.Harness {
	file := filepath.Join(t.TempDir(), "a file #1.db")
	db := other(t, strings.ReplaceAll(strings.ReplaceAll(file, " ", "%20"), "#", "%23"))
	run(t, db, "pragma journal_mode = wal")
	return rowstest.Harness{
		Open: func(t testing.TB, c rows.Config) component.Sink {
			s, err := New(Config{Database: file, Config: c}, component.Env{})
			if err != nil {
				t.Fatal(err)
			}
			return s
		},
		Name: func(table string) rows.Name { return rows.Name{"main", table} },
		Create: func(t testing.TB, table rows.Name, columns []rowstest.Definition) {
			var parts, keys []string
			for _, c := range columns {
				parts = append(parts, definition(c))
				if c.Key {
					keys = append(keys, quoted(c.Name))
				}
			}
			if len(keys) > 0 {
				parts = append(parts, "primary key ("+strings.Join(keys, ", ")+")")
			}
			run(t, db, "create table "+table.Quoted('"')+" ("+strings.Join(parts, ", ")+")")
		},
		Drop: func(t testing.TB, table rows.Name) { run(t, db, "drop table if exists "+table.Quoted('"')) },
		Read: func(t testing.TB, table rows.Name, columns []string) [][]any {
			for i := range columns {
				// as it is stored, whatever the library makes of declared types
				columns[i] = "cast(" + quoted(columns[i]) + " as blob)"
			}
			return read(t, db, "select "+strings.Join(columns, ", ")+" from "+table.Quoted('"'), len(columns))
		},
		Types: []rowstest.Type{
			{SQL: "integer", Column: rows.Column{Kind: rows.Int, Bits: 64}},
			{SQL: "unsigned big int", Column: rows.Column{Kind: rows.Int, Bits: 64}},
			{SQL: "real", Column: rows.Column{Kind: rows.Float, Bits: 64, NoNaN: true}},
			{SQL: "boolean", Column: rows.Column{Kind: rows.Bool}},
			{SQL: "decimal(10,2)", Column: rows.Column{Kind: rows.Decimal, Precision: 10, Scale: 2}},
			{SQL: "numeric", Column: rows.Column{Kind: rows.Decimal}, Cases: []rowstest.Case{
				{Field: "123456789012345", Want: "123456789012345"},
				{Field: "0.1234567890123456", Refused: "15 digits"}, {Field: "1e20", Want: "1.0e+20"},
			}},
			{SQL: "varchar(10)", Column: rows.Column{Kind: rows.Text}},
			{SQL: "text", Column: rows.Column{Kind: rows.Text}},
			{SQL: "", Column: rows.Column{Kind: rows.Text}},
			{SQL: "blob", Column: rows.Column{Kind: rows.Bytes}},
			{SQL: "date", Column: rows.Column{Kind: rows.Date}},
			{SQL: "time", Column: rows.Column{Kind: rows.TimeOfDay, Scale: 9}},
			{SQL: "timestamp", Column: rows.Column{Kind: rows.Timestamp, Scale: 9}},
			{SQL: "timestamp with time zone", Column: rows.Column{Kind: rows.TimestampTZ, Scale: 9}},
			{SQL: "uuid", Column: rows.Column{Kind: rows.UUID}},
			{SQL: "json text", Column: rows.Column{Kind: rows.JSON}},
		},
		Int: "bigint", Text: "text", Huge: "text",
		Duplicate: "UNIQUE constraint failed",
		AddColumn: func(t testing.TB, table rows.Name, c rowstest.Definition) {
			run(t, db, "alter table "+table.Quoted('"')+" add column "+definition(c))
		},
		DropColumn: func(t testing.TB, table rows.Name, column string) {
			run(t, db, "alter table "+table.Quoted('"')+" drop column "+quoted(column))
		},
		Retype: func(t testing.TB, table rows.Name, column string) {
			name := quoted(column)
			run(t, db, "alter table "+table.Quoted('"')+" rename column "+name+" to old; alter table "+
				table.Quoted('"')+" add column "+name+" text; update "+
				table.Quoted('"')+" set "+name+" = old; alter table "+table.Quoted('"')+" drop column old")
		},
		Conflict: func(t testing.TB, table rows.Name) func() {
			tx, err := db.Conn(context.Background())
			if err != nil {
				t.Fatal(err)
			}
			if _, err := tx.ExecContext(context.Background(), "begin immediate"); err != nil {
				t.Fatal(err)
			}
			return func() {
				if _, err := tx.ExecContext(context.Background(), "rollback"); err != nil {
					t.Error(err)
				}
				if err := tx.Close(); err != nil {
					t.Error(err)
				}
			}
		},
		Without: map[string]string{
			"None":       "any word is a type",
			"Kill":       "there is no server that could end a session",
			"CutAfter":   "there is no connection",
			"LoseAnswer": "a commit is a call in this process: its answer cannot be lost",
			"Hang":       "there is no server; another program's lock is the conflict",
			"Down":       "there is no server",
		},
	}
}

func read(t testing.TB, db *sql.DB, query string, width int) (found [][]any) {
	t.Helper()
	answer, err := db.Query(query)
	if err != nil {
		t.Fatalf("%s: %v", query, err)
	}
	defer answer.Close()
	for answer.Next() {
		row, places := make([]any, width), make([]any, width)
		for i := range row {
			places[i] = &row[i]
		}
		if err := answer.Scan(places...); err != nil {
			t.Fatal(err)
		}
		found = append(found, row)
	}
	if err := answer.Err(); err != nil {
		t.Fatal(err)
	}
	return found
}

func TestSQLiteIsASinkLikeTheOthers(t *testing.T) { rowstest.Run(t, harness(t)) }
