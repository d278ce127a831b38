package condition

import (
	"math"
	"math/big"
	"strings"
	"unicode/utf8"

	"github.com/hikyaku/hikyaku/internal/message"
)

// function is an index into functions.
type function uint8

const (
	functionAbs function = iota
	functionCeil
	functionCharLength
	functionFloor
	functionLength
	functionLower
	functionMod
	functionPow
	functionUpper
)

// functions are the language's functions. call gets null for an argument that the function does not take.
var functions = [...]struct {
	name string
	args int
	call func(a, b message.Value) message.Value
}{
	functionAbs:  {"abs", 1, absolute},
	functionCeil: {"ceil", 1, func(a, _ message.Value) message.Value { return roundTo(a, math.Ceil, 1) }},
	functionCharLength: {"char_length", 1,
		func(a, _ message.Value) message.Value { return measureText(a, utf8.RuneCountInString) }},
	functionFloor: {"floor", 1, func(a, _ message.Value) message.Value { return roundTo(a, math.Floor, -1) }},
	functionLength: {"length", 1,
		func(a, _ message.Value) message.Value { return measureText(a, func(s string) int { return len(s) }) }},
	functionLower: {"lower", 1, func(a, _ message.Value) message.Value { return mapText(a, strings.ToLower) }},
	functionMod:   {"mod", 2, func(a, b message.Value) message.Value { return arithmetic(opModulo, a, b) }},
	functionPow:   {"pow", 2, power},
	functionUpper: {"upper", 1, func(a, _ message.Value) message.Value { return mapText(a, strings.ToUpper) }},
}

// functionNames are the names that call each function.
var functionNames = map[string]function{
	"abs": functionAbs, "ceil": functionCeil, "ceiling": functionCeil, "char_length": functionCharLength,
	"floor": functionFloor, "length": functionLength, "lower": functionLower, "lcase": functionLower,
	"mod": functionMod, "pow": functionPow, "power": functionPow, "upper": functionUpper, "ucase": functionUpper,
}

func absolute(a, _ message.Value) message.Value {
	a, ok := operand(a)
	if !ok {
		return message.Null()
	}
	if compareNumbers(a, message.Int(0)) < 0 {
		return negate(a)
	}
	return a
}

// roundTo is floor or ceil: of a float by f, of a decimal one step in the direction when its fraction points there.
func roundTo(a message.Value, f func(float64) float64, direction int) message.Value {
	a, ok := operand(a)
	if !ok {
		return message.Null()
	}
	switch a.Kind() {
	case message.KindFloat:
		return finite(f(a.AsFloat()))
	case message.KindDecimal:
		d, ok := decimalOf(a)
		if !ok {
			return message.Null()
		}
		unit := powerOfTen(d.scale)
		whole, rest := new(big.Int).QuoRem(d.coefficient, unit, new(big.Int))
		if rest.Sign() == direction {
			whole.Add(whole, big.NewInt(int64(direction)))
		}
		if v := integerValue(whole); !v.IsNull() {
			return v
		}
		return decimal{whole, 0}.value()
	default:
		return a
	}
}

func power(a, b message.Value) message.Value {
	a, aok := operand(a)
	b, bok := operand(b)
	if !aok || !bok {
		return message.Null()
	}
	return finite(math.Pow(floatOf(a), floatOf(b)))
}

func measureText(a message.Value, length func(string) int) message.Value {
	s, ok := textOf(a)
	if !ok {
		return message.Null()
	}
	return message.Int(int64(length(s)))
}

// mapText leaves bytes as they are: they have no letters.
func mapText(a message.Value, f func(string) string) message.Value {
	s, ok := textOf(a)
	switch {
	case !ok:
		return message.Null()
	case a.Kind() == message.KindBytes:
		return a
	default:
		return message.String(f(s))
	}
}
