package condition

import (
	"math"
	"math/big"
	"regexp"
	"strconv"
	"strings"

	"github.com/hikyaku/hikyaku/internal/message"
)

// The naive evaluator says what the language means in the plainest terms: numbers are fractions, patterns are regular
// expressions, nothing is folded or short-cut. It serves the operators that need no rounding.

func naive(n *node, e env) message.Value {
	args := make([]message.Value, len(n.args))
	for i, a := range n.args {
		args[i] = naive(a, e)
	}
	switch n.op {
	case opConst:
		return n.value
	case opName:
		return e[n.name]
	case opNot:
		return naiveNot(naiveTruth(args[0]))
	case opAnd:
		return naiveAnd(args)
	case opOr:
		for i := range args {
			args[i] = naiveNot(naiveTruth(args[i]))
		}
		return naiveNot(naiveAnd(args))
	case opXor:
		odd := false
		for _, a := range args {
			t := naiveTruth(a)
			if t.IsNull() {
				return t
			}
			odd = odd != t.AsBool()
		}
		return message.Bool(odd)
	case opNullSafe:
		if args[0].IsNull() || args[1].IsNull() {
			return message.Bool(args[0].IsNull() == args[1].IsNull())
		}
		return message.Bool(naiveCompare(opEqual, args[0], args[1]) == message.Bool(true))
	case opIs:
		t := naiveTruth(args[0])
		var result bool
		switch n.test {
		case isNull:
			result = args[0].IsNull()
		default:
			result = !t.IsNull() && t.AsBool() == (n.test == isTrue)
		}
		return message.Bool(result != n.negated)
	case opIn:
		members := make([]message.Value, len(args)-1)
		for i, a := range args[1:] {
			members[i] = naiveNot(naiveCompare(opEqual, args[0], a))
		}
		return naiveMaybeNot(!n.negated, naiveAnd(members))
	case opBetween:
		return naiveMaybeNot(n.negated, naiveAnd([]message.Value{
			naiveCompare(opGreaterEqual, args[0], args[1]), naiveCompare(opLessEqual, args[0], args[2])}))
	case opLike:
		return naiveMaybeNot(n.negated, naiveLike(args[0], args[1], n.escape))
	case opAdd, opSubtract, opMultiply:
		return naiveArithmetic(n.op, args[0], args[1])
	default:
		return naiveCompare(n.op, args[0], args[1])
	}
}

func naiveMaybeNot(negated bool, v message.Value) message.Value {
	if negated {
		return naiveNot(v)
	}
	return v
}

func naiveNot(v message.Value) message.Value {
	if v.IsNull() {
		return v
	}
	return message.Bool(!v.AsBool())
}

func naiveAnd(args []message.Value) message.Value {
	result := message.Bool(true)
	for _, a := range args {
		if t := naiveTruth(a); !t.IsNull() && !t.AsBool() {
			return t
		} else if t.IsNull() {
			result = t
		}
	}
	return result
}

func naiveTruth(v message.Value) message.Value { return naiveCompare(opNotEqual, v, message.Int(0)) }

func naiveText(v message.Value) bool {
	return v.Kind() == message.KindString || v.Kind() == message.KindBytes
}

func naiveCompare(o op, a, b message.Value) message.Value {
	if naiveText(a) && naiveText(b) {
		return message.Bool(naiveHolds(o, strings.Compare(a.AsString(), b.AsString())))
	}
	if a.Kind() == message.KindTime && naiveText(b) {
		t, err := message.ParseTime(b.AsString())
		if err != nil {
			return message.Null()
		}
		b = message.Time(t)
	}
	if b.Kind() == message.KindTime && naiveText(a) {
		t, err := message.ParseTime(a.AsString())
		if err != nil {
			return message.Null()
		}
		a = message.Time(t)
	}
	x, y := naiveNumber(a), naiveNumber(b)
	if x == nil || y == nil {
		return message.Null()
	}
	return message.Bool(naiveHolds(o, x.Cmp(y)))
}

func naiveHolds(o op, c int) bool {
	return map[op][3]bool{opEqual: {false, true, false}, opNotEqual: {true, false, true}, opLess: {true, false, false},
		opLessEqual: {true, true, false}, opGreater: {false, false, true}, opGreaterEqual: {false, true, true}}[o][c+1]
}

var naiveNumberText = regexp.MustCompile(`^[ \t\r\n]*([+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?)[ \t\r\n]*$`)

// naiveNumber is a value's number, or nil. The infinities stand beyond every float.
func naiveNumber(v message.Value) *big.Rat {
	switch v.Kind() {
	case message.KindNull:
		return nil
	case message.KindBool, message.KindUint:
		return new(big.Rat).SetUint64(v.AsUint())
	case message.KindInt:
		return new(big.Rat).SetInt64(v.AsInt())
	case message.KindTime:
		return big.NewRat(v.AsTime().UnixMicro(), 1e6)
	case message.KindFloat:
		return naiveFloat(v.AsFloat())
	}
	m := naiveNumberText.FindStringSubmatch(v.AsString())
	if m == nil {
		return nil
	}
	if m[3] != "" {
		f, err := strconv.ParseFloat(m[1], 64)
		if err != nil || v.Kind() == message.KindDecimal {
			return nil
		}
		return naiveFloat(f)
	}
	r, _ := new(big.Rat).SetString(m[1])
	return r
}

func naiveFloat(f float64) *big.Rat {
	switch {
	case math.IsNaN(f):
		return nil
	case math.IsInf(f, 0):
		r := new(big.Rat).SetFloat64(math.MaxFloat64)
		return r.Mul(r, big.NewRat(int64(math.Copysign(2, f)), 1))
	case f == math.Trunc(f):
		return new(big.Rat).SetFloat64(f)
	default:
		r, _ := new(big.Rat).SetString(strconv.FormatFloat(f, 'e', -1, 64))
		return r
	}
}

func naiveLike(v, pattern message.Value, escape string) message.Value {
	if v.IsNull() || pattern.IsNull() {
		return message.Null()
	}
	text := func(v message.Value) string {
		if naiveText(v) {
			return v.AsString()
		}
		return v.Text()
	}
	var re strings.Builder
	re.WriteString(`(?s)\A`)
	literal := false
	runes := []rune(text(pattern))
	for i, r := range runes {
		switch {
		case !literal && string(r) == escape && i+1 < len(runes):
			literal = true
			continue
		case !literal && r == '%':
			re.WriteString(".*")
		case !literal && r == '_':
			re.WriteString(".")
		default:
			re.WriteString(regexp.QuoteMeta(string(r)))
		}
		literal = false
	}
	return message.Bool(regexp.MustCompile(re.String() + `\z`).MatchString(text(v)))
}

// naiveArithmetic serves + - * on integers and texts of integers; the generator makes no other.
func naiveArithmetic(o op, a, b message.Value) message.Value {
	x, y := naiveNumber(a), naiveNumber(b)
	if x == nil || y == nil {
		return message.Null()
	}
	r := new(big.Rat)
	switch o {
	case opAdd:
		r.Add(x, y)
	case opSubtract:
		r.Sub(x, y)
	default:
		r.Mul(x, y)
	}
	switch i := r.Num(); {
	case i.IsInt64():
		return message.Int(i.Int64())
	case i.IsUint64():
		return message.Uint(i.Uint64())
	default:
		return message.Null()
	}
}
