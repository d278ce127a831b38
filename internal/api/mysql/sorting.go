package mysql

import (
	"cmp"
	"errors"
	"io"
	"slices"

	gms "github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/plan"
)

// sorting makes the rows of a node that sorts, and cuts off those that its LIMIT leaves out. go-mysql-server evaluates
// what it sorts by again at each comparison, makes room for as many rows as a LIMIT says before it reads one, passes
// over errors where the LIMIT is 1, and skips the OFFSET of a UNION before it sorts.
type sorting struct {
	child gms.RowIter
	meter *meter
	by    []sortedBy
	most  int64 // of the rows that are kept
	skip  int64 // of those in the end
	found bool  // the statement wants to know how many there were

	read  bool
	full  bool // the first most of rows are in order, and no other row before them was dropped
	total int64
	rows  []sortRow
	err   error // of a comparison; sticks
}

// sortedBy is one of the things that rows are sorted by.
type sortedBy struct {
	of         gms.Expression
	typ        gms.Type
	key        int // among the keys of a row; -1: it is a column of the row itself
	descending bool
	nullsLast  bool
}

// sortRow is a row with what it is sorted by.
type sortRow struct {
	row   gms.Row
	keys  []any
	at    int64 // among the rows that were read
	bytes int64
}

// sorted builds a node that sorts; nil: it does not.
func (w walking) sorted(ctx *gms.Context, m *meter, n gms.Node, row gms.Row) (gms.RowIter, error) {
	var fields gms.SortFields
	var limit, offset gms.Expression
	s := &sorting{meter: m}
	child, same := n, false
	switch of := n.(type) {
	case *plan.Sort:
		fields, child = of.SortFields, of.Child
	case *plan.TopN:
		fields, child, limit, s.found = of.Fields, of.Child, of.Limit, of.CalcFoundRows
	case *plan.SetOp:
		unsorted := *of
		fields, limit, offset = of.SortFields, of.Limit, of.Offset
		unsorted.SortFields, unsorted.Limit, unsorted.Offset = nil, nil, nil
		child, same = &unsorted, true
	case *plan.RecursiveCte:
		again, err := of.WithChildren(ctx, of.Children()...)
		if err != nil {
			return nil, err
		}
		unsorted := again.(*plan.RecursiveCte)
		fields, limit = of.Union().SortFields, of.Union().Limit
		unsorted.Union().SortFields, unsorted.Union().Limit = nil, nil
		child, same = unsorted, true
	}
	if len(fields) == 0 {
		return nil, nil
	}
	var err error
	if s.most, err = rowsOf(ctx, limit); err != nil {
		return nil, err
	}
	if offset != nil {
		if s.skip, err = rowsOf(ctx, offset); err != nil {
			return nil, err
		}
	}
	s.most = min(s.most+s.skip, maxCount)
	if b, ok := ctx.Context.(*building); ok && same {
		b.node = child // in the other's place: it is not to be counted twice
	}
	if s.child, err = w.base.Build(ctx, child, row); err != nil {
		return nil, err
	}
	s.orderBy(ctx, fields)
	return s, nil
}

func (s *sorting) orderBy(ctx *gms.Context, fields gms.SortFields) {
	keys := 0
	for _, f := range fields {
		by := sortedBy{of: f.Column, typ: f.Column.Type(ctx), key: -1, descending: f.Order == gms.Descending,
			nullsLast: f.NullOrdering == gms.NullsLast}
		if _, column := f.Column.(*expression.GetField); !column {
			by.key = keys
			keys++
		}
		s.by = append(s.by, by)
	}
}

// Next reads all rows when it is first called.
func (s *sorting) Next(ctx *gms.Context) (gms.Row, error) {
	if !s.read {
		s.read = true
		if err := s.gather(ctx); err != nil {
			s.rows = nil
			return nil, err
		}
	}
	if len(s.rows) == 0 {
		return nil, io.EOF
	}
	row := s.rows[0].row
	s.rows[0] = sortRow{}
	s.rows = s.rows[1:]
	return row, nil
}

