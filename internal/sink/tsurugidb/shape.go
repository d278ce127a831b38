package tsurugidb

import (
	"context"
	"errors"
	"strconv"
	"strings"

	"github.com/hikyaku/hikyaku/internal/rows"
	"github.com/hikyaku/hikyaku/tsurugi"
)

// A shape is the INSERTs of one table, mode and list of columns: the same text with different numbers of rows. They are
// prepared when they are first needed.
type shape struct {
	table   *rows.Table
	mode    rows.Mode
	columns []rows.Column
	// of the statement's placeholders among the columns, in modes that find rows; nil: in the columns' order
	places  []int
	sizes   []*size // the largest first, the last is 1
	own     *size   // of exactly the rows that blocks had left over twice running; nil: there is none
	left    int     // rows that the block before had left over
	params  int     // that the sizes were made for
	keys    int     // how many placeholders, the last ones, find the row
	written bool    // a block was committed by its statements
	used    uint64  // when it was last used
}

// A size is the INSERT of so many rows.
type size struct {
	rows int
	st   *tsurugi.Statement // nil: not prepared yet
}

// shapes are those of a session that were used last.
type shapes struct {
	list []*shape
	now  uint64
}

// mostShapes bounds what a session keeps prepared. Each shape is up to seven statements.
const mostShapes = 16

// of finds the shape of a block, or makes it.
func (s *shapes) of(b *rows.Block, params int) *shape {
	s.now++
	for _, sh := range s.list {
		if sh.table == b.Table && sh.mode == b.Mode && same(sh.columns, b.Columns) && sh.params == params {
			sh.used = s.now
			return sh
		}
	}
	if len(s.list) == mostShapes {
		oldest := 0
		for i, sh := range s.list {
			if sh.used < s.list[oldest].used {
				oldest = i
			}
		}
		s.list[oldest].close()
		s.list = append(s.list[:oldest], s.list[oldest+1:]...)
	}
	sh := &shape{table: b.Table, mode: b.Mode, columns: b.Columns, params: params, used: s.now,
		sizes: sizes(len(b.Columns), params)}
	// the server's answer is one number a statement: what was not found is known of one row a statement alone
	if b.Mode.Finds() {
		sh.sizes = []*size{{rows: 1}}
		key, others := b.Parts()
		sh.keys, sh.places = len(key), append(others, key...)
	}
	s.list = append(s.list, sh)
	return sh
}

// same tells whether two lists of columns are one.
func same(a, b []rows.Column) bool { return len(a) == len(b) && len(a) > 0 && &a[0] == &b[0] }

// ordered puts one row's values in the order of the statement's placeholders.
func (sh *shape) ordered(values []tsurugi.Value) []tsurugi.Value {
	if sh.places == nil {
		return values
	}
	n := len(values)
	for _, i := range sh.places {
		values = append(values, values[i])
	}
	return values[n:]
}

// forget drops a shape, whose statements may be of a table that is no more.
func (s *shapes) forget(sh *shape) {
	for i := range s.list {
		if s.list[i] == sh {
			sh.close()
			s.list = append(s.list[:i], s.list[i+1:]...)
			return
		}
	}
}

func (sh *shape) close() {
	for _, z := range sh.sizes {
		z.close()
	}
	sh.own.close()
}

func (z *size) close() {
	if z != nil && z.st != nil {
		z.st.Close()
	}
}

// smallest is the INSERT of one row.
func (sh *shape) smallest() *size { return sh.sizes[len(sh.sizes)-1] }

// expect learns what blocks of so many rows have left over, behind as many of the largest statement as there are.
// Sources that are busy make blocks of one size: what two of them running have left over gets a statement of its own,
// in the place of the last such. Blocks of all sizes do not make us prepare one each time.
func (sh *shape) expect(n int) {
	left := n % sh.sizes[0].rows
	if left == 0 {
		return
	}
	for _, z := range sh.sizes {
		if z.rows == left {
			return
		}
	}
	if again := left == sh.left; again && (sh.own == nil || sh.own.rows != left) {
		sh.own.close()
		sh.own = &size{rows: left}
	}
	sh.left = left
}

// step is how much smaller than one size the next is: so any number of rows takes few statements, and few have to be
// prepared.
const step = 4

// sizes are the numbers of rows of the INSERTs with so many columns and at most so many placeholders.
func sizes(columns, params int) []*size {
	most := min(max(params/columns, 1), tsurugi.MaxRows)
	list := []*size{{rows: most}}
	power := 1
	for power*step < most {
		power *= step
	}
	for ; power >= 1; power /= step {
		if power < most {
			list = append(list, &size{rows: power})
		}
	}
	return list
}

// finding is the UPDATE or DELETE of one row.
func (sh *shape) finding() (sql string, holders []tsurugi.Placeholder) {
	var sets, same []string
	for k, i := range sh.places {
		name := "p" + strconv.Itoa(k)
		typ, _ := sh.columns[i].Code.(tsurugi.Type)
		holders = append(holders, tsurugi.Placeholder{Name: name, Type: typ})
		part := tsurugi.QuoteName(sh.columns[i].Name) + " = :" + name
		if k < len(sh.places)-sh.keys {
			sets = append(sets, part)
		} else {
			same = append(same, part)
		}
	}
	table := tsurugi.QuoteName(tableName(sh.table.Name))
	if sh.mode == rows.Delete {
		return "DELETE FROM " + table + " WHERE " + strings.Join(same, " AND "), holders
	}
	return "UPDATE " + table + " SET " + strings.Join(sets, ", ") + " WHERE " + strings.Join(same, " AND "), holders
}

// statement is the INSERT of a size, or the statement of one row.
func (sh *shape) statement(ctx context.Context, s *tsurugi.Session, z *size) (*tsurugi.Statement, error) {
	if z.st != nil {
		return z.st, nil
	}
	if sh.mode.Finds() {
		sql, holders := sh.finding()
		var err error
		z.st, err = s.Prepare(ctx, sql, holders...)
		return z.st, err
	}
	columns := make([]tsurugi.Column, len(sh.columns))
	for c := range sh.columns {
		typ, _ := sh.columns[c].Code.(tsurugi.Type)
		columns[c] = tsurugi.Column{Name: sh.columns[c].Name, Type: typ}
	}
	mode := map[rows.Mode]tsurugi.InsertMode{rows.Insert: tsurugi.InsertOnly, rows.Upsert: tsurugi.InsertOrReplace,
		rows.Once: tsurugi.InsertOrIgnore}[sh.mode]
	insert, err := tsurugi.NewInsert(tableName(sh.table.Name), columns, z.rows, mode)
	if err != nil {
		return nil, err
	}
	z.st, err = s.Prepare(ctx, insert.SQL, insert.Placeholders...)
	return z.st, err
}

// long tells whether an error may be about the length of a statement, so that a shorter one has better prospects.
func long(err error) bool {
	var e *tsurugi.Error
	if !errors.As(err, &e) {
		return false
	}
	switch e.Code {
	case tsurugi.CodeSQLLimitReached, tsurugi.CodeUnsupportedCompilerFeature, tsurugi.CodeUnsupportedRuntimeFeature,
		tsurugi.CodeSyntax, tsurugi.CodeCompile, tsurugi.CodeRequestFailure,
		tsurugi.CodeInvalidRequest, tsurugi.CodeOutOfMemory, tsurugi.CodeUnsupportedOperation:
		return true
	default:
		return false
	}
}
