package interest

import (
	"encoding/binary"
	"math"
	"strconv"

	"github.com/hikyaku/hikyaku/internal/condition"
	"github.com/hikyaku/hikyaku/internal/message"
)

// shape is what branches have in common that ask for the same fields to be equal to something, and for the same field,
// if any, to lie in a range.
type shape struct {
	text    string // names the fields: see shapeText
	at      int    // index in Set.inUse
	equal   []field
	span    *field // nil: none
	drawers table[*drawer]
}

// field is a condition.Field whose name keeps its value.
type field struct {
	name *name
	view condition.View
}

// drawer holds the branches of a shape that ask for the same values. It is never empty.
type drawer struct {
	of   *shape
	key  string // the values: see appendKey
	root *node
}

// shapeText names the fields of a branch, in the order of its plan.
func shapeText(b *condition.Branch) string {
	var text []byte
	for i := range b.Equal {
		text = strconv.AppendQuote(text, b.Equal[i].Name)
		text = append(text, '0'+byte(b.Equal[i].View))
	}
	if b.Range != nil {
		text = append(text, '<')
		text = strconv.AppendQuote(text, b.Range.Name)
		text = append(text, '0'+byte(b.Range.View))
	}
	return string(text)
}

// drawer finds or begins the drawer of a branch of this shape.
func (sh *shape) drawer(b *condition.Branch) *drawer {
	var key []byte
	for i := range b.Equal {
		key = appendKey(key, b.Equal[i].Key)
	}
	if d, ok := sh.drawers.find(key); ok {
		return d
	}
	d := &drawer{of: sh, key: string(key)}
	sh.drawers.put(d.key, d)
	return d
}

// appendKey writes a canonical key so that no two lists of keys are written alike.
func appendKey(dst []byte, v message.Value) []byte {
	dst = append(dst, byte(v.Kind()))
	switch v.Kind() {
	case message.KindString, message.KindDecimal:
		dst = binary.LittleEndian.AppendUint64(dst, uint64(len(v.AsString())))
		return append(dst, v.AsString()...)
	case message.KindTime:
		return binary.LittleEndian.AppendUint64(dst, uint64(v.AsTime().UnixMicro()))
	case message.KindFloat:
		return binary.LittleEndian.AppendUint64(dst, math.Float64bits(v.AsFloat()))
	default:
		return binary.LittleEndian.AppendUint64(dst, v.AsUint())
	}
}
