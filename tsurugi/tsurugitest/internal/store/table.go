package store

import (
	"slices"
	"sync"

	"github.com/hikyaku/hikyaku/tsurugi/internal/message"
	"github.com/hikyaku/hikyaku/tsurugi/internal/relation"
	"github.com/hikyaku/hikyaku/tsurugi/internal/value"
	"github.com/hikyaku/hikyaku/tsurugi/tsurugitest/internal/sql"
)

// A DB is all tables and the transactions on them. Its methods may be called by many goroutines; statements run one at
// a time.
type DB struct {
	mu        sync.Mutex
	tables    map[string]*table
	preserved map[string]map[*Tx]bool // tables that long transactions write
	commits   uint64
	maxRows   int // of one INSERT
}

// New makes an empty database whose INSERTs have at most maxRows rows.
func New(maxRows int) *DB {
	return &DB{tables: make(map[string]*table), preserved: make(map[string]map[*Tx]bool), maxRows: maxRows}
}

type table struct {
	name    string
	columns []sql.ColumnDef
	index   map[string]int
	key     []int // columns of the primary key; none: rows are numbered
	rows    map[string]*row
	changed uint64 // the commit that last changed it
	serial  uint64
}

// A row's values never change: a change puts another row in its place.
type row struct {
	values  []value.Value
	key     string
	version uint64 // the commit that wrote it
}

func (db *DB) create(s *sql.CreateTable) error {
	if _, ok := db.tables[s.Name]; ok {
		if s.IfNotExists {
			return nil
		}
		return refuse(codeExists, "table_already_exists: table %q is already defined", s.Name)
	}
	t := &table{name: s.Name, columns: s.Columns, index: make(map[string]int), rows: make(map[string]*row)}
	for i, c := range s.Columns {
		if _, ok := t.index[c.Name]; ok {
			return refuse(codeSymbol, "symbol_already_exists: column %q is already defined", c.Name)
		}
		t.index[c.Name] = i
	}
	for _, name := range s.Key {
		i, ok := t.index[name]
		if !ok {
			return refuse(codeSymbol, "symbol_not_found: column %q of the primary key is not defined", name)
		}
		t.key = append(t.key, i)
		t.columns[i].NotNull = true
	}
	if len(t.columns) == 0 {
		return refuse(codeSyntax, "a table has columns")
	}
	db.tables[s.Name] = t
	return nil
}

func (db *DB) drop(s *sql.DropTable) error {
	if _, ok := db.tables[s.Name]; !ok && !s.IfExists {
		return refuse(codeSymbol, "symbol_not_found: table %q is not found", s.Name)
	}
	delete(db.tables, s.Name)
	return nil
}

func (db *DB) table(name string) (*table, error) {
	t, ok := db.tables[name]
	if !ok {
		return nil, refuse(codeSymbol, "symbol_not_found: table %q is not found", name)
	}
	return t, nil
}

// Tables lists the names of tables, sorted.
func (db *DB) Tables() []string {
	db.mu.Lock()
	defer db.mu.Unlock()
	names := make([]string, 0, len(db.tables))
	for n := range db.tables {
		names = append(names, n)
	}
	slices.Sort(names)
	return names
}

// Describe tells the columns of a table and the names of its primary key.
func (db *DB) Describe(name string) ([]message.Column, []string, error) {
	db.mu.Lock()
	defer db.mu.Unlock()
	t, ok := db.tables[name]
	if !ok {
		return nil, nil, refuse(codeNotFound, "Target table %q is not found.", name)
	}
	columns := make([]message.Column, len(t.columns))
	for i := range t.columns {
		columns[i] = t.describe(i)
		columns[i].HasNullable, columns[i].Nullable = true, !t.columns[i].NotNull
	}
	var key []string
	for _, i := range t.key {
		key = append(key, t.columns[i].Name)
	}
	return columns, key, nil
}

// describe is a column as result sets have it.
func (t *table) describe(i int) message.Column {
	d := t.columns[i]
	c := message.Column{Name: d.Name, Type: d.Type}
	switch d.Type {
	case value.Character, value.Octet:
		c.Length, c.AnyLength = uint64(d.Length), d.Length == 0
		c.HasVarying, c.Varying = true, d.Varying
	case value.Decimal:
		c.Precision = uint64(d.Precision)
		c.HasScale, c.Scale = true, uint64(d.Scale)
	}
	return c
}

// Count is the number of rows that are committed in a table; less than 0 if there is none.
func (db *DB) Count(name string) int {
	db.mu.Lock()
	defer db.mu.Unlock()
	t, ok := db.tables[name]
	if !ok {
		return -1
	}
	return len(t.rows)
}

// keyOf is what makes a row of these values the only one.
func (t *table) keyOf(values []value.Value) string {
	if len(t.key) == 0 {
		t.serial++
		return string(relation.AppendRow(nil, []value.Value{value.OfInt8(int64(t.serial))}))
	}
	key := make([]value.Value, len(t.key))
	for i, c := range t.key {
		key[i] = values[c]
	}
	return string(relation.AppendRow(nil, key))
}
