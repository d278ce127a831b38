package tsurugidb

import (
	"context"
	"os"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/hikyaku/hikyaku/internal/component"
	"github.com/hikyaku/hikyaku/internal/rows"
	"github.com/hikyaku/hikyaku/internal/rows/rowstest"
	"github.com/hikyaku/hikyaku/tsurugi"
	"github.com/hikyaku/hikyaku/tsurugi/tsurugitest"
)

// TestConformance runs the suite with short transactions, against the server that TSURUGI_ENDPOINT names, or one for
// tests.
func TestConformance(t *testing.T) { conform(t, tsurugitest.Config{}, tsurugi.OCC) }

// TestConformanceOfLongTransactionsAndShortStatements is the same with long transactions and, for tests, a server that
// takes one row in a statement.
func TestConformanceOfLongTransactionsAndShortStatements(t *testing.T) {
	conform(t, tsurugitest.Config{MaxRows: 1}, tsurugi.LTX)
}

func conform(t *testing.T, cfg tsurugitest.Config, typ tsurugi.TxType) {
	t.Helper()
	if named := other(os.Getenv("TSURUGI_ENDPOINT")); named != "" {
		h := harness(named, newProxy(t, named.Address(t)), typ)
		h.Without["LoseAnswer"] = "this server cannot be told to lose an answer"
		if typ == tsurugi.LTX {
			h.Conflict, h.Without["Conflict"] = nil, "this server cannot be told to let a long transaction lose"
		}
		rowstest.Run(t, h)
		return
	}
	server := tsurugitest.Start(t, cfg)
	h := harness(server, newProxy(t, server.Address()), typ)
	h.Kill = func(testing.TB) { server.KillSessions() }
	h.LoseAnswer = func(testing.TB) func() bool {
		var lost atomic.Bool
		server.On(func(r tsurugitest.Request) tsurugitest.Action {
			if r.Kind == tsurugitest.Commit && lost.CompareAndSwap(false, true) {
				return tsurugitest.DoAndDrop
			}
			return tsurugitest.Action{}
		})
		return lost.Load
	}
	if typ == tsurugi.LTX { // a long transaction that has announced what it writes loses at its commit, if at all
		h.Conflict = func(testing.TB, rows.Name) func() {
			server.On(func(r tsurugitest.Request) tsurugitest.Action {
				if r.Kind == tsurugitest.Commit {
					return tsurugitest.Conflict()
				}
				return tsurugitest.Action{}
			})
			return func() { server.On(nil) }
		}
	}
	rowstest.Run(t, h)
}

// harness is what can be done with any server, through a proxy.
func harness(server far, p *proxy, typ tsurugi.TxType) rowstest.Harness {
	w := &world{server: server, tables: map[string][]rowstest.Definition{}}
	return rowstest.Harness{
		Open: func(t testing.TB, c rows.Config) component.Sink {
			t.Helper()
			s, err := New(Config{Endpoint: p.endpoint(), TransactionType: TransactionType(typ), Config: c},
				component.Env{Name: "sink"})
			if err != nil {
				t.Fatal(err)
			}
			return s
		},
		Name:       func(table string) rows.Name { return rows.Name{table} },
		Create:     w.create,
		Drop:       w.drop,
		Read:       w.read,
		Types:      types(),
		Int:        "BIGINT",
		Text:       "VARCHAR(1024)",
		None:       "BIGTEXT",
		Duplicate:  "Unique constraint violation",
		AddColumn:  w.addColumn,
		DropColumn: w.dropColumn,
		Retype:     w.retype,
		Conflict:   w.conflict,
		Kill:       func(testing.TB) { p.down(); p.up() },
		CutAfter:   func(_ testing.TB, bytes int) { p.cutAfter(bytes) },
		Hang:       func(testing.TB) func() { p.hang(); return p.resume },
		Down:       func(testing.TB) func() { p.down(); return p.up },
		Without: map[string]string{"Defaults": "the server does not tell which columns have a default",
			"Huge": "no column holds more than 2,097,132 bytes: TestTextsOfAnyLength"},
	}
}

