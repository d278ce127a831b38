package condition

import (
	"cmp"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/hikyaku/hikyaku/internal/message"
)

// View is how a condition looks at a name's values, which follows from what they are compared with: a string '10'
// equals the number 10, but comes before the string '9'. An index is made for a name under a view: it holds Key of each
// value and orders them by CompareKeys. Values that have no key under a view are never matched through it.
type View uint8

const (
	// AsIs keeps numbers, times and texts apart, in this order: what a comparison with a string constant wants.
	AsIs View = iota
	// AsNumber reads texts as numbers and times as seconds since 1970: comparison with a number.
	AsNumber
	// AsInstant reads texts as times; keys are seconds since 1970: comparison with a time.
	AsInstant
	// AsText puts every value in its text form: like.
	AsText
)

var viewNames = [...]string{"as is", "as number", "as instant", "as text"}

func (v View) String() string { return viewNames[v] }

// Key is what an index under the view holds for a value: an Int, Uint, Float, Decimal, Time or String, the same for all
// values that are equal under the view, so that keys may be compared with == and hashed. ok is false when no comparison
// of this kind is ever true for the value.
func (v View) Key(x message.Value) (key message.Value, ok bool) {
	switch v {
	case AsText:
		s, ok := textOf(x)
		return message.String(s), ok
	case AsIs:
		switch x.Kind() {
		case message.KindTime:
			return x, true
		case message.KindString:
			return x, true
		case message.KindBytes:
			return message.String(x.AsString()), true
		}
	case AsInstant:
		if isText(x.Kind()) {
			if x, ok = instantOf(x); !ok {
				return message.Value{}, false
			}
		}
	}
	if x, ok = numberOf(x); !ok {
		return message.Value{}, false
	}
	return canonicalNumber(x), true
}

// canonicalNumber gives equal numbers one Value: an integer if it is one of 64 bits, else a Float if one stands for
// exactly this number, else a Decimal without needless zeros.
func canonicalNumber(v message.Value) message.Value {
	switch v.Kind() {
	case message.KindInt, message.KindUint:
		return v
	case message.KindFloat:
		if f := v.AsFloat(); f == math.Trunc(f) {
			if i := wholeNumber(f); !i.IsNull() {
				return i
			}
		}
		return v
	case message.KindTime:
		if micros := microsOf(v); micros%1e6 == 0 {
			return message.Int(micros / 1e6)
		}
	}
	var buf [64]byte
	negative, whole, fraction := splitDigits(appendDigits(buf[:0], v))
	text := make([]byte, 0, len(whole)+len(fraction)+3)
	if negative {
		text = append(text, '-')
	}
	if len(whole) == 0 {
		whole = []byte{'0'}
	}
	text = append(text, whole...)
	if len(fraction) == 0 {
		if i, err := strconv.ParseInt(string(text), 10, 64); err == nil {
			return message.Int(i)
		}
		if u, err := strconv.ParseUint(string(text), 10, 64); err == nil {
			return message.Uint(u)
		}
	} else {
		text = append(append(text, '.'), fraction...)
	}
	d := message.Decimal(string(text))
	if f, err := strconv.ParseFloat(string(text), 64); err == nil && compareNumbers(message.Float(f), d) == 0 {
		return message.Float(f)
	}
	return d
}

// CompareKeys orders what View.Key returns: numbers by value, then times, then texts byte by byte.
func CompareKeys(a, b message.Value) int {
	ar, br := keyRank(a.Kind()), keyRank(b.Kind())
	switch {
	case ar != br:
		return cmp.Compare(ar, br)
	case ar == rankText:
		return strings.Compare(a.AsString(), b.AsString())
	default:
		return compareNumbers(a, b)
	}
}

const (
	rankNumber = iota
	rankTime
	rankText
)

func keyRank(k message.Kind) int {
	switch k {
	case message.KindTime:
		return rankTime
	case message.KindString:
		return rankText
	default:
		return rankNumber
	}
}

// Where times and texts begin in the order of keys.
func firstTime() message.Value { return message.Time(time.UnixMicro(math.MinInt64)) }
func firstText() message.Value { return message.String("") }
