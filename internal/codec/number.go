package codec

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/hikyaku/hikyaku/internal/message"
)

// exactDigits is how many significant decimal digits any float64 in the usual range keeps.
const exactDigits = 15

// Number makes an attribute's value of a JSON number without losing a digit: an integer when it is written as one and
// fits 64 bits, a float when a float64 keeps all its digits, an exact decimal otherwise. A number that none of them
// holds (1e999) or with more than MaxDigits characters is an error.
func Number(text string) (message.Value, error) {
	if len(text) > MaxDigits {
		return message.Value{}, fmt.Errorf("a number of %d characters: an attribute holds at most %d", len(text),
			MaxDigits)
	}
	if !strings.ContainsAny(text, ".eE") {
		return integer(text), nil
	}
	mantissa, _, exponential := strings.Cut(strings.ToLower(text), "e")
	f, err := strconv.ParseFloat(text, 64)
	switch {
	case significant(mantissa) == 0:
		return message.Float(0), nil
	case err == nil && math.Abs(f) >= 1e-300 && math.Abs(f) <= 1e300 &&
		(significant(mantissa) <= exactDigits || sameDigits(f, text)):
		return message.Float(f), nil
	case !exponential:
		return message.Decimal(text), nil
	default:
		return message.Value{}, fmt.Errorf("the number %s has no exact form as an attribute", quote(text))
	}
}

// integer makes a value of digits with perhaps a sign before them.
func integer(text string) message.Value {
	if i, err := strconv.ParseInt(text, 10, 64); err == nil {
		return message.Int(i)
	}
	if u, err := strconv.ParseUint(text, 10, 64); err == nil {
		return message.Uint(u)
	}
	return message.Decimal(text)
}

// significant counts the digits that matter: without leading zeros, and without trailing ones after the point.
func significant(mantissa string) int {
	if strings.Contains(mantissa, ".") {
		mantissa = strings.TrimRight(mantissa, "0")
	}
	n := 0
	for _, c := range strings.TrimLeft(mantissa, "-0.") {
		if c != '.' {
			n++
		}
	}
	return n
}

// sameDigits tells whether f's own shortest text is the one it was read from.
func sameDigits(f float64, text string) bool {
	return strconv.FormatFloat(f, 'f', -1, 64) == text || strconv.FormatFloat(f, 'e', -1, 64) == text
}

// integerText brings an integer as people write it (+7, 007) into JSON's form; ok is false when it is none.
func integerText(s string) (text string, ok bool) {
	digits, negative := unsigned(s)
	if digits == "" || strings.Trim(digits, "0123456789") != "" {
		return "", false
	}
	return withSign(trimZeros(digits), negative), true
}

// numberText brings a number as people write it (+1.5, .5, 1., 1E3) into JSON's form, every digit kept; ok is false
// when it is none. plain tells that it has no exponent.
func numberText(s string) (text string, plain, ok bool) {
	rest, negative := unsigned(s)
	mantissa, exponent, exponential := strings.Cut(strings.ToLower(rest), "e")
	whole, fraction, _ := strings.Cut(mantissa, ".")
	if whole+fraction == "" || strings.Trim(whole+fraction, "0123456789") != "" {
		return "", false, false
	}
	text = withSign(trimZeros(whole), negative)
	if fraction != "" {
		text += "." + fraction
	}
	if exponential {
		digits, _ := unsigned(exponent)
		if digits == "" || strings.Trim(digits, "0123456789") != "" {
			return "", false, false
		}
		text += "e" + exponent
	}
	return text, !exponential, true
}

func unsigned(s string) (rest string, negative bool) {
	if rest, ok := strings.CutPrefix(s, "-"); ok {
		return rest, true
	}
	return strings.TrimPrefix(s, "+"), false
}

func withSign(s string, negative bool) string {
	if negative {
		return "-" + s
	}
	return s
}

// trimZeros leaves at least one digit.
func trimZeros(digits string) string {
	if t := strings.TrimLeft(digits, "0"); t != "" {
		return t
	}
	return "0"
}
