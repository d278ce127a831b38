package mysql

import (
	"strings"
	"sync/atomic"

	gms "github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/expression/function/aggregation"
	"github.com/dolthub/go-mysql-server/sql/plan"
	"github.com/dolthub/go-mysql-server/sql/transform"
	"github.com/dolthub/go-mysql-server/sql/types"
)

// keptIn is a node whose aggregates and window functions count the values that they keep, and whose JSON_TABLE counts
// what it parses. Other nodes are returned as they are, and so is n: a plan may be used again.
func keptIn(ctx *gms.Context, n gms.Node) (gms.Node, error) {
	switch n := n.(type) {
	case *plan.GroupBy:
		wide, err := stretchedIn(ctx, n)
		if err != nil {
			return nil, err
		}
		counted := *wide
		counted.SelectDeps = append([]gms.Expression(nil), wide.SelectDeps...)
		for i, e := range counted.SelectDeps {
			if g, ok := e.(*aggregation.GroupConcat); ok {
				var err error
				if counted.SelectDeps[i], err = joiningOf(ctx, g); err != nil {
					return nil, err
				}
				continue
			}
			if !hoards(e) {
				continue
			}
			children := append([]gms.Expression(nil), e.Children()...)
			for k, c := range children {
				children[k] = &seen[weigh]{c, keptWeight}
			}
			var err error
			if counted.SelectDeps[i], err = e.WithChildren(ctx, children...); err != nil {
				return nil, err
			}
		}
		return &counted, nil
	case *plan.Window:
		counted := *n
		counted.SelectExprs = append([]gms.Expression(nil), n.SelectExprs...)
		for i, e := range counted.SelectExprs {
			if alias, ok := e.(*expression.Alias); ok {
				e = alias.Child
			}
			switch w := e.(type) {
			case *expression.GetField: // of a row that is counted
			case gms.WindowAdaptableExpression:
				interruptible, err := interruptibleIn(ctx, onceEachIn(ctx, w))
				if err != nil {
					return nil, err
				}
				counted.SelectExprs[i] = windowed{interruptible}
			default:
				counted.SelectExprs[i] = &seen[weigh]{e, keptWeight}
			}
		}
		return &counted, nil
	case *plan.Sort:
		if by, ok := sortedColumns(ctx, n.SortFields, n.Child); ok {
			sorted := *n
			sorted.SortFields = by
			return &sorted, nil
		}
	case *plan.TopN:
		if by, ok := sortedColumns(ctx, n.Fields, n.Child); ok {
			sorted := *n
			sorted.Fields = by
			return &sorted, nil
		}
	case *plan.HashLookup:
		if !types.IsTime(n.CompareType) {
			return n, nil
		}
		counted := *n
		counted.LeftProbeKey = &seen[cutter]{n.LeftProbeKey, cutter{}}
		counted.RightEntryKey = &seen[cutter]{n.RightEntryKey, cutter{}}
		return &counted, nil
	case *plan.JSONTable:
		counted := *n
		counted.DataExpr = &seen[digitsKept]{&seen[weigh]{n.DataExpr, parsedWeight}, digitsKept{}}
		return &counted, nil
	}
	return n, nil
}

// sortedColumns are what the rows of a SELECT DISTINCT are sorted by, which may be only what is selected.
// go-mysql-server leaves a selected expression that is named by its number (ORDER BY 1) one of columns that the rows
// have no more.
func sortedColumns(ctx *gms.Context, by gms.SortFields, of gms.Node) (gms.SortFields, bool) {
	distinct, ok := of.(*plan.Distinct)
	if !ok {
		return nil, false
	}
	selected, ok := distinct.Child.(*plan.Project)
	if !ok {
		return nil, false
	}
	sorted, changed := append(gms.SortFields(nil), by...), false
	for k, field := range by {
		alias, ok := field.Column.(*expression.Alias)
		if !ok {
			continue
		}
		if i := selectedAs(selected.Projections, alias); i >= 0 {
			p := selected.Projections[i]
			sorted[k].Column = expression.NewGetField(i, p.Type(ctx), alias.Name(), p.IsNullable(ctx))
			sorted[k].ValueExprColumn, changed = nil, true
		}
	}
	return sorted, changed
}

// selectedAs is which of the selected expressions is the one of that name or, of several, the one that reads the same;
// -1: none.
func selectedAs(selected []gms.Expression, alias *expression.Alias) int {
	named := -1
	for i, p := range selected {
		a, ok := p.(*expression.Alias)
		if !ok || !strings.EqualFold(a.Name(), alias.Name()) {
			continue
		}
		if named < 0 || a.String() == alias.String() && selected[named].String() != alias.String() {
			named = i
		}
	}
	return named
}

