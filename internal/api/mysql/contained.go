package mysql

import (
	"reflect"

	"github.com/cockroachdb/apd/v3"
	gms "github.com/dolthub/go-mysql-server/sql"
)

// JSON_CONTAINS and JSON_OVERLAPS. go-mysql-server's know the numbers of texts alone: 1 of JSON_ARRAY(1) is none.

// jsonContains tells whether a document, or what a path leads to in it, contains another.
func jsonContains(ctx *gms.Context, args []any) (any, error) {
	target, candidate, err := twoDocuments(ctx, "json_contains", args)
	if err != nil {
		return nil, err
	}
	if len(args) > 2 {
		way, err := onlyWayOf(args[2])
		if err != nil {
			return nil, err
		}
		found := follow(target, way)
		if len(found) == 0 {
			return nil, nil
		}
		target = found[0]
	}
	c := containing{meter: meterOf(ctx)}
	is := c.contains(target, candidate)
	return is, c.err
}

// jsonOverlaps tells whether two documents have an element or a member in common, or are the same scalar.
func jsonOverlaps(ctx *gms.Context, args []any) (any, error) {
	a, b, err := twoDocuments(ctx, "json_overlaps", args)
	if err != nil {
		return nil, err
	}
	c := containing{meter: meterOf(ctx)}
	is := c.overlaps(a, b)
	return is, c.err
}

func twoDocuments(ctx *gms.Context, name string, args []any) (a, b any, err error) {
	if a, err = documentOf(ctx, name, args[0]); err == nil {
		b, err = documentOf(ctx, name, args[1])
	}
	return a, b, err
}

// containing compares documents. It ends with its statement.
type containing struct {
	meter *meter
	steps int
	err   error
}

// goesOn counts a step.
func (c *containing) goesOn() bool {
	if c.steps++; c.steps%1024 == 0 && c.meter != nil && c.err == nil {
		c.err = c.meter.alive()
	}
	return c.err == nil
}

func (c *containing) contains(target, candidate any) bool {
	if list, ok := target.([]any); ok {
		wanted, several := candidate.([]any)
		if !several {
			wanted = []any{candidate}
		}
		for _, w := range wanted {
			if !c.among(list, w, c.contains) {
				return false
			}
		}
		return true
	}
	object, ok := target.(map[string]any)
	wanted, also := candidate.(map[string]any)
	if !ok || !also {
		return c.equal(target, candidate)
	}
	for k, w := range wanted {
		if v, there := object[k]; !there || !c.contains(v, w) {
			return false
		}
	}
	return true
}

// among tells whether an element is as another value.
func (c *containing) among(list []any, v any, as func(element, v any) bool) bool {
	for _, e := range list {
		if !c.goesOn() {
			return false
		}
		if as(e, v) {
			return true
		}
	}
	return false
}

func (c *containing) overlaps(a, b any) bool {
	x, list := a.([]any)
	y, also := b.([]any)
	switch {
	case list && also:
		for _, e := range x {
			if c.among(y, e, c.equal) {
				return true
			}
		}
		return false
	case list:
		return c.among(x, b, c.equal)
	case also:
		return c.among(y, a, c.equal)
	}
	m, object := a.(map[string]any)
	n, both := b.(map[string]any)
	if !object || !both {
		return c.equal(a, b)
	}
	for k, v := range m {
		if w, there := n[k]; there && c.equal(v, w) {
			return true
		}
	}
	return false
}

// equal tells whether two values are the same. Numbers are, whatever they are kept as.
func (c *containing) equal(a, b any) bool {
	if !c.goesOn() {
		return false
	}
	switch x := a.(type) {
	case []any:
		y, ok := b.([]any)
		if !ok || len(x) != len(y) {
			return false
		}
		for i := range x {
			if !c.equal(x[i], y[i]) {
				return false
			}
		}
		return true
	case map[string]any:
		y, ok := b.(map[string]any)
		if !ok || len(x) != len(y) {
			return false
		}
		for k, v := range x {
			if w, there := y[k]; !there || !c.equal(v, w) {
				return false
			}
		}
		return true
	}
	x, number := figureOf(a)
	y, also := figureOf(b)
	switch {
	case number != also:
		return false
	case !number:
		return reflect.DeepEqual(a, b) // nil, a bool, a text, a date
	case x.whole && y.whole:
		return x.negative == y.negative && x.size == y.size
	}
	return x.double == y.double
}

// figure is a number of a document. One that is whole has all of its digits.
type figure struct {
	double          float64
	whole, negative bool
	size            uint64 // without the sign
}

func figureOf(v any) (n figure, ok bool) {
	switch r := reflect.ValueOf(v); {
	case !r.IsValid():
		return n, false
	case r.CanInt():
		i := r.Int()
		n = figure{double: float64(i), whole: true, negative: i < 0, size: uint64(i)}
		if n.negative {
			n.size = -n.size
		}
		return n, true
	case r.CanUint():
		return figure{double: float64(r.Uint()), whole: true, size: r.Uint()}, true
	case r.CanFloat():
		return figure{double: r.Float()}, true
	}
	if d, is := v.(*apd.Decimal); is {
		f, err := d.Float64()
		return figure{double: f}, err == nil
	}
	return n, false
}
