package condition

import (
	"bytes"
	"cmp"
	"math"
	"strconv"
	"strings"

	"github.com/hikyaku/hikyaku/internal/message"
)

// compare orders two values as the language's comparison operators do. ok is false when the result is null.
func compare(a, b message.Value) (c int, ok bool) {
	ak, bk := a.Kind(), b.Kind()
	if ak == message.KindInt && bk == message.KindInt {
		return cmp.Compare(a.AsInt(), b.AsInt()), true
	}
	if isText(ak) && isText(bk) {
		return strings.Compare(a.AsString(), b.AsString()), true
	}
	if ak == message.KindTime && isText(bk) {
		if b, ok = instantOf(b); !ok {
			return 0, false
		}
	} else if bk == message.KindTime && isText(ak) {
		if a, ok = instantOf(a); !ok {
			return 0, false
		}
	}
	if a, ok = numberOf(a); !ok {
		return 0, false
	}
	if b, ok = numberOf(b); !ok {
		return 0, false
	}
	return compareNumbers(a, b), true
}

func isText(k message.Kind) bool { return k == message.KindString || k == message.KindBytes }

// instantOf reads a text as a time.
func instantOf(v message.Value) (message.Value, bool) {
	t, err := message.ParseTime(v.AsString())
	if err != nil {
		return message.Value{}, false
	}
	return message.Time(t), true
}

// textOf is a value as like and the text functions see it: a String or Bytes as it is, any other in text.
func textOf(v message.Value) (string, bool) {
	switch v.Kind() {
	case message.KindNull:
		return "", false
	case message.KindString, message.KindBytes, message.KindDecimal:
		return v.AsString(), true
	default:
		return v.Text(), true
	}
}

// numberOf turns a value into one that compareNumbers orders: Int, Uint, Float other than NaN, a well-formed Decimal,
// or Time, which counts as seconds since 1970. ok is false when there is no number in it.
func numberOf(v message.Value) (n message.Value, ok bool) {
	switch v.Kind() {
	case message.KindInt, message.KindUint, message.KindTime:
		return v, true
	case message.KindBool:
		if v.AsBool() {
			return message.Int(1), true
		}
		return message.Int(0), true
	case message.KindFloat:
		return v, !math.IsNaN(v.AsFloat())
	case message.KindDecimal:
		return v, scanNumber(v.AsString()) == plainNumber
	case message.KindString, message.KindBytes:
		return parseNumber(v.AsString())
	default:
		return message.Value{}, false
	}
}

type numberForm uint8

const (
	noNumber numberForm = iota
	plainNumber
	exponentNumber
)

// scanNumber tells whether s is a number in decimal digits, with at most a sign, a point and an exponent.
func scanNumber(s string) numberForm {
	i := 0
	skip := func() bool {
		start := i
		for i < len(s) && isDigit(s[i]) {
			i++
		}
		return i > start
	}
	sign := func() {
		if i < len(s) && (s[i] == '+' || s[i] == '-') {
			i++
		}
	}
	sign()
	some := skip()
	if i < len(s) && s[i] == '.' {
		i++
		some = skip() || some
	}
	if !some {
		return noNumber
	}
	if i == len(s) {
		return plainNumber
	}
	if s[i] != 'e' && s[i] != 'E' {
		return noNumber
	}
	i++
	sign()
	if skip() && i == len(s) {
		return exponentNumber
	}
	return noNumber
}

// parseNumber reads a string as a number. Blanks around it do no harm.
func parseNumber(s string) (message.Value, bool) {
	s = strings.Trim(s, " \t\r\n")
	switch scanNumber(s) {
	case plainNumber:
		if i, err := strconv.ParseInt(s, 10, 64); err == nil {
			return message.Int(i), true
		}
		return message.Decimal(s), true
	case exponentNumber:
		if f, err := strconv.ParseFloat(s, 64); err == nil {
			return message.Float(f), true
		}
	}
	return message.Value{}, false
}

// compareNumbers orders what numberOf returns by exact value.
func compareNumbers(a, b message.Value) int {
	ak, bk := a.Kind(), b.Kind()
	switch {
	case ak == message.KindDecimal || bk == message.KindDecimal:
		return compareAsText(a, b)
	case ak == message.KindTime || bk == message.KindTime:
		return compareTime(a, b)
	case ak == message.KindFloat && bk == message.KindFloat:
		return cmp.Compare(a.AsFloat(), b.AsFloat())
	case ak == message.KindFloat:
		return -compareIntegerFloat(b, a.AsFloat())
	case bk == message.KindFloat:
		return compareIntegerFloat(a, b.AsFloat())
	case ak != bk: // a Uint is above every Int
		return cmp.Compare(ak, bk)
	case ak == message.KindUint:
		return cmp.Compare(a.AsUint(), b.AsUint())
	default:
		return cmp.Compare(a.AsInt(), b.AsInt())
	}
}

