package mysql

import (
	"cmp"
	"maps"
	"slices"
	"strconv"
	"strings"

	gms "github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/expression/function/json"
	"github.com/dolthub/go-mysql-server/sql/types"
)

// extracted is JSON_EXTRACT, also as -> and ->>. go-mysql-server's own looks for a member of an array in the array's
// elements, and ends in a panic where one of several paths leads nowhere.
type extracted struct{ *json.JSONExtract }

func extractedOf(e gms.Expression) gms.Expression {
	if j, ok := e.(*json.JSONExtract); ok {
		return &extracted{j}
	}
	return e
}

func (x *extracted) WithChildren(ctx *gms.Context, children ...gms.Expression) (gms.Expression, error) {
	e, err := x.JSONExtract.WithChildren(ctx, children...)
	return extractedOf(e), err
}

// Eval is what the paths lead to: an array of all of it where there are several paths, or one leads to several places.
func (x *extracted) Eval(ctx *gms.Context, row gms.Row) (any, error) {
	v, err := x.JSON.Eval(ctx, row)
	if err != nil || v == nil {
		return nil, err
	}
	var paths []gms.Expression
	var ways [][]leg
	for _, p := range x.Paths {
		text, err := p.Eval(ctx, row)
		if err != nil || text == nil {
			return nil, err
		}
		if text, err = gms.UnwrapAny(ctx, text); err != nil {
			return nil, err
		}
		if way, ok := pathOf(text64(text)); ok {
			ways = append(ways, way)
		}
		paths = append(paths, expression.NewLiteral(text, p.Type(ctx)))
	}
	own := func() (any, error) { // which knows the errors, and the paths that we do not
		document := expression.NewLiteral(v, x.JSON.Type(ctx))
		e, err := x.JSONExtract.WithChildren(ctx, append([]gms.Expression{document}, paths...)...)
		if err != nil {
			return nil, err
		}
		return e.Eval(ctx, row)
	}
	if len(ways) < len(paths) {
		return own()
	}
	parsed, _, err := types.JSON.Convert(ctx, v)
	if err != nil {
		return own()
	}
	j, ok := parsed.(gms.JSONWrapper)
	if !ok {
		return own()
	}
	document, err := j.ToInterface(ctx)
	if err != nil {
		return nil, err
	}
	found, several := []any{}, len(ways) > 1
	for _, way := range ways {
		for _, l := range way {
			several = several || l.all
		}
		found = append(found, follow(document, way)...)
	}
	switch {
	case len(found) == 0:
		return nil, nil
	case several:
		return types.JSONDocument{Val: found}, nil
	}
	return types.JSONDocument{Val: found[0]}, nil
}

// leg is a step of a path: to a member or an element, or to all of them.
type leg struct {
	member, all bool
	name        string
	index       int
	last        bool // the index counts from the last element
}

// pathOf reads a path of members and elements; false where it has something else, or is none.
func pathOf(text string) (way []leg, ok bool) {
	text, ok = strings.CutPrefix(strings.TrimSpace(text), "$")
	for ok && text != "" {
		var l leg
		if text[0] == '.' {
			l, text, ok = memberOf(text[1:])
		} else {
			l, text, ok = elementOf(text)
		}
		if way = append(way, l); len(way) > maxLegs {
			return nil, false
		}
	}
	return way, ok
}

// maxLegs is how long a way may be that is followed, each leg within the one before: as deep as MySQL's documents are.
const maxLegs = 100

func memberOf(text string) (l leg, rest string, ok bool) {
	l.member = true
	switch {
	case strings.HasPrefix(text, "*"):
		l.all = true
		return l, text[1:], true
	case strings.HasPrefix(text, `"`):
		quoted, err := strconv.QuotedPrefix(text)
		if err != nil {
			return l, "", false
		}
		l.name, err = strconv.Unquote(quoted)
		return l, text[len(quoted):], err == nil
	}
	end := strings.IndexAny(text, ".[")
	if end < 0 {
		end = len(text)
	}
	l.name = text[:end]
	return l, text[end:], l.name != "" && !strings.ContainsAny(l.name, "*\" ]-")
}

func elementOf(text string) (l leg, rest string, ok bool) {
	inner, rest, ok := strings.Cut(strings.TrimPrefix(text, "["), "]")
	if !ok || text[0] != '[' {
		return l, "", false
	}
	inner = strings.TrimSpace(inner)
	if inner == "*" {
		l.all = true
		return l, rest, true
	}
	if from, is := strings.CutPrefix(inner, "last"); is {
		l.last = true
		if from = strings.TrimSpace(from); from == "" {
			return l, rest, true
		}
		if inner, ok = strings.CutPrefix(from, "-"); !ok {
			return l, "", false
		}
		inner = strings.TrimSpace(inner)
	}
	n, err := strconv.ParseUint(inner, 10, 31)
	l.index = int(n)
	return l, rest, err == nil
}

// follow is what a way leads to from a value. A value that is no array is its own first and last element.
func follow(v any, way []leg) []any {
	if len(way) == 0 {
		return []any{v}
	}
	l, rest := way[0], way[1:]
	var next []any
	object, _ := v.(map[string]any)
	list, array := v.([]any)
	switch {
	case l.member && l.all:
		for _, k := range slices.SortedFunc(maps.Keys(object), func(a, b string) int {
			return cmp.Or(cmp.Compare(len(a), len(b)), cmp.Compare(a, b))
		}) {
			next = append(next, object[k])
		}
	case l.member:
		if member, ok := object[l.name]; ok {
			next = []any{member}
		}
	case !array && !l.all && l.index == 0:
		next = []any{v}
	case l.all:
		next = list
	case l.index < len(list) && l.last:
		next = []any{list[len(list)-1-l.index]}
	case l.index < len(list):
		next = []any{list[l.index]}
	}
	var found []any
	for _, n := range next {
		found = append(found, follow(n, rest)...)
	}
	return found
}
