package mysql

import (
	"context"
	"fmt"
	"io"
	"slices"

	gms "github.com/dolthub/go-mysql-server/sql"

	"github.com/hikyaku/hikyaku/internal/access"
	"github.com/hikyaku/hikyaku/internal/message"
	"github.com/hikyaku/hikyaku/internal/queue"
)

// table is a queue as SQL sees it: for the length of one statement.
type table struct {
	door    *Server
	db      string // as the client calls it
	name    queue.Name
	def     queue.Definition
	version uint64
	columns message.Columns // plainColumns for a queue without columns
	schema  gms.Schema
	altered bool // it was, by this statement: see refresh
}

var (
	_ gms.Table                   = (*table)(nil)
	_ gms.InsertableTable         = (*table)(nil)
	_ gms.DeletableTable          = (*table)(nil)
	_ gms.TruncateableTable       = (*table)(nil)
	_ gms.AlterableTable          = (*table)(nil)
	_ gms.StatisticsTable         = (*table)(nil)
	_ gms.CommentedTable          = (*table)(nil)
	_ gms.PrimaryKeyTable         = (*table)(nil)
	_ gms.ReplaceableTable        = (*table)(nil)
	_ gms.IndexAlterableTable     = (*table)(nil)
	_ gms.CommentAlterableTable   = (*table)(nil)
	_ gms.CollationAlterableTable = (*table)(nil)
)

// table makes the table of a queue.
func (d *Server) table(ctx *gms.Context, db string, n queue.Name) (*table, error) {
	def, version, err := d.store.Definition(ctx, n)
	if err != nil {
		return nil, err
	}
	return d.tableWith(ctx, db, n, def, version)
}

// tableWith makes the table of a queue that has that definition.
func (d *Server) tableWith(ctx *gms.Context, db string, n queue.Name, def queue.Definition, version uint64) (t *table,
	err error) {
	t = &table{door: d, db: db, name: n, def: def, version: version, columns: def.Columns}
	if s := sessionOf(ctx); s != nil && s.altering.of(n) {
		t.def, t.columns = s.altering.def, s.altering.def.Columns
		t.schema, err = sqlSchema(ctx, db, n.Name, t.columns)
		return t, err
	}
	if len(t.columns) == 0 {
		t.columns = plainColumns
	}
	t.schema, err = d.shapes.get(ctx, db, n, version, t.columns)
	return t, err
}

func (t *table) plain() bool                    { return len(t.def.Columns) == 0 }
func (t *table) Name() string                   { return t.name.Name }
func (t *table) String() string                 { return t.name.Name }
func (t *table) Schema(*gms.Context) gms.Schema { return t.schema }
func (t *table) Collation() gms.CollationID     { return t.collation() }
func (t *table) Comment() string                { return t.def.Labels[commentLabel] }
func (t *table) PrimaryKeySchema(*gms.Context) gms.PrimaryKeySchema {
	return gms.PrimaryKeySchema{Schema: t.schema}
}

// commentLabel is the label of a queue that keeps a table's comment.
const commentLabel = "comment"

// collationLabel is the label of a queue that keeps the collation that a table was made with. Comparison is always by
// bytes.
const collationLabel = "collation"

func (t *table) collation() gms.CollationID {
	if name := t.def.Labels[collationLabel]; name != "" {
		if c, err := gms.ParseCollation("", name, false); err == nil {
			return c
		}
	}
	return gms.Collation_Default
}

// DataLength and RowCount are what SHOW TABLE STATUS shows.
func (t *table) DataLength(ctx *gms.Context) (uint64, error) {
	st, err := t.stats(ctx)
	return uint64(max(st.Bytes, 0)), err
}

func (t *table) RowCount(ctx *gms.Context) (rows uint64, exact bool, err error) {
	st, err := t.stats(ctx)
	return uint64(max(st.Messages()-st.Claimed, 0)), false, err
}

// stats are the queue's. Where they are only a guess for a plan go-mysql-server passes over the error.
func (t *table) stats(ctx *gms.Context) (queue.Stats, error) {
	st, err := t.door.store.Stats(ctx, t.name)
	sessionOf(ctx).stick(absent(err))
	return st, fromStoreOf(err, t.name)
}

// Partitions: a queue has one.
func (t *table) Partitions(*gms.Context) (gms.PartitionIter, error) {
	return gms.PartitionsToPartitionIter(whole{}), nil
}

type whole struct{}

func (whole) Key() []byte { return []byte("all") }

