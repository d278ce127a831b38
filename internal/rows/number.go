package rows

import (
	"strconv"
	"strings"
)

// maxShift bounds the exponent of a number that is written out: a few bytes must not become a long row.
const maxShift = 1000

// numeral is a decimal number taken apart: the digits before the point without leading zeros, and those behind it as
// they are written.
type numeral struct {
	negative        bool
	whole, fraction string
}

// parseNumeral reads a number in decimal digits, perhaps with a point and an exponent. It is more patient than JSON is,
// for the sake of texts: a plus, leading zeros, and a point without digits on one of its sides. small is false for one
// whose exponent is out of bounds.
func parseNumeral(s string) (n numeral, small, ok bool) {
	if s != "" && (s[0] == '-' || s[0] == '+') {
		n.negative = s[0] == '-'
		s = s[1:]
	}
	mantissa, exponent := s, ""
	if at := strings.IndexAny(s, "eE"); at >= 0 {
		mantissa, exponent = s[:at], s[at+1:]
		if digits := strings.TrimLeft(exponent, "+-"); len(exponent)-len(digits) > 1 || digits == "" ||
			!allDigits(digits) {
			return n, false, false
		}
	}
	n.whole, n.fraction, _ = strings.Cut(mantissa, ".")
	if n.whole == "" && n.fraction == "" || !allDigits(n.whole) || !allDigits(n.fraction) {
		return n, false, false
	}
	n.whole = strings.TrimLeft(n.whole, "0")
	if exponent == "" {
		return n, true, true
	}
	if n.whole == "" && strings.Trim(n.fraction, "0") == "" {
		n.fraction = ""
		return n, true, true // zero, whatever its exponent
	}
	e, err := strconv.Atoi(exponent)
	if err != nil || e > maxShift || e < -maxShift {
		return n, false, true
	}
	n.shift(e)
	return n, true, true
}

func allDigits(s string) bool {
	for i := range len(s) {
		if s[i]-'0' > 9 {
			return false
		}
	}
	return true
}

// shift moves the point to the right, or to the left.
func (n *numeral) shift(by int) {
	switch {
	case by > 0:
		if pad := by - len(n.fraction); pad > 0 {
			n.fraction += strings.Repeat("0", pad)
		}
		n.whole, n.fraction = strings.TrimLeft(n.whole+n.fraction[:by], "0"), n.fraction[by:]
	case by < 0:
		if pad := -by - len(n.whole); pad > 0 {
			n.whole = strings.Repeat("0", pad) + n.whole
		}
		cut := len(n.whole) + by
		n.whole, n.fraction = strings.TrimLeft(n.whole[:cut], "0"), n.whole[cut:]+n.fraction
	}
}

// isWhole tells whether nothing but zeros stands behind the point.
func (n *numeral) isWhole() bool { return strings.Trim(n.fraction, "0") == "" }

// magnitude is the whole part; ok is false where 64 bits do not hold it.
func (n *numeral) magnitude() (uint64, bool) {
	if n.whole == "" {
		return 0, true
	}
	u, err := strconv.ParseUint(n.whole, 10, 64)
	return u, err == nil
}

// text writes the number out.
func (n *numeral) text() string {
	whole := n.whole
	if whole == "" {
		whole = "0"
	}
	if n.fraction != "" {
		whole += "." + n.fraction
	}
	if n.negative && strings.Trim(whole, "0.") != "" {
		return "-" + whole
	}
	return whole
}

// smallInteger reads most integers there are without taking them apart.
func smallInteger(s string) (int64, bool) {
	digits := s
	if s != "" && s[0] == '-' {
		digits = s[1:]
	}
	if len(digits) == 0 || len(digits) > 18 {
		return 0, false
	}
	var i int64
	for k := range len(digits) {
		d := digits[k] - '0'
		if d > 9 {
			return 0, false
		}
		i = i*10 + int64(d)
	}
	if len(digits) < len(s) {
		i = -i
	}
	return i, true
}
