package mysql

import (
	"cmp"
	"slices"
	"strings"

	"github.com/cockroachdb/apd/v3"
	gms "github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/expression/function/aggregation"
	"github.com/dolthub/go-mysql-server/sql/types"
)

// rangeFramer makes the frames of RANGE. Those of go-mysql-server know no NULL and no descending order: they answer
// with other rows, and say nothing. A frame of a row whose value is NULL ends where a distance is asked for at the
// other NULLs, as with MySQL.
type rangeFramer struct {
	*aggregation.PeerGroupFramer
	window *gms.WindowDefinition
	rows   gms.WindowInterval // of the partition
	at     int                // the next row
	frame  gms.WindowInterval // of the row before it

	keys        []any // what the rows are ordered by, if some distance is asked for; nil is NULL
	valued      gms.WindowInterval
	first, last *distance // nil: the frame begins, or ends, at no distance
}

// isRange tells whether a window's frames are of RANGE.
func isRange(w *gms.WindowDefinition) bool {
	return w != nil && w.Frame != nil && strings.HasPrefix(w.Frame.String(), "RANGE")
}

// rangesOf makes the frames of such a window.
func rangesOf(w *gms.WindowDefinition) gms.WindowFramer {
	return &rangeFramer{PeerGroupFramer: aggregation.NewPeerGroupFramer(w.OrderBy.ToExpressions()), window: w}
}

// NewFramer implements gms.WindowFramer, as all of these do.
func (f *rangeFramer) NewFramer(rows gms.WindowInterval) (gms.WindowFramer, error) {
	peers, err := f.PeerGroupFramer.NewFramer(rows)
	if err != nil {
		return nil, err
	}
	return &rangeFramer{PeerGroupFramer: peers.(*aggregation.PeerGroupFramer), window: f.window, rows: rows,
		at: rows.Start}, nil
}

func (f *rangeFramer) Next(ctx *gms.Context, rows gms.WindowBuffer) (gms.WindowInterval, error) {
	peers, err := f.PeerGroupFramer.Next(ctx, rows)
	if err != nil {
		return gms.WindowInterval{}, err
	}
	if f.at == f.rows.Start {
		if err := f.begin(ctx, rows); err != nil {
			return gms.WindowInterval{}, err
		}
	}
	f.frame = peers
	if frame := f.window.Frame; frame.UnboundedPreceding() {
		f.frame.Start = f.rows.Start
	} else if f.first != nil {
		if f.frame.Start, err = f.first.from(ctx, f, rows, peers.Start, 0); err != nil {
			return gms.WindowInterval{}, err
		}
	}
	if frame := f.window.Frame; frame.UnboundedFollowing() {
		f.frame.End = f.rows.End
	} else if f.last != nil {
		if f.frame.End, err = f.last.from(ctx, f, rows, peers.End, 1); err != nil {
			return gms.WindowInterval{}, err
		}
	}
	f.frame.End = max(f.frame.End, f.frame.Start)
	f.at++
	return f.frame, nil
}

func (f *rangeFramer) FirstIdx() int { return f.frame.Start }
func (f *rangeFramer) LastIdx() int  { return f.frame.End }

func (f *rangeFramer) Interval() (gms.WindowInterval, error) { return f.frame, nil }

// begin reads what the rows of a partition are ordered by, if some distance to it is asked for.
func (f *rangeFramer) begin(ctx *gms.Context, rows gms.WindowBuffer) (err error) {
	frame := f.window.Frame
	if f.first, err = f.distance(ctx, frame.StartNPreceding(), frame.StartNFollowing()); err != nil {
		return err
	}
	if f.last, err = f.distance(ctx, frame.EndNPreceding(), frame.EndNFollowing()); err != nil ||
		f.first == nil && f.last == nil {
		return err
	}
	d := cmp.Or(f.first, f.last)
	if s := sessionOf(ctx); s != nil && s.meter != nil {
		if err := s.meter.hold(int64(f.rows.End-f.rows.Start) * decimalBytes); err != nil {
			return err
		}
	}
	f.keys = make([]any, f.rows.End-f.rows.Start)
	f.valued = gms.WindowInterval{Start: f.rows.End, End: f.rows.Start}
	for i := range f.keys {
		v, err := d.of.Eval(ctx, rows[f.rows.Start+i])
		if err != nil {
			return err
		}
		if v == nil {
			continue
		}
		if f.keys[i], err = d.number(ctx, v); err != nil {
			return err
		}
		f.valued.Start, f.valued.End = min(f.valued.Start, f.rows.Start+i), f.rows.Start+i+1
	}
	return nil
}