// PartitionRows are the rows that the connection may see: in owner mode the row that it owns and no other; else those
// that nobody owns, the oldest first. They are read a page at a time, so that a long SELECT holds nobody up and what is
// put or taken meanwhile may or may not be seen.
func (t *table) PartitionRows(ctx *gms.Context, _ gms.Partition) (gms.RowIter, error) {
	if t.altered {
		return gms.RowsToRowIter(), nil
	}
	s := sessionOf(ctx)
	if err := s.may(access.Take, t.name, "SELECT"); err != nil {
		return nil, err
	}
	s.border.read()
	mode, h := s.seat.now()
	if !mode {
		return s.meter.reading(t), nil
	}
	own, err := t.own(ctx, h)
	if err != nil || own == nil {
		return gms.RowsToRowIter(), err
	}
	row, err := t.row(ctx, own)
	if err != nil {
		return nil, err
	}
	return &single{row: row}, nil
}

// single is one row. (go-mysql-server's own iterator copies rows, and with that loses which message it was: see place.)
type single struct{ row gms.Row }

func (s *single) Next(*gms.Context) (gms.Row, error) {
	row := s.row
	if s.row = nil; row == nil {
		return nil, io.EOF
	}
	return row, nil
}

func (s *single) Close(*gms.Context) error { return nil }

// own is the row that a seat holds, if it is one of t's and still there: reshaped when the table was altered meanwhile.
func (t *table) own(ctx context.Context, h *held) (*queue.Peeked, error) {
	if h == nil || h.queue != t.door.store.Resolve(t.name) {
		return nil, nil
	}
	return t.door.claimed(ctx, h)
}

// place stands behind the last value of each row, out of sight: which message it is. Whatever filters and sorts rows
// hands them on as they are, so a DELETE finds it again.
type place struct {
	table    queue.Name
	sequence uint64
}

// row makes SQL's row of a message. Damage is told, not hidden: a row that reads as empty would be taken for one.
func (t *table) row(ctx *gms.Context, p *queue.Peeked) (gms.Row, error) {
	if p.Damage != "" {
		return nil, sqlError(erUnknown, "HY000", "row %d of '%s' cannot be read: %s", p.Sequence, t.name.Name, p.Damage)
	}
	values := p.Message.Row
	if !t.plain() && !sameColumns(t.def.Columns, p.Columns) {
		return nil, errReshaped
	}
	if t.plain() {
		var err error
		if values, err = plainRow(p); err != nil {
			return nil, err
		}
	}
	row := make(gms.Row, len(t.schema), len(t.schema)+1)
	for i, c := range t.schema {
		if i >= len(values) {
			break
		}
		v, err := toSQL(ctx, values[i], c.Type)
		if err != nil {
			return nil, fmt.Errorf("row %d of '%s': column '%s': %w", p.Sequence, t.name.Name, c.Name, err)
		}
		row[i] = v
	}
	row[:cap(row)][len(row)] = place{t.name, p.Sequence}
	return row, nil
}

// errReshaped: the table was altered while a statement was at work with it.
var errReshaped = sqlError(erTableDefChanged, "HY000", "Table definition has changed, please retry transaction")

// sameColumns tells whether rows of the one fit the other. Mostly they are the same slice.
func sameColumns(a, b message.Columns) bool {
	if len(a) == len(b) && (len(a) == 0 || &a[0] == &b[0]) {
		return true
	}
	return slices.EqualFunc(a, b, func(x, y message.Column) bool {
		return x.Name == y.Name &&
			x.SQLType() == y.SQLType()
	})
}

// placeOf finds the message that a row was made of.
func placeOf(row gms.Row) (place, bool) {
	if cap(row) <= len(row) {
		return place{}, false
	}
	p, ok := row[: len(row)+1 : len(row)+1][len(row)].(place)
	return p, ok
}

// plainRow are the values of plainColumns.
func plainRow(p *queue.Peeked) ([]message.Value, error) {
	m := &p.Message
	attributes, err := m.Attributes.MarshalJSON()
	if err != nil {
		return nil, err
	}
	values := make([]message.Value, len(plainColumns))
	values[plainID] = message.String(m.ID.String())
	values[plainBody] = message.Bytes(m.Body)
	values[plainAttributes] = message.String(string(attributes))
	values[plainKey] = message.Null()
	if m.Key != "" {
		values[plainKey] = message.String(m.Key)
	}
	values[plainEnqueuedAt] = message.Time(m.Time)
	values[plainAttempts] = message.Int(int64(p.Attempts))
	return values, nil
}
