package condition

import (
	"math/big"
	"strings"

	"github.com/hikyaku/hikyaku/internal/message"
)

// The size of exact decimals, as in MySQL.
const (
	maxDigits = 65 // in all
	maxScale  = 30 // after the point
	divScale  = 4  // digits that a division adds after the dividend's
)

// decimal is coefficient ÷ 10^scale.
type decimal struct {
	coefficient *big.Int
	scale       int
}

// decimalOf takes an Int, Uint or Decimal; ok is false for one of more digits than can be calculated with.
func decimalOf(v message.Value) (d decimal, ok bool) {
	negative, whole, fraction := splitDigits(appendDigits(nil, v))
	if len(fraction) > maxScale {
		fraction = fraction[:maxScale]
	}
	if len(whole)+len(fraction) > maxDigits {
		return decimal{}, false
	}
	digits := string(whole) + string(fraction)
	if digits == "" {
		digits = "0"
	}
	c, ok := new(big.Int).SetString(digits, 10)
	if negative && ok {
		c.Neg(c)
	}
	return decimal{c, len(fraction)}, ok
}

func powerOfTen(n int) *big.Int {
	return new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(n)), nil)
}

// rescale gives d exactly scale digits after the point, rounding half away from zero.
func (d decimal) rescale(scale int) decimal {
	if scale >= d.scale {
		return decimal{new(big.Int).Mul(d.coefficient, powerOfTen(scale-d.scale)), scale}
	}
	return decimal{quotient(d.coefficient, powerOfTen(d.scale-scale)), scale}
}

// quotient is a ÷ b, rounded half away from zero.
func quotient(a, b *big.Int) *big.Int {
	q, r := new(big.Int).QuoRem(a, b, new(big.Int))
	if r.Abs(r).Lsh(r, 1).CmpAbs(b) >= 0 {
		q.Add(q, big.NewInt(int64(a.Sign()*b.Sign())))
	}
	return q
}

// value is d as a Value; null when it has too many digits.
func (d decimal) value() message.Value {
	if d.scale > maxScale {
		d = d.rescale(maxScale)
	}
	digits := new(big.Int).Abs(d.coefficient).String()
	if len(digits) > maxDigits {
		return message.Null()
	}
	if missing := d.scale + 1 - len(digits); missing > 0 {
		digits = strings.Repeat("0", missing) + digits
	}
	text := digits[:len(digits)-d.scale]
	if d.scale > 0 {
		text += "." + digits[len(digits)-d.scale:]
	}
	if d.coefficient.Sign() < 0 {
		text = "-" + text
	}
	return message.Decimal(text)
}

// integerValue is i as a Value; null when it has no 64 bits.
func integerValue(i *big.Int) message.Value {
	switch {
	case i.IsInt64():
		return message.Int(i.Int64())
	case i.IsUint64():
		return message.Uint(i.Uint64())
	default:
		return message.Null()
	}
}

// roundDecimal is a Decimal rounded half away from zero to an integer; null when it is too large for one.
func roundDecimal(v message.Value) message.Value {
	d, ok := decimalOf(v)
	if !ok {
		return message.Null()
	}
	return integerValue(d.rescale(0).coefficient)
}

func decimalArithmetic(o op, av, bv message.Value) message.Value {
	a, ok := decimalOf(av)
	if !ok {
		return message.Null()
	}
	b, ok := decimalOf(bv)
	if !ok || b.coefficient.Sign() == 0 && (o == opDivide || o == opIntDivide || o == opModulo) {
		return message.Null()
	}
	if o == opMultiply {
		return decimal{new(big.Int).Mul(a.coefficient, b.coefficient), a.scale + b.scale}.value()
	}
	dividendScale := a.scale
	scale := max(a.scale, b.scale)
	a, b = a.rescale(scale), b.rescale(scale)
	switch o {
	case opAdd:
		return decimal{new(big.Int).Add(a.coefficient, b.coefficient), scale}.value()
	case opSubtract:
		return decimal{new(big.Int).Sub(a.coefficient, b.coefficient), scale}.value()
	case opDivide:
		scale = min(dividendScale+divScale, maxScale)
		return decimal{quotient(new(big.Int).Mul(a.coefficient, powerOfTen(scale)), b.coefficient), scale}.value()
	case opIntDivide:
		return integerValue(new(big.Int).Quo(a.coefficient, b.coefficient))
	default:
		return decimal{new(big.Int).Rem(a.coefficient, b.coefficient), scale}.value()
	}
}
