package mysql

import (
	"encoding/base64"
	"strings"
	"unicode/utf8"

	gms "github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/expression/function"
	"github.com/dolthub/go-mysql-server/sql/types"
)

// counters are functions that count characters of texts, and bytes where one of the texts is bytes. go-mysql-server's
// own count bytes of both, refuse bytes that are no characters, or end in a panic.
var counters = map[string]clockwork{
	"ascii":          {1, 1, ofBig, ascii},
	"ord":            {1, 1, ofBig, ord},
	"instr":          {2, 2, ofBig, instr},
	"locate":         {2, 3, ofBig, locate},
	"insert":         {4, 4, madeOf(0, 3), inserted},
	"lpad":           {3, 3, madeOf(0, 2), lpad},
	"rpad":           {3, 3, madeOf(0, 2), rpad},
	"from_base64":    {1, 1, ofBytes, fromBase64},
	"last_insert_id": {0, 1, ofUnsigned, lastInsertID},
}

func ofUnsigned(*gms.Context, []gms.Expression) gms.Type { return types.Uint64 }

func ofBytes(*gms.Context, []gms.Expression) gms.Type { return types.LongBlob }

// madeOf is the type of what is made of the arguments in some places: bytes where one of them is.
func madeOf(of ...int) func(*gms.Context, []gms.Expression) gms.Type {
	return func(ctx *gms.Context, args []gms.Expression) gms.Type {
		for _, i := range of {
			if isBytes(args[i].Type(ctx)) {
				return types.LongBlob
			}
		}
		return types.LongText
	}
}

// isBytes tells whether the values of a type are bytes.
func isBytes(t gms.Type) bool { return types.IsBinaryType(t) && !types.IsJSON(t) }

// ascii is the first byte of a text; 0 of an empty one.
func ascii(ctx *gms.Context, args []any) (any, error) {
	text, err := wordOf(ctx, args[0])
	if text == "" || err != nil {
		return int64(0), err
	}
	return int64(text[0]), nil
}

// ord is the number that the bytes of the first character are together.
func ord(ctx *gms.Context, args []any) (any, error) {
	text, err := wordOf(ctx, args[0])
	if err != nil {
		return nil, err
	}
	length := min(1, len(text))
	if _, bytes := args[0].([]byte); !bytes {
		if r, size := utf8.DecodeRuneInString(text); r != utf8.RuneError {
			length = size
		}
	}
	number := int64(0)
	for _, b := range []byte(text[:length]) {
		number = number<<8 | int64(b)
	}
	return number, nil
}

func instr(ctx *gms.Context, args []any) (any, error) { return found(ctx, args[1], args[0], 1) }

func locate(ctx *gms.Context, args []any) (any, error) {
	from := int64(1)
	if len(args) > 2 {
		counted, err := counter{}.look(ctx, args[2])
		if err != nil {
			return nil, err
		}
		from = counted.(int64)
	}
	return found(ctx, args[0], args[1], from)
}

// found is where a text is found in another, from 1; 0: it is not.
func found(ctx *gms.Context, part, whole any, from int64) (any, error) {
	sought, in, bytes, err := twoTexts(ctx, part, whole)
	if err != nil {
		return nil, err
	}
	begin, ok := offset(in, from-1, bytes)
	if !ok {
		return int64(0), nil
	}
	rest := in[begin:]
	at := strings.Index(rest, sought)
	switch {
	case at < 0:
		return int64(0), nil
	case bytes:
		return from + int64(at), nil
	}
	return from + int64(utf8.RuneCountInString(rest[:at])), nil
}

// offset is where so many characters of a text end, or bytes of it; false: it has not so many.
func offset(text string, n int64, bytes bool) (int, bool) {
	if n < 0 || n > int64(len(text)) {
		return 0, false
	}
	if bytes {
		return int(n), true
	}
	for at := range text {
		if n == 0 {
			return at, true
		}
		n--
	}
	return len(text), n == 0
}

// twoTexts are two arguments as texts, and whether one of them is bytes.
func twoTexts(ctx *gms.Context, a, b any) (first, second string, bytes bool, err error) {
	if first, err = wordOf(ctx, a); err == nil {
		second, err = wordOf(ctx, b)
	}
	_, one := a.([]byte)
	_, other := b.([]byte)
	return first, second, one || other, err
}

// asMade is a text that was made of texts, or of bytes.
func asMade(text string, bytes bool) any {
	if bytes {
		return []byte(text)
	}
	return text
}

func lpad(ctx *gms.Context, args []any) (any, error) { return padding(ctx, args, true) }
func rpad(ctx *gms.Context, args []any) (any, error) { return padding(ctx, args, false) }

// padding is a text with as many characters as are wanted; NULL of fewer than none.
func padding(ctx *gms.Context, args []any, left bool) (any, error) {
	text, pad, bytes, err := twoTexts(ctx, args[0], args[2])
	if err != nil {
		return nil, err
	}
	counted, err := counter{}.look(ctx, args[1])
	n, _ := counted.(int64)
	if err != nil || n < 0 {
		return nil, err
	}
	if end, ok := offset(text, n, bytes); ok {
		return asMade(text[:end], bytes), nil
	}
	length := func(s string) int64 {
		if bytes {
			return int64(len(s))
		}
		return int64(utf8.RuneCountInString(s))
	}
	missing := n - length(text)
	if pad == "" {
		return asMade("", bytes), nil
	}
	each := length(pad)
	rest, _ := offset(pad, missing%each, bytes)
	pad = strings.Repeat(pad, int(missing/each)) + pad[:rest]
	if left {
		return asMade(pad+text, bytes), nil
	}
	return asMade(text+pad, bytes), nil
}

// inserted is a text with another in place of some of its characters.
func inserted(ctx *gms.Context, args []any) (any, error) {
	whole, replacing, bytes, err := twoTexts(ctx, args[0], args[3])
	if err != nil {
		return nil, err
	}
	var counts [2]int64
	for i := range counts {
		counted, err := counter{}.look(ctx, args[1+i])
		if err != nil {
			return nil, err
		}
		counts[i] = counted.(int64)
	}
	at, ok := offset(whole, counts[0]-1, bytes)
	if ok && at < len(whole) {
		end, ok := offset(whole[at:], counts[1], bytes)
		if !ok {
			end = len(whole) - at
		}
		whole = whole[:at] + replacing + whole[at+end:]
	}
	return asMade(whole, bytes), nil
}

// fromBase64 is what a text of base64 stands for; NULL of one that is none.
func fromBase64(ctx *gms.Context, args []any) (any, error) {
	text, err := wordOf(ctx, args[0])
	if err != nil {
		return nil, err
	}
	if m := meterOf(ctx); m != nil {
		if err := m.make(int64(len(text))); err != nil {
			return nil, err
		}
	}
	read, err := base64.StdEncoding.DecodeString(strings.NewReplacer(" ", "", "\t", "").Replace(text))
	if err != nil {
		return nil, nil
	}
	return read, nil
}

// lastInsertID is the number that was put last, and remembers another; one of NULL is none.
func lastInsertID(ctx *gms.Context, args []any) (any, error) {
	var to []gms.Expression
	if len(args) > 0 {
		bits, err := bitwise{}.look(ctx, args[0])
		if err != nil {
			return nil, err
		}
		to = append(to, expression.NewLiteral(bits, types.Uint64))
	}
	last, err := function.NewLastInsertId(ctx, to...)
	if err != nil {
		return nil, err
	}
	return last.Eval(ctx, nil)
}