// distance is how far from a row's value a frame begins or ends.
type distance struct {
	of    gms.Expression // that the window is ordered by
	typ   gms.Type
	moved gms.Expression // temporal: the value there
	n     any            // else: a number as number makes them, less than 0 for one that is below
	down  bool           // the order is a descending one
}

// distance is one of two; nil if there is none.
func (f *rangeFramer) distance(ctx *gms.Context, preceding, following gms.Expression) (*distance, error) {
	n := preceding
	if n == nil {
		n = following
	}
	if n == nil {
		return nil, nil
	}
	if len(f.window.OrderBy) != 1 {
		return nil, errRangeOrder
	}
	order := f.window.OrderBy[0]
	d := &distance{of: order.Column, typ: order.Column.Type(ctx), down: order.Order == gms.Descending}
	below := (preceding != nil) != d.down
	if types.IsTime(d.typ) || types.IsTimespan(d.typ) {
		sign := "+"
		if below {
			sign = "-"
		}
		d.moved = expression.NewArithmetic(d.of, n, sign)
		if types.IsDateType(d.typ) { // the distance may be some hours
			d.typ = types.DatetimeMaxPrecision
		}
		return d, nil
	}
	if !types.IsNumber(d.typ) {
		return nil, errRangeOrder
	}
	v, err := n.Eval(ctx, nil)
	if err != nil {
		return nil, err
	}
	if v == nil {
		return nil, errDistance
	}
	if d.n, err = d.number(ctx, v); err != nil {
		return nil, err
	}
	switch n := d.n.(type) {
	case float64:
		if n < 0 {
			return nil, errDistance
		}
		if below {
			d.n = -n
		}
	case *apd.Decimal:
		if n.Sign() < 0 {
			return nil, errDistance
		}
		if below {
			d.n = new(apd.Decimal).Neg(n)
		}
	}
	return d, nil
}

const rangeOrder = "Window '<unnamed window>' with RANGE N PRECEDING/FOLLOWING frame requires exactly one ORDER BY " +
	"expression, of numeric or temporal type"

var (
	errRangeOrder = sqlError(3587, "HY000", "%s", rangeOrder)
	errDistance   = sqlError(3586, "HY000", "Window '<unnamed window>': frame start or end is negative, NULL or of "+
		"non-integral type")
)

// number is a value as others are compared with it: of a number that is not exact, a double.
func (d *distance) number(ctx *gms.Context, v any) (any, error) {
	switch {
	case types.IsFloat(d.typ):
		v, _, err := types.Float64.Convert(ctx, v)
		return v, err
	case types.IsNumber(d.typ):
		return adder{}.look(ctx, v)
	}
	return v, nil
}

// from is where a frame of the row begins, or ends: at the first row whose value is not before the one at the distance
// or, if beyond is 1, whose value is behind it. nulls is the answer for a row without a value.
func (d *distance) from(ctx *gms.Context, f *rangeFramer, rows gms.WindowBuffer, nulls, beyond int) (int, error) {
	key := f.keys[f.at-f.rows.Start]
	if key == nil {
		return nulls, nil
	}
	to, err := d.there(ctx, key, rows[f.at])
	if err != nil || to == nil {
		return nulls, err
	}
	keys := f.keys[f.valued.Start-f.rows.Start : f.valued.End-f.rows.Start]
	i, _ := slices.BinarySearchFunc(keys, to, func(key, to any) int {
		order, failed := d.compare(ctx, key, to)
		if failed != nil {
			err = failed
		}
		if d.down {
			order = -order
		}
		if order < beyond {
			return -1
		}
		return 1
	})
	return f.valued.Start + i, err
}

// there is the value at the distance from a row's.
func (d *distance) there(ctx *gms.Context, key any, row gms.Row) (any, error) {
	switch n := d.n.(type) {
	case float64:
		return key.(float64) + n, nil
	case *apd.Decimal:
		sum := new(apd.Decimal)
		_, err := gms.DecimalCtx.Add(sum, key.(*apd.Decimal), n)
		return sum, err
	}
	return d.moved.Eval(ctx, row)
}

func (d *distance) compare(ctx *gms.Context, a, b any) (int, error) {
	switch a := a.(type) {
	case float64:
		return cmp.Compare(a, b.(float64)), nil
	case *apd.Decimal:
		return a.Cmp(b.(*apd.Decimal)), nil
	}
	return d.typ.Compare(ctx, a, b)
}
