package condition

import (
	"math"
	"math/bits"
	"strconv"

	"github.com/hikyaku/hikyaku/internal/message"
)

// operand turns a value into a number to calculate with: Int, Uint, Float or Decimal.
func operand(v message.Value) (message.Value, bool) {
	v, ok := numberOf(v)
	if !ok || v.Kind() != message.KindTime {
		return v, ok
	}
	micros := microsOf(v)
	if micros%1e6 == 0 {
		return message.Int(micros / 1e6), true
	}
	return message.Decimal(string(appendDigits(nil, v))), true
}

// arithmetic calculates a op b; null when an operand is no number or the result has no place.
func arithmetic(o op, a, b message.Value) message.Value {
	a, ok := operand(a)
	if !ok {
		return message.Null()
	}
	if b, ok = operand(b); !ok {
		return message.Null()
	}
	ak, bk := a.Kind(), b.Kind()
	switch {
	case ak == message.KindFloat || bk == message.KindFloat:
		return floatArithmetic(o, floatOf(a), floatOf(b))
	case ak == message.KindDecimal || bk == message.KindDecimal || o == opDivide:
		return decimalArithmetic(o, a, b)
	default:
		return integerArithmetic(o, integerOf(a), integerOf(b))
	}
}

func floatOf(v message.Value) float64 {
	switch v.Kind() {
	case message.KindInt:
		return float64(v.AsInt())
	case message.KindUint:
		return float64(v.AsUint())
	case message.KindDecimal:
		f, _ := strconv.ParseFloat(v.AsString(), 64) // out of range gives an infinity, which finite refuses
		return f
	default:
		return v.AsFloat()
	}
}

// finite is a float result; what overflowed is null.
func finite(f float64) message.Value {
	if math.IsInf(f, 0) || math.IsNaN(f) {
		return message.Null()
	}
	return message.Float(f)
}

func floatArithmetic(o op, a, b float64) message.Value {
	switch o {
	case opAdd:
		return finite(a + b)
	case opSubtract:
		return finite(a - b)
	case opMultiply:
		return finite(a * b)
	case opDivide:
		return finite(a / b) // by zero: no finite number
	case opIntDivide:
		return wholeNumber(math.Trunc(a / b))
	default:
		return finite(math.Mod(a, b))
	}
}

// wholeNumber makes an integer of a float without fraction; null when none is large enough.
func wholeNumber(f float64) message.Value {
	switch {
	case f >= -1<<63 && f < 1<<63:
		return message.Int(int64(f))
	case f >= 1<<63 && f < 1<<64:
		return message.Uint(uint64(f))
	default:
		return message.Null()
	}
}

// integer is any integer from -2⁶³ to 2⁶⁴-1, and what comes of two of them before it is checked.
type integer struct {
	negative  bool
	magnitude uint64
}

func integerOf(v message.Value) integer {
	if v.Kind() == message.KindInt && v.AsInt() < 0 {
		return integer{true, -uint64(v.AsInt())}
	}
	return integer{false, v.AsUint()}
}

// value is the integer as a Value; null when it is below the smallest.
func (i integer) value() message.Value {
	switch {
	case !i.negative:
		return message.Uint(i.magnitude)
	case i.magnitude <= 1<<63:
		return message.Int(int64(-i.magnitude))
	default:
		return message.Null()
	}
}

func integerArithmetic(o op, a, b integer) message.Value {
	switch o {
	case opSubtract:
		b.negative = !b.negative
		return addIntegers(a, b)
	case opAdd:
		return addIntegers(a, b)
	case opMultiply:
		high, low := bits.Mul64(a.magnitude, b.magnitude)
		if high != 0 {
			return message.Null()
		}
		return integer{a.negative != b.negative, low}.value()
	}
	if b.magnitude == 0 {
		return message.Null()
	}
	if o == opIntDivide {
		return integer{a.negative != b.negative, a.magnitude / b.magnitude}.value()
	}
	return integer{a.negative, a.magnitude % b.magnitude}.value()
}

func addIntegers(a, b integer) message.Value {
	if a.negative == b.negative {
		sum, carry := bits.Add64(a.magnitude, b.magnitude, 0)
		if carry != 0 {
			return message.Null()
		}
		return integer{a.negative, sum}.value()
	}
	if a.magnitude < b.magnitude {
		a, b = b, a
	}
	return integer{a.negative, a.magnitude - b.magnitude}.value()
}

func negate(v message.Value) message.Value {
	v, ok := operand(v)
	if !ok {
		return message.Null()
	}
	switch v.Kind() {
	case message.KindFloat:
		return message.Float(0 - v.AsFloat())
	case message.KindDecimal:
		return decimalArithmetic(opSubtract, message.Int(0), v)
	default:
		return integerArithmetic(opSubtract, integer{}, integerOf(v))
	}
}

// bitsOf is a number as 64 bits: a negative one in two's complement, one with a fraction rounded.
func bitsOf(v message.Value) (uint64, bool) {
	v, ok := operand(v)
	if !ok {
		return 0, false
	}
	switch v.Kind() {
	case message.KindFloat:
		v = wholeNumber(math.Round(v.AsFloat()))
	case message.KindDecimal:
		v = roundDecimal(v)
	}
	return v.AsUint(), !v.IsNull()
}

func bitwise(o op, a, b message.Value) message.Value {
	x, ok := bitsOf(a)
	if !ok {
		return message.Null()
	}
	y, ok := bitsOf(b)
	if !ok {
		return message.Null()
	}
	switch o {
	case opBitOr:
		return message.Uint(x | y)
	case opBitAnd:
		return message.Uint(x & y)
	case opBitXor:
		return message.Uint(x ^ y)
	case opShiftLeft:
		return message.Uint(x << y)
	default:
		return message.Uint(x >> y)
	}
}

func invert(v message.Value) message.Value {
	x, ok := bitsOf(v)
	if !ok {
		return message.Null()
	}
	return message.Uint(^x)
}