// costIn is an expression whose costs are bounded: of dates that are read, and of what is made of arguments. An
// ENUM or SET that is held against a text is one.
func costIn(ctx *gms.Context, e gms.Expression, planned bool) (gms.Expression, transform.TreeIdentity, error) {
	if rows, ok := e.(*inRows); ok {
		inner, same, err := costIn(ctx, rows.Expression, planned)
		if again, ok := inner.(*inRows); ok {
			return again, same, err
		}
		return &inRows{Expression: inner}, same, err
	}
	q, changed, err := quantifiedIn(ctx, e)
	if err != nil {
		return nil, transform.SameTree, err
	}
	if changed {
		q.compare, _, err = costIn(ctx, q.compare, planned)
		return q, transform.NewTree, err
	}
	shifted, changed, err := shiftedIn(ctx, e)
	if err != nil {
		return nil, transform.SameTree, err
	}
	if changed {
		bound, _, err := costIn(ctx, shifted, planned)
		return &named{bound, e.String()}, transform.NewTree, err
	}
	e, changed, err = toldIn(ctx, e)
	if err != nil {
		return nil, transform.SameTree, err
	}
	fit, mended, err := mendedIn(ctx, e)
	if err != nil {
		return nil, mended, err
	}
	if changed {
		mended = transform.NewTree
	}
	spelt, same, err := orderedIn(ctx, fit)
	if err != nil {
		return nil, same, err
	}
	same = same && mended
	dated, alike, err := datedIn(ctx, spelt, planned)
	if err != nil {
		return nil, alike, err
	}
	weighed, also, err := weighedIn(ctx, dated)
	if err != nil {
		return nil, also, err
	}
	exact, too := preciseIn(ctx, weighed)
	if whole, is := moduloIn(ctx, exact); is == transform.NewTree {
		return whole, is, nil
	}
	if ranged, is := overflowIn(ctx, exact); is {
		return ranged, transform.NewTree, nil
	}
	if r, ok := roundedOf(ctx, exact); ok {
		return &seen[roundedTo]{exact, r}, transform.NewTree, nil
	}
	if fit, is := fittedIn(ctx, exact); is {
		return fit, transform.NewTree, nil
	}
	if one, is := extremeIn(ctx, exact); is {
		return one, transform.NewTree, nil
	}
	if rows, is := inRowsOf(ctx, exact); is && planned { // the planner refuses rows that others compare
		return rows, transform.NewTree, nil
	}
	return exact, same && alike && also && too, nil
}

// weighedIn is an expression that counts what it makes of its arguments on the way to a value that may be small: a
// conversion its copy, what reads JSON the document, what splits a text the parts.
func weighedIn(ctx *gms.Context, e gms.Expression) (gms.Expression, transform.TreeIdentity, error) {
	var weight weigh
	documents := 0 // that many of the first arguments
	switch f := e.(type) {
	case *expression.Convert:
		if weight = copiedWeight; f.Type(ctx) == types.JSON {
			weight, documents = parsedWeight, 1
		}
	case gms.FunctionExpression:
		if weight = working[f.FunctionName()]; weight == nil {
			return e, transform.SameTree, nil
		}
		documents = documentArguments[f.FunctionName()]
	default:
		return e, transform.SameTree, nil
	}
	children := append([]gms.Expression(nil), e.Children()...)
	for i, c := range children {
		if isSeen[weigh](c) || isSeen[digitsKept](c) {
			return e, transform.SameTree, nil
		}
		children[i] = &seen[weigh]{c, weight}
		if i < documents {
			children[i] = &seen[digitsKept]{children[i], digitsKept{}}
		}
	}
	if f, ok := e.(gms.FunctionExpression); ok && f.FunctionName() == "json_search" && len(children) > 2 {
		bytes := new(atomic.Int64)
		children[0], children[2] = &seen[searched]{children[0], searched{bytes}},
			&seen[sought]{children[2], sought{bytes}}
	}
	counted, err := e.WithChildren(ctx, children...)
	return counted, transform.NewTree, err
}

// working are the functions that need several times the bytes of an argument while they work, and how that is counted.
var working = map[string]weigh{
	"find_in_set": splitWeight, "substring_index": splitWeight,
	"json_array_append": parsedWeight, "json_array_insert": parsedWeight, "json_contains": parsedWeight,
	"json_contains_path": parsedWeight,
	"json_depth":         parsedWeight, "json_extract": parsedWeight, "json_insert": parsedWeight,
	"json_keys":        parsedWeight,
	"json_length":      parsedWeight,
	"json_merge_patch": parsedWeight, "json_merge_preserve": parsedWeight, "json_overlaps": parsedWeight,
	"json_pretty": parsedWeight,
	"json_remove": parsedWeight, "json_replace": parsedWeight, "json_search": parsedWeight, "json_set": parsedWeight,
	"json_type":         parsedWeight,
	"json_schema_valid": parsedWeight, "json_schema_validation_report": parsedWeight, "json_storage_free": parsedWeight,
	"json_storage_size": parsedWeight,
	"json_valid":        parsedWeight, "json_value": parsedWeight,
}

