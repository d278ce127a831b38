package mysql

import (
	"math"

	gms "github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression/function/aggregation"
	"github.com/dolthub/go-mysql-server/sql/types"
)

// overFrames is a window function whose value for a frame is joined of the values of its parts: a segment tree over the
// partition finds it in some steps, twice as many as a number of the frame's rows has binary digits. go-mysql-server
// looks at each row of each frame, which takes 100 s for 100,000 rows. The zero T is that of no rows.
type overFrames[T any] struct {
	gms.WindowFunction // go-mysql-server's, for its frames
	leaf               func(ctx *gms.Context, row gms.Row) (value T, bytes int64, err error)
	join               func(ctx *gms.Context, a, b T) (T, error) // the rows of a are before those of b
	result             func(T) any

	from int // of the partition
	tree []T // the rows are its second half; each node joins those at twice its place
}

// overFramesOf is such a function in the place of one of go-mysql-server, if it is one.
func overFramesOf(ctx *gms.Context, e gms.Expression, f gms.WindowFunction) gms.WindowFunction {
	if _, exact := f.(*exactWindow); exact {
		return f
	}
	switch e := e.(type) {
	case *aggregation.Sum:
		return sumOver(e.Child, f, false)
	case *aggregation.Avg:
		return sumOver(e.Child, f, true)
	case *aggregation.Max:
		return extremeOver(ctx, e.Child, f, 1)
	case *aggregation.Min:
		return extremeOver(ctx, e.Child, f, -1)
	case *aggregation.StdDevPop:
		return variationOver(e.Child, f, 0, math.Sqrt)
	case *aggregation.StdDevSamp:
		return variationOver(e.Child, f, 1, math.Sqrt)
	case *aggregation.VarPop:
		return variationOver(e.Child, f, 0, nil)
	case *aggregation.VarSamp:
		return variationOver(e.Child, f, 1, nil)
	}
	return f
}

// extremeOver is MAX or MIN: of two values that one remains to which the other compares otherwise than as sign says.
func extremeOver(ctx *gms.Context, of gms.Expression, f gms.WindowFunction, sign int) gms.WindowFunction {
	typ := of.Type(ctx)
	return &overFrames[any]{
		WindowFunction: f,
		leaf: func(ctx *gms.Context, row gms.Row) (any, int64, error) {
			v, err := of.Eval(ctx, row)
			return v, valueBytes(v) + 2*16, err
		},
		join: func(ctx *gms.Context, a, b any) (any, error) {
			switch {
			case a == nil:
				return b, nil
			case b == nil:
				return a, nil
			}
			order, err := typ.Compare(ctx, b, a)
			if order == sign {
				return b, err
			}
			return a, err
		},
		result: func(v any) any { return v },
	}
}

// doubles is how many numbers there are, and their sum.
type doubles struct{ n, sum float64 }

// sumOver is a sum of doubles, or their average. go-mysql-server takes the difference of two sums, which is 0 where
// there is none, and nothing beside a large number that is in both.
func sumOver(of gms.Expression, f gms.WindowFunction, average bool) gms.WindowFunction {
	return &overFrames[doubles]{
		WindowFunction: f,
		leaf: func(ctx *gms.Context, row gms.Row) (doubles, int64, error) {
			v, err := of.Eval(ctx, row)
			if v == nil || err != nil {
				return doubles{}, 2 * 16, err
			}
			return doubles{1, doubleOf(ctx, v)}, 2 * 16, nil
		},
		join: func(_ *gms.Context, a, b doubles) (doubles, error) { return doubles{a.n + b.n, a.sum + b.sum}, nil },
		result: func(s doubles) any {
			switch {
			case s.n == 0:
				return nil
			case average:
				return s.sum / s.n
			}
			return s.sum
		},
	}
}

// doubleOf is a value as a number. What is none is told as a warning.
func doubleOf(ctx *gms.Context, v any) float64 {
	number, _, err := types.Float64.Convert(ctx, v)
	if err != nil {
		ctx.Warn(erTruncated, "Truncated incorrect DOUBLE value: '%s'", head(text64(v), maxShown))
	}
	x, _ := number.(float64)
	return x
}

// variation is how many numbers there are, their mean, and the sum of the squares of their distances to it.
type variation struct{ n, mean, squares float64 }

// variationOver is a variance, or what root makes of it. So many values less than there are divide the sum of squares.
func variationOver(of gms.Expression, f gms.WindowFunction, less float64,
	root func(float64) float64) gms.WindowFunction {
	return &overFrames[variation]{
		WindowFunction: f,
		leaf: func(ctx *gms.Context, row gms.Row) (variation, int64, error) {
			v, err := of.Eval(ctx, row)
			if v == nil || err != nil {
				return variation{}, 2 * 24, err
			}
			return variation{n: 1, mean: doubleOf(ctx, v)}, 2 * 24, nil
		},
		join: func(_ *gms.Context, a, b variation) (variation, error) {
			switch {
			case a.n == 0:
				return b, nil
			case b.n == 0:
				return a, nil
			}
			n, apart := a.n+b.n, b.mean-a.mean // T. F. Chan, G. H. Golub, R. J. LeVeque, 1979
			return variation{n, a.mean + apart*(b.n/n), a.squares + b.squares + apart*apart*(a.n*(b.n/n))}, nil
		},
		result: func(s variation) any {
			if s.n <= less {
				return nil
			}
			v := s.squares / (s.n - less)
			if root != nil {
				v = root(v)
			}
			return v
		},
	}
}

// DefaultFramer is go-mysql-server's, but for that of MAX, which has a partition for a frame also where the window has
// an order.
func (w *overFrames[T]) DefaultFramer() gms.WindowFramer {
	own := w.WindowFunction.DefaultFramer()
	if _, whole := own.(*aggregation.PartitionFramer); whole {
		return aggregation.NewUnboundedPrecedingToCurrentRowFramer()
	}
	return own
}

// StartPartition makes the tree.
func (w *overFrames[T]) StartPartition(ctx *gms.Context, rows gms.WindowInterval, buffer gms.WindowBuffer) error {
	n := max(rows.End-rows.Start, 0)
	w.from, w.tree = rows.Start, nil
	tree := make([]T, 2*n)
	s := sessionOf(ctx)
	for i := range n {
		value, bytes, err := w.leaf(ctx, buffer[rows.Start+i])
		if err != nil {
			return err
		}
		if s != nil && s.meter != nil {
			if err := s.meter.hold(bytes); err != nil {
				return err
			}
		}
		tree[n+i] = value
	}
	for i := n - 1; i > 0; i-- {
		var err error
		if tree[i], err = w.join(ctx, tree[2*i], tree[2*i+1]); err != nil {
			return err
		}
	}
	w.tree = tree
	return nil
}

// Compute is the value for a frame.
func (w *overFrames[T]) Compute(ctx *gms.Context, frame gms.WindowInterval, _ gms.WindowBuffer) (any, error) {
	n := len(w.tree) / 2
	first, end := max(frame.Start-w.from, 0)+n, min(frame.End-w.from, n)+n
	var before, behind T
	for ; first < end; first, end = first/2, end/2 {
		var err error
		if first%2 == 1 {
			if before, err = w.join(ctx, before, w.tree[first]); err != nil {
				return nil, err
			}
			first++
		}
		if end%2 == 1 {
			end--
			if behind, err = w.join(ctx, w.tree[end], behind); err != nil {
				return nil, err
			}
		}
	}
	all, err := w.join(ctx, before, behind)
	if err != nil {
		return nil, err
	}
	return w.result(all), nil
}
