package mysql

import (
	"strings"

	gms "github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/types"
)

// Functions that look for a text among others, or in one. Texts are compared by their bytes, but where a COLLATE stands
// that counts letters as equal whose case differs.

// folds tells whether such a COLLATE stands in one of the arguments.
func folds(ctx *gms.Context, all []gms.Expression) bool {
	const explicit = 0 // the coercibility of what has a COLLATE
	for _, e := range all {
		collation, coercibility := gms.GetCoercibility(ctx, e)
		if coercibility == explicit && strings.HasSuffix(collation.String(), "_ci") {
			return true
		}
	}
	return false
}

// folded is a text of which every letter is a small one.
type folded struct{}

func (folded) look(_ *gms.Context, v any) (any, error) {
	if text, ok := v.(string); ok {
		return strings.ToLower(text), nil
	}
	return v, nil
}

// fieldOf is an argument of FIELD, which compares texts, or numbers where one of its arguments is one. go-mysql-server
// compares texts alone, and all of them without their case.
func fieldOf(ctx *gms.Context, all []gms.Expression, c gms.Expression) (gms.Expression, bool) {
	some := false
	texts, whole := true, true
	for _, e := range all {
		t := e.Type(ctx)
		if isSeen[real](e) || isSeen[hexed](e) {
			return c, false
		}
		if t == types.Null {
			continue
		}
		some = true
		texts = texts && (types.IsText(t) || types.IsTime(t) || types.IsTimespan(t)) && !types.IsJSON(t)
		whole = whole && types.IsInteger(t)
	}
	switch {
	case !some, whole, c.Type(ctx) == types.Null:
		return c, false
	case !texts:
		if n, ok := numeralOf(ctx, c, false); ok {
			c = n
		}
		return &seen[real]{c, real{}}, true
	}
	text, changed := wordedOf(ctx, c)
	if folds(ctx, all) {
		return text, changed
	}
	return &seen[hexed]{text, hexed{}}, true
}
