package mysql

import (
	"encoding/hex"
	"strings"

	gms "github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/types"
)

// go-mysql-server's functions of texts look at characters, also of bytes, which need not be any: what is none is
// replaced or refused. Here each byte is a character to them.

// spread are bytes, each as a character.
type spread struct{}

func (spread) typeOf(gms.Type) gms.Type { return types.LongText }

func (spread) look(ctx *gms.Context, v any) (any, error) {
	text, err := wordOf(ctx, v)
	if err != nil {
		return nil, err
	}
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

// bytewise are the functions of texts for which this is done where one of the texts is bytes, and whether what they
// make is made of the texts.
var bytewise = map[string]bool{
	"coalesce": true, "concat_ws": true, "elt": true, "export_set": true, "greatest": true,
	"least": true, "left": true, "ltrim": true, "make_set": true, "mid": true, "quote": true,
	"repeat": true, "replace": true, "reverse": true, "right": true, "rtrim": true, "substr": true,
	"substring": true, "substring_index": true, "trim": true,
	"field": false, "find_in_set": false, "soundex": false, "strcmp": false,
}

// bytewiseIn is one of these functions of bytes.
func bytewiseIn(ctx *gms.Context, e gms.Expression) (gms.Expression, bool, error) {
	f, ok := e.(gms.FunctionExpression)
	if !ok || !e.Resolved() {
		return e, false, nil
	}
	name := strings.ToLower(f.FunctionName())
	makes, ok := bytewise[name]
	if !ok {
		return e, false, nil
	}
	counts := countsOf[name]
	isText := func(i int) bool {
		return (i < counts[0] || i >= counts[1]) && !(ofBits[name] && i == 0)
	}
	args := append([]gms.Expression(nil), e.Children()...)
	some, all := false, true
	for i, a := range args {
		switch {
		case a == nil || !isText(i):
		case isSeen[spread](a):
			return e, false, nil
		case isBytes(a.Type(ctx)):
			some = true
		default:
			all = false
		}
	}
	if !some || name == "coalesce" && all {
		return e, false, nil
	}
	for i, a := range args {
		if a != nil && isText(i) {
			a, _ = writtenOf(ctx, a)
			args[i] = &seen[spread]{a, spread{}}
		}
	}
	made, err := e.WithChildren(ctx, args...)
	if err != nil {
		return nil, false, err
	}
	if makes {
		made = &seen[gathered]{made, gathered{}}
	}
	return &named{made, e.String()}, true, nil
}

// hexed are bytes in hexadecimal, which differ as they do: COUNT(DISTINCT …) takes what it counts for characters.
type hexed struct{}

func (hexed) typeOf(gms.Type) gms.Type { return types.LongText }

func (hexed) look(_ *gms.Context, v any) (any, error) {
	return hex.EncodeToString([]byte(text64(v))), nil
}