// searched is the document that JSON_SEARCH looks through, which it evaluates first; sought is what it looks for.
type (
	searched struct{ bytes *atomic.Int64 }
	sought   struct{ in *atomic.Int64 }
)

func (s searched) look(_ *gms.Context, v any) (any, error) {
	s.bytes.Store(valueBytes(v))
	return v, nil
}

// maxSearch is what a pattern's and a document's bytes may be together, multiplied: the library tries the whole pattern
// again at each character, a hundred million times in some seconds, and cannot be interrupted.
const maxSearch = 64 << 20

func (s sought) look(_ *gms.Context, v any) (any, error) {
	if text := text64(v); strings.Contains(text, "%") && times(int64(len(text)), s.in.Load()) > maxSearch {
		return nil, sqlError(erUnsupported, "42000", "JSON_SEARCH() with a pattern of %d bytes and a %% in a "+
			"document of %d bytes takes too long: together, multiplied, they may be %d",
			len(text), s.in.Load(), maxSearch)
	}
	return v, nil
}

// hoards tells whether an aggregate keeps every value that it is given, as GROUP_CONCAT does, too.
func hoards(e gms.Expression) bool {
	switch e.(type) {
	case *aggregation.JsonArray, *aggregation.JSONObjectAgg:
		return true
	}
	return false
}

// weigh counts a value each time that one is made.
type weigh func(m *meter, v any) error

func (w weigh) look(ctx *gms.Context, v any) (any, error) {
	s := sessionOf(ctx)
	if s == nil || s.meter == nil {
		return v, nil
	}
	return v, w(s.meter, v)
}

// keptWeight counts a value that stays until the statement ends, with the place that it has in a list.
func keptWeight(m *meter, v any) error { return m.hold(valueBytes(v) + 32) }

// copiedWeight counts a value that is converted: the copy is of about the same size.
func copiedWeight(m *meter, v any) error { return m.make(valueBytes(v)) }

// parsedWeight counts what a text costs when it is parsed as JSON.
func parsedWeight(m *meter, v any) error { return m.make(parsedBytes(v)) }

// splitWeight counts what a text costs when it is split at commas or another separator.
func splitWeight(m *meter, v any) error { return m.make(times(valueBytes(v), 16)) }

// windowed is a window function whose values are counted: go-mysql-server makes all of a partition before it returns
// the first.
type windowed struct{ gms.WindowAdaptableExpression }

// NewWindowFunction implements gms.WindowAdaptableExpression.
func (w windowed) NewWindowFunction(ctx *gms.Context) (gms.WindowFunction, error) {
	f, err := w.WindowAdaptableExpression.NewWindowFunction(ctx)
	if err != nil {
		return nil, err
	}
	f = overFramesOf(ctx, w.WindowAdaptableExpression, exactWindowOf(w.WindowAdaptableExpression, f))
	return windowFunction{f, w.Window()}, nil
}

type windowFunction struct {
	gms.WindowFunction
	window *gms.WindowDefinition
}

// DefaultFramer makes the frames.
func (f windowFunction) DefaultFramer() gms.WindowFramer {
	own := f.WindowFunction.DefaultFramer()
	_, deaf := f.WindowFunction.(*aggregation.WindowedJSONArrayAgg)
	if deaf && f.window != nil && f.window.Frame != nil {
		if made, err := f.window.Frame.NewFramer(f.window); err == nil { // it has been made before
			own = made
		}
	}
	switch own.(type) {
	case *aggregation.PartitionFramer, *aggregation.PeerGroupFramer: // of a function that heeds no frame
		return own
	}
	if isRange(f.window) {
		return rangesOf(f.window)
	}
	return framerOf(f.window, own)
}

func (f windowFunction) Compute(ctx *gms.Context, interval gms.WindowInterval, buffer gms.WindowBuffer) (any, error) {
	s := sessionOf(ctx)
	if s == nil || s.meter == nil {
		return f.WindowFunction.Compute(ctx, interval, buffer)
	}
	if err := s.meter.alive(); err != nil { // each value may look at all rows
		return nil, err
	}
	v, err := f.WindowFunction.Compute(ctx, interval, buffer)
	if err != nil {
		return nil, err
	}
	return v, keptWeight(s.meter, v)
}
