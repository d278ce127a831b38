package condition

import (
	"fmt"
	"math/big"
	"testing"

	"pgregory.net/rapid"

	"github.com/hikyaku/hikyaku/internal/message"
)

func drawDecimal(t *rapid.T) string {
	return rapid.StringMatching(`-?[0-9]{1,12}\.[0-9]{1,8}`).Draw(t, "decimal")
}

func fractionOf(t *rapid.T, v message.Value) *big.Rat {
	r, ok := new(big.Rat).SetString(v.Text())
	if !ok {
		t.Fatalf("%#v is no number", v)
	}
	return r
}

func TestDecimalArithmeticIsExact(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b := message.Decimal(drawDecimal(t)), message.Decimal(drawDecimal(t))
		x, y := fractionOf(t, a), fractionOf(t, b)
		for o, want := range map[op]*big.Rat{
			opAdd:      new(big.Rat).Add(x, y),
			opSubtract: new(big.Rat).Sub(x, y),
			opMultiply: new(big.Rat).Mul(x, y),
		} {
			if got := arithmetic(o, a, b); fractionOf(t, got).Cmp(want) != 0 {
				t.Fatalf("%s %s %s is %#v, want %s", a.Text(), spellings[o].text, b.Text(), got, want.FloatString(20))
			}
		}
	})
}

func TestDecimalDivisionIsRoundedAndItsRestFits(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b := message.Decimal(drawDecimal(t)), message.Decimal(drawDecimal(t))
		x, y := fractionOf(t, a), fractionOf(t, b)
		if y.Sign() == 0 {
			for _, o := range []op{opDivide, opIntDivide, opModulo} {
				if got := arithmetic(o, a, b); !got.IsNull() {
					t.Fatalf("%s %s 0 is %#v", a.Text(), spellings[o].text, got)
				}
			}
			return
		}
		// Four digits are added to at most eight: the quotient is at most half a unit of the last away.
		quotient := fractionOf(t, arithmetic(opDivide, a, b))
		off := new(big.Rat).Sub(quotient, new(big.Rat).Quo(x, y))
		if off.Abs(off).Cmp(big.NewRat(1, 2*10_000)) > 0 {
			t.Fatalf("%s / %s is %s", a.Text(), b.Text(), quotient.FloatString(12))
		}
		whole, rest := arithmetic(opIntDivide, a, b), arithmetic(opModulo, a, b)
		if whole.IsNull() {
			return // more than 64 bits
		}
		back := new(big.Rat).Add(new(big.Rat).Mul(fractionOf(t, whole), y), fractionOf(t, rest))
		if back.Cmp(x) != 0 {
			t.Fatalf("%s div %s is %s, the rest %s", a.Text(), b.Text(), whole.Text(), rest.Text())
		}
		if r := fractionOf(t, rest); r.Sign() != 0 && r.Sign() != x.Sign() {
			t.Fatalf("%s %% %s is %s: of the wrong sign", a.Text(), b.Text(), rest.Text())
		}
	})
}

func TestIntegerDivisionTruncates(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b := rapid.Int64().Draw(t, "a"), rapid.Int64Range(-10, 10).Draw(t, "b")
		whole, rest := arithmetic(opIntDivide, message.Int(a), message.Int(b)),
			arithmetic(opModulo, message.Int(a), message.Int(b))
		if b == 0 {
			if !whole.IsNull() || !rest.IsNull() {
				t.Fatalf("%d by 0 is %#v, %#v", a, whole, rest)
			}
			return
		}
		q, r := new(big.Int).QuoRem(big.NewInt(a), big.NewInt(b), new(big.Int))
		if whole.Text() != q.String() || rest.Text() != r.String() {
			t.Fatalf("%d by %d is %s, rest %s; want %s, %s", a, b, whole.Text(), rest.Text(), q, r)
		}
	})
}

func TestBitOperatorsWorkOn64Bits(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b := rapid.Int64().Draw(t, "a"), rapid.Uint64().Draw(t, "b")
		shift := rapid.Uint64Range(0, 70).Draw(t, "shift")
		values := env{"a": message.Int(a), "b": message.Uint(b), "s": message.Uint(shift)}
		for text, want := range map[string]uint64{
			"a & b":  uint64(a) & b,
			"a | b":  uint64(a) | b,
			"a ^ b":  uint64(a) ^ b,
			"~a":     ^uint64(a),
			"b << s": b << shift,
			"b >> s": b >> shift,
		} {
			if got := parseIn(t, text).Eval(values); got != message.Uint(want) {
				t.Fatalf("%s with %#v is %#v, want %d", text, values, got, want)
			}
		}
	})
}

func parseIn(t *rapid.T, text string) *Expr {
	e, err := Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func TestDecimalsCompareByTheirValue(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b := message.Decimal(drawDecimal(t)), message.Decimal(drawDecimal(t))
		want := fractionOf(t, a).Cmp(fractionOf(t, b))
		if got, ok := compare(a, b); !ok || got != want {
			t.Fatalf("%s with %s: %d, want %d", a.Text(), b.Text(), got, want)
		}
		padded := message.Decimal("000" + fmt.Sprintf("%s000", a.Text()))
		if a.Text()[0] != '-' {
			if got, ok := compare(a, padded); !ok || got != 0 {
				t.Fatalf("%s with %s: %d", a.Text(), padded.Text(), got)
			}
		}
	})
}
