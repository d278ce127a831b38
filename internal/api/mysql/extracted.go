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
	parsed, _, err := types.JSON.Convert(ctx, exactDocument(v))
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
		several = several || forks(way)
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

// leg is a step of a path: to a member or an element, to all of them, or to some.
type leg struct {
	member, all bool
	deep        bool // to the value itself and all that is in it: **
	ranged      bool // to the elements from index to end
	name        string
	index, end  spot
}

// spot is that of an element; last tells that it counts from the last one.
type spot struct {
	n    int
	last bool
}

// in is the place among so many elements, perhaps before the first or behind the last.
func (p spot) in(length int) int {
	if p.last {
		return length - 1 - p.n
	}
	return p.n
}

// forks tells whether a way may lead to several places.
func forks(way []leg) bool {
	return slices.ContainsFunc(way, func(l leg) bool { return l.all || l.deep || l.ranged })
}

// pathOf reads a path of members and elements; false where it has something else, or is none. ** stands in it once at
// most: what several lead to may be more than the document has.
func pathOf(text string) (way []leg, ok bool) {
	text, ok = strings.CutPrefix(strings.TrimSpace(text), "$")
	text = strings.TrimLeft(text, " ")
	for deep := false; ok && text != ""; {
		var l leg
		switch {
		case strings.HasPrefix(text, "**"):
			l, text, ok = leg{deep: true}, text[2:], !deep && len(text) > 2
			deep = true
		case text[0] == '.':
			l, text, ok = memberOf(strings.TrimLeft(text[1:], " "))
		default:
			l, text, ok = elementOf(text)
		}
		if way = append(way, l); len(way) > maxLegs {
			return nil, false
		}
		text = strings.TrimLeft(text, " ")
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
	first, behind, ranged := strings.Cut(inner, " to ")
	if l.index, ok = spotOf(first); ok && ranged {
		l.ranged = true
		l.end, ok = spotOf(behind)
		ok = ok && (l.index.last != l.end.last || l.index.last == (l.index.n > l.end.n) || l.index.n == l.end.n)
	}
	return l, rest, ok
}

// spotOf reads 3, last or last-3.
func spotOf(text string) (p spot, ok bool) {
	text = strings.TrimSpace(text)
	if from, is := strings.CutPrefix(text, "last"); is {
		p.last = true
		if from = strings.TrimSpace(from); from == "" {
			return p, true
		}
		if text, ok = strings.CutPrefix(from, "-"); !ok {
			return p, false
		}
		text = strings.TrimSpace(text)
	}
	n, err := strconv.ParseUint(text, 10, 31)
	p.n = int(n)
	return p, err == nil
}

// follow is what a way leads to from a value. A value that is no array is its own first and last element.
func follow(v any, way []leg) []any {
	if len(way) == 0 {
		return []any{v}
	}
	l, rest := way[0], way[1:]
	if l.deep {
		return inside(v, rest, nil)
	}
	var found []any
	for _, n := range l.next(v) {
		found = append(found, follow(n, rest)...)
	}
	return found
}

// inside adds to what is found what a way leads to from a value and from all that is in it. The elements of an array
// are not their own first ones here: the array has led to them.
func inside(v any, way []leg, found []any) []any {
	_, array := v.([]any)
	if array || way[0].member {
		found = append(found, follow(v, way)...)
	}
	for _, n := range values(v) {
		found = inside(n, way, found)
	}
	return found
}

// values are those of the members or elements of a value.
func values(v any) (all []any) {
	object, _ := v.(map[string]any)
	for _, k := range slices.SortedFunc(maps.Keys(object), func(a, b string) int {
		return cmp.Or(cmp.Compare(len(a), len(b)), cmp.Compare(a, b))
	}) {
		all = append(all, object[k])
	}
	if list, ok := v.([]any); ok {
		return list
	}
	return all
}

// next is what one leg leads to.
func (l leg) next(v any) []any {
	list, array := v.([]any)
	switch {
	case l.member:
		object, ok := v.(map[string]any)
		member, there := object[l.name]
		switch {
		case l.all && ok:
			return values(v)
		case !l.all && there:
			return []any{member}
		}
		return nil
	case l.all:
		return list
	case !array:
		list = []any{v}
	}
	from, to := l.index.in(len(list)), l.index.in(len(list))
	if l.ranged {
		from, to = max(from, 0), min(l.end.in(len(list)), len(list)-1)
	}
	if from < 0 || from >= len(list) || to < from {
		return nil
	}
	return list[from : to+1]
}