// types are those that TsurugiDB has.
func types() []rowstest.Type {
	nullable := func(c rows.Column) rows.Column {
		c.Nullable = true
		return c
	}
	return []rowstest.Type{
		{SQL: "INT", Column: nullable(rows.Column{Kind: rows.Int, Bits: 32})},
		{SQL: "BIGINT", Column: nullable(rows.Column{Kind: rows.Int, Bits: 64})},
		{SQL: "REAL", Column: nullable(rows.Column{Kind: rows.Float, Bits: 32})},
		{SQL: "DOUBLE", Column: nullable(rows.Column{Kind: rows.Float, Bits: 64})},
		{SQL: "DECIMAL(10, 2)", Column: nullable(rows.Column{Kind: rows.Decimal, Precision: 10, Scale: 2})},
		{SQL: "DECIMAL(38)", Column: nullable(rows.Column{Kind: rows.Decimal, Precision: 38})},
		{SQL: "VARCHAR(100)", Column: nullable(rows.Column{Kind: rows.Text, Length: 100, NoNUL: true})},
		{SQL: "VARCHAR(*)", Column: nullable(rows.Column{Kind: rows.Text, Length: longest, NoNUL: true})},
		{SQL: "VARBINARY(300)", Column: nullable(rows.Column{Kind: rows.Bytes, Length: 300})},
		{SQL: "VARBINARY(*)", Column: nullable(rows.Column{Kind: rows.Bytes, Length: longest})},
		{SQL: "DATE", Column: nullable(rows.Column{Kind: rows.Date})},
		{SQL: "TIME", Column: nullable(rows.Column{Kind: rows.TimeOfDay, Scale: fraction})},
		{SQL: "TIME WITH TIME ZONE", Column: nullable(rows.Column{Kind: rows.TimeOfDay, Scale: fraction})},
		{SQL: "TIMESTAMP", Column: nullable(rows.Column{Kind: rows.Timestamp, Scale: fraction})},
		{SQL: "TIMESTAMP WITH TIME ZONE", Column: nullable(rows.Column{Kind: rows.TimestampTZ, Scale: fraction})},
	}
}

// world is the tables of the suite. TsurugiDB alters no table: one that is to be another is made anew, with the rows
// that it had.
type world struct {
	server far
	tables map[string][]rowstest.Definition
}

func (w *world) create(t testing.TB, table rows.Name, columns []rowstest.Definition) {
	t.Helper()
	var parts, key []string
	for _, c := range columns {
		part := tsurugi.QuoteName(c.Name) + " " + c.Type
		if c.Default != "" {
			part += " DEFAULT " + c.Default
		}
		if c.NotNull {
			part += " NOT NULL"
		}
		if c.Key {
			key = append(key, tsurugi.QuoteName(c.Name))
		}
		parts = append(parts, part)
	}
	if len(key) > 0 {
		parts = append(parts, "PRIMARY KEY ("+strings.Join(key, ", ")+")")
	}
	do(t, w.server, "CREATE TABLE "+tsurugi.QuoteName(tableName(table))+" ("+strings.Join(parts, ", ")+")")
	w.tables[tableName(table)] = columns
}

func (w *world) drop(t testing.TB, table rows.Name) {
	t.Helper()
	do(t, w.server, "DROP TABLE IF EXISTS "+tsurugi.QuoteName(tableName(table)))
}

// values are all rows of some columns.
func (w *world) values(t testing.TB, table rows.Name, columns []string) (found [][]tsurugi.Value) {
	t.Helper()
	quoted := make([]string, len(columns))
	for i, c := range columns {
		quoted[i] = tsurugi.QuoteName(c)
	}
	admin(t, w.server, func(ctx context.Context, tx *tsurugi.Tx) error {
		r, err := tx.Query(ctx, "SELECT "+strings.Join(quoted, ", ")+" FROM "+tsurugi.QuoteName(tableName(table)))
		if err != nil {
			return err
		}
		for r.Next(ctx) {
			found = append(found, append([]tsurugi.Value(nil), r.Values()...))
		}
		return r.Err()
	})
	return found
}

