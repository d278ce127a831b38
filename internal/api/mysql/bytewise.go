package mysql

import (
	gms "github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression/function"
	"github.com/dolthub/go-mysql-server/sql/types"
)

// go-mysql-server's SUBSTRING, LEFT and RIGHT count characters, also of bytes, which need not be any: what is none is
// replaced or refused. Here each byte is a character to them.

// spread are bytes, each as a character.
type spread struct{}

func (spread) typeOf(gms.Type) gms.Type { return types.LongText }

func (spread) look(ctx *gms.Context, v any) (any, error) {
	text := text64(v)
	if m := meterOf(ctx); m != nil { // four bytes for each, and two of its text
		if err := m.make(times(int64(len(text)), 6)); err != nil {
			return nil, err
		}
	}
	wide := make([]rune, len(text))
	for i := range len(text) {
		wide[i] = rune(text[i])
	}
	return string(wide), nil
}

// gathered are characters, each as a byte again.
type gathered struct{}

func (gathered) typeOf(gms.Type) gms.Type { return types.LongBlob }

func (gathered) look(_ *gms.Context, v any) (any, error) {
	all := []byte{} // an empty text is not NULL
	for _, r := range text64(v) {
		all = append(all, byte(r))
	}
	return all, nil
}

// bytewiseIn is one of these functions of bytes.
func bytewiseIn(ctx *gms.Context, e gms.Expression) (gms.Expression, bool, error) {
	switch e.(type) {
	case *function.Substring, function.Left, function.Right:
	default:
		return e, false, nil
	}
	args := append([]gms.Expression(nil), e.Children()...)
	if !e.Resolved() || isSeen[spread](args[0]) || !types.IsBinaryType(args[0].Type(ctx)) {
		return e, false, nil
	}
	args[0] = &seen[spread]{args[0], spread{}}
	made, err := e.WithChildren(ctx, args...)
	if err != nil {
		return nil, false, err
	}
	return &named{&seen[gathered]{made, gathered{}}, e.String()}, true, nil
}
