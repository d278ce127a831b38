package mysql

import (
	"github.com/cockroachdb/apd/v3"
	gms "github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression/function/aggregation"
	"github.com/dolthub/go-mysql-server/sql/types"
)

// exactWindow is SUM or AVG of exact numbers as a window function: go-mysql-server adds up doubles. It keeps the sum up
// to each row of a partition, so that each value takes one subtraction, which is exact as well.
type exactWindow struct {
	gms.WindowFunction // go-mysql-server's, for its frames
	of                 gms.Expression
	average            bool
	from               int           // of the partition
	sums               []apd.Decimal // of the rows before each one, and of all
	counts             []int64       // of the same that are not NULL
}

// exactWindowOf makes a window function exact, if what it adds up is.
func exactWindowOf(e gms.Expression, f gms.WindowFunction) gms.WindowFunction {
	switch e := e.(type) {
	case *aggregation.Sum:
		if isSeen[adder](e.Child) {
			return &exactWindow{WindowFunction: f, of: e.Child}
		}
	case *aggregation.Avg:
		if isSeen[adder](e.Child) {
			return &exactWindow{WindowFunction: f, of: e.Child, average: true}
		}
	}
	return f
}

// StartPartition adds up a partition's rows.
func (w *exactWindow) StartPartition(ctx *gms.Context, rows gms.WindowInterval, buffer gms.WindowBuffer) error {
	n := max(rows.End-rows.Start, 0)
	m := meterOf(ctx)
	if m != nil {
		if err := m.hold(int64(n) * decimalBytes); err != nil {
			return err
		}
	}
	w.from, w.sums, w.counts = rows.Start, make([]apd.Decimal, n+1), make([]int64, n+1)
	for i := range n {
		v, err := w.of.Eval(ctx, buffer[rows.Start+i])
		if err == nil && m != nil {
			err = m.alive()
		}
		if err != nil {
			return err
		}
		w.counts[i+1] = w.counts[i]
		d, ok := v.(*apd.Decimal)
		if !ok {
			w.sums[i+1].Set(&w.sums[i])
			continue
		}
		w.counts[i+1]++
		if _, err := gms.DecimalCtx.Add(&w.sums[i+1], &w.sums[i], d); err != nil {
			return err
		}
	}
	return nil
}

// decimalBytes is about what a sum takes, with its digits and its count.
const decimalBytes = 80

// Compute is the value for a frame.
func (w *exactWindow) Compute(ctx *gms.Context, frame gms.WindowInterval, _ gms.WindowBuffer) (any, error) {
	first, end := max(frame.Start-w.from, 0), min(frame.End-w.from, len(w.sums)-1)
	if first >= end || w.counts[end] == w.counts[first] {
		return nil, nil
	}
	sum := new(apd.Decimal)
	if _, err := gms.DecimalCtx.Sub(sum, &w.sums[end], &w.sums[first]); err != nil {
		return nil, err
	}
	if !w.average {
		return sum, nil
	}
	_, scale, _ := digitsOf(w.of.Type(ctx)) // of the average itself
	return types.DecimalDiv(sum, types.DecimalFromInt64(w.counts[end]-w.counts[first]), int32(scale), false), nil
}

// toPeers makes frames that end at the last row that is equal to each one in the order of the window, as those of MySQL
// do where a window has an order and no frame.
type toPeers struct {
	*aggregation.PeerGroupFramer
	start int
}

// framerOf is what makes the frames of a function in a window. go-mysql-server ends most of them at the row itself, and
// those of COUNT by the first column of the order alone.
func framerOf(window *gms.WindowDefinition, own gms.WindowFramer) gms.WindowFramer {
	switch own.(type) {
	case *aggregation.RowsUnboundedPrecedingToCurrentRowFramer, *aggregation.RangeUnboundedPrecedingToCurrentRowFramer:
	default:
		return own
	}
	if window == nil || window.Frame != nil || len(window.OrderBy) == 0 {
		return own
	}
	return toPeers{PeerGroupFramer: aggregation.NewPeerGroupFramer(window.OrderBy.ToExpressions())}
}

// NewFramer implements gms.WindowFramer, as all of these do.
func (f toPeers) NewFramer(rows gms.WindowInterval) (gms.WindowFramer, error) {
	peers, err := f.PeerGroupFramer.NewFramer(rows)
	if err != nil {
		return nil, err
	}
	return toPeers{peers.(*aggregation.PeerGroupFramer), rows.Start}, nil
}

func (f toPeers) Next(ctx *gms.Context, rows gms.WindowBuffer) (gms.WindowInterval, error) {
	peers, err := f.PeerGroupFramer.Next(ctx, rows)
	return gms.WindowInterval{Start: f.start, End: peers.End}, err
}

func (f toPeers) FirstIdx() int { return f.start }

func (f toPeers) Interval() (gms.WindowInterval, error) {
	peers, err := f.PeerGroupFramer.Interval()
	return gms.WindowInterval{Start: f.start, End: peers.End}, err
}