func compareIntegerFloat(i message.Value, f float64) int {
	switch {
	case f >= 1<<64:
		return -1
	case f < -1<<63:
		return 1
	case i.Kind() == message.KindUint:
		if f < 1<<63 {
			return 1
		}
		return cmp.Compare(i.AsUint(), uint64(f))
	case f >= 1<<63:
		return -1
	}
	whole := math.Trunc(f)
	if c := cmp.Compare(i.AsInt(), int64(whole)); c != 0 {
		return c
	}
	return cmp.Compare(whole, f)
}

func compareTime(a, b message.Value) int {
	if a.Kind() != message.KindTime {
		return -compareTime(b, a)
	}
	am := microsOf(a)
	switch b.Kind() {
	case message.KindTime:
		return cmp.Compare(am, microsOf(b))
	case message.KindInt:
		seconds, rest := am/1e6, am%1e6
		if c := cmp.Compare(seconds, b.AsInt()); c != 0 {
			return c
		}
		return cmp.Compare(rest, 0)
	default:
		return compareAsText(a, b)
	}
}

// microsOf is a Time's count of microseconds since 1970.
func microsOf(v message.Value) int64 { return v.AsTime().UnixMicro() }

// compareAsText orders numbers of any two kinds by their decimal digits.
func compareAsText(a, b message.Value) int {
	var abuf, bbuf [360]byte // room for every float
	if c, ok := compareInfinity(a, b); ok {
		return c
	}
	return compareDigits(appendDigits(abuf[:0], a), appendDigits(bbuf[:0], b))
}

func compareInfinity(a, b message.Value) (int, bool) {
	if a.Kind() == message.KindFloat && math.IsInf(a.AsFloat(), 0) {
		return cmp.Compare(a.AsFloat(), 0), true
	}
	if b.Kind() == message.KindFloat && math.IsInf(b.AsFloat(), 0) {
		return cmp.Compare(0, b.AsFloat()), true
	}
	return 0, false
}

// appendDigits writes a finite number in plain decimal digits. A float that is no whole number stands for the shortest
// decimal that reads back as it; a whole one for itself. Either lies in the interval of numbers that round to the
// float, so this agrees with the order of floats.
func appendDigits(dst []byte, v message.Value) []byte {
	switch v.Kind() {
	case message.KindInt:
		return strconv.AppendInt(dst, v.AsInt(), 10)
	case message.KindUint:
		return strconv.AppendUint(dst, v.AsUint(), 10)
	case message.KindFloat:
		f := v.AsFloat()
		if f == math.Trunc(f) {
			return strconv.AppendFloat(dst, f, 'f', 0, 64)
		}
		return strconv.AppendFloat(dst, f, 'f', -1, 64)
	case message.KindTime:
		micros := microsOf(v)
		magnitude := uint64(micros)
		if micros < 0 {
			dst = append(dst, '-')
			magnitude = -magnitude
		}
		dst = strconv.AppendUint(dst, magnitude/1e6, 10)
		dst = append(dst, '.')
		for unit := uint64(1e5); unit > 0; unit /= 10 {
			dst = append(dst, '0'+byte(magnitude/unit%10))
		}
		return dst
	default:
		return append(dst, v.AsString()...)
	}
}

// compareDigits orders two plain decimal numbers.
func compareDigits(a, b []byte) int {
	an, ai, af := splitDigits(a)
	bn, bi, bf := splitDigits(b)
	if an != bn {
		if an {
			return -1
		}
		return 1
	}
	c := cmp.Compare(len(ai), len(bi))
	if c == 0 {
		c = bytes.Compare(ai, bi)
	}
	if c == 0 {
		c = bytes.Compare(af, bf)
	}
	if an {
		return -c
	}
	return c
}

// splitDigits takes a number apart: its sign, its whole part without leading zeros and its fraction without trailing
// ones. Zero is never negative.
func splitDigits(s []byte) (negative bool, whole, fraction []byte) {
	if len(s) > 0 && (s[0] == '-' || s[0] == '+') {
		negative = s[0] == '-'
		s = s[1:]
	}
	whole = s
	for i, c := range s {
		if c == '.' {
			whole, fraction = s[:i], s[i+1:]
			break
		}
	}
	for len(whole) > 0 && whole[0] == '0' {
		whole = whole[1:]
	}
	for len(fraction) > 0 && fraction[len(fraction)-1] == '0' {
		fraction = fraction[:len(fraction)-1]
	}
	return negative && len(whole)+len(fraction) > 0, whole, fraction
}