func (w *world) read(t testing.TB, table rows.Name, columns []string) [][]any {
	t.Helper()
	var cells [][]any
	for _, values := range w.values(t, table, columns) {
		row := make([]any, len(values))
		for i, v := range values {
			switch {
			case v.IsNull():
			case v.Type() == tsurugi.OctetType:
				row[i] = []byte(v.Text())
			case v.Type() == tsurugi.TimeOfDayWithTimeZoneType, v.Type() == tsurugi.TimePointWithTimeZoneType:
				row[i] = v.Time()
			default:
				row[i] = v.String()
			}
		}
		cells = append(cells, row)
	}
	return cells
}

// remake makes a table anew of other columns; what a column takes that it had before goes through convert.
func (w *world) remake(t testing.TB, table rows.Name, columns []rowstest.Definition,
	convert func(name string, v tsurugi.Value) tsurugi.Value) {
	t.Helper()
	var kept []string
	had := map[string]bool{}
	for _, c := range w.tables[tableName(table)] {
		had[c.Name] = true
	}
	for _, c := range columns {
		if had[c.Name] {
			kept = append(kept, c.Name)
		}
	}
	old := w.values(t, table, kept)
	w.drop(t, table)
	w.create(t, table, columns)
	admin(t, w.server, func(ctx context.Context, tx *tsurugi.Tx) error {
		described, err := tx.Session().DescribeTable(ctx, tableName(table))
		if err != nil {
			return err
		}
		types := map[string]tsurugi.Column{}
		for _, c := range described.Columns {
			types[c.Name] = c
		}
		into := make([]tsurugi.Column, len(kept))
		for i, name := range kept {
			into[i] = types[name]
		}
		insert, err := tsurugi.NewInsert(tableName(table), into, 1, tsurugi.InsertOnly)
		if err != nil {
			return err
		}
		st, err := tx.Session().Prepare(ctx, insert.SQL, insert.Placeholders...)
		if err != nil {
			return err
		}
		for _, row := range old {
			for i := range row {
				row[i] = convert(kept[i], row[i])
			}
			if _, err := tx.ExecPrepared(ctx, st, row...); err != nil {
				return err
			}
		}
		return nil
	})
}

func unchanged(_ string, v tsurugi.Value) tsurugi.Value { return v }

func (w *world) addColumn(t testing.TB, table rows.Name, column rowstest.Definition) {
	t.Helper()
	w.remake(t, table,
		append(w.tables[tableName(table)][:len(w.tables[tableName(table)]):len(w.tables[tableName(table)])], column),
		unchanged)
}

func (w *world) dropColumn(t testing.TB, table rows.Name, column string) {
	t.Helper()
	var left []rowstest.Definition
	for _, c := range w.tables[tableName(table)] {
		if c.Name != column {
			left = append(left, c)
		}
	}
	w.remake(t, table, left, unchanged)
}

func (w *world) retype(t testing.TB, table rows.Name, column string) {
	t.Helper()
	columns := append([]rowstest.Definition(nil), w.tables[tableName(table)]...)
	for i := range columns {
		if columns[i].Name == column {
			columns[i].Type = "VARCHAR(1024)"
		}
	}
	w.remake(t, table, columns, func(name string, v tsurugi.Value) tsurugi.Value {
		if name == column && !v.IsNull() {
			return tsurugi.Text(v.String())
		}
		return v
	})
}

// conflict begins a long transaction that has announced to write the table: short ones are refused.
func (w *world) conflict(t testing.TB, table rows.Name) (free func()) {
	t.Helper()
	s, err := tsurugi.Connect(t.Context(), w.server.Endpoint(), tsurugi.Config{Label: adminLabel})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Begin(t.Context(),
		tsurugi.TxOptions{Type: tsurugi.LTX, WritePreserve: []string{tableName(table)}}); err != nil {
		t.Fatal(err)
	}
	return func() { _ = s.Close(context.Background()) } // which ends the transaction
}