// spareRows is how many rows are kept beyond a small LIMIT before they are sorted.
const spareRows = 16

func (s *sorting) gather(ctx *gms.Context) error {
	for s.most > 0 || s.found {
		row, err := s.child.Next(ctx)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return err
		}
		s.total++
		if s.most == 0 {
			continue
		}
		r, err := s.keyed(ctx, row)
		if err != nil {
			return err
		}
		if s.full && s.compare(ctx, r, s.rows[s.most-1]) >= 0 {
			continue
		}
		s.rows = append(s.rows, r)
		if err := s.meter.hold(r.bytes); err != nil {
			return err
		}
		if int64(len(s.rows)) >= s.most+max(s.most, spareRows) {
			if err := s.sort(ctx); err != nil {
				return err
			}
		}
	}
	err := s.sort(ctx)
	s.rows = s.rows[min(s.skip, int64(len(s.rows))):]
	return err
}

// keyed is a row with what it is sorted by.
func (s *sorting) keyed(ctx *gms.Context, row gms.Row) (sortRow, error) {
	r := sortRow{row: row, at: s.total, bytes: rowBytes(row) + keptBytes}
	for _, by := range s.by {
		if by.key < 0 {
			continue
		}
		v, err := by.of.Eval(ctx, row)
		if err != nil {
			return r, err
		}
		r.keys = append(r.keys, v)
		r.bytes += valueBytes(v) + 16
	}
	return r, nil
}

// sort puts the rows in order, and gives back what is behind the last that is kept.
func (s *sorting) sort(ctx *gms.Context) error {
	slices.SortFunc(s.rows, func(a, b sortRow) int { return s.compare(ctx, a, b) })
	if s.err != nil {
		return s.err
	}
	if n := int64(len(s.rows)); n > s.most {
		var bytes int64
		for _, r := range s.rows[s.most:] {
			bytes += r.bytes
		}
		clear(s.rows[s.most:])
		s.rows, s.full = s.rows[:s.most], true
		return s.meter.hold(-bytes)
	}
	return nil
}

// compare compares two rows. Of those that are alike the one that was read first is the first.
func (s *sorting) compare(ctx *gms.Context, a, b sortRow) int {
	if s.err == nil {
		s.err = s.meter.alive()
	}
	for i := range s.by {
		if s.err != nil {
			return 0
		}
		by := &s.by[i]
		var x, y any
		if x, s.err = by.value(ctx, a); s.err != nil {
			return 0
		}
		if y, s.err = by.value(ctx, b); s.err != nil {
			return 0
		}
		if by.descending {
			x, y = y, x
		}
		c := 0
		switch {
		case x == nil && y == nil:
		case x == nil || y == nil:
			if c = 1; (x == nil) != by.nullsLast {
				c = -1
			}
		default:
			c, s.err = by.typ.Compare(ctx, x, y)
		}
		if c != 0 {
			return c
		}
	}
	return cmp.Compare(a.at, b.at)
}

func (by *sortedBy) value(ctx *gms.Context, r sortRow) (any, error) {
	if by.key >= 0 {
		return r.keys[by.key], nil
	}
	return by.of.Eval(ctx, r.row)
}

// Close tells how many rows there were, if the statement wants to know it.
func (s *sorting) Close(ctx *gms.Context) error {
	s.rows = nil
	if s.found {
		ctx.GetLastQueryInfo().FoundRows.Store(s.total)
	}
	return s.child.Close(ctx)
}

// rowsOf is the number of rows that a LIMIT or OFFSET means. A sum of both that overflows is negative, and means
// all, as does none.
func rowsOf(ctx *gms.Context, e gms.Expression) (int64, error) {
	if e == nil {
		return maxCount, nil
	}
	v, err := e.Eval(ctx, nil)
	if err != nil {
		return 0, err
	}
	if n := number64(v); n >= 0 {
		return min(n, maxCount), nil
	}
	return maxCount, nil
}
