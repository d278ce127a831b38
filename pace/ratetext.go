package pace

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

// units are those that a rate is written in.
func units() []struct {
	name string
	span time.Duration
} {
	return []struct {
		name string
		span time.Duration
	}{{"ns", 1}, {"ms", time.Millisecond}, {"s", time.Second}, {"min", time.Minute}, {"h", time.Hour}}
}

// ParseRate reads a rate as people write it: a number, or a fraction of whole numbers, and a unit of time (ns, ms, s,
// min, h), as in "59.94/s", "60000/1001/s" and "100/min". It is taken exactly: 59.94/s is 2997 frames in 50 seconds.
func ParseRate(text string) (Rate, error) {
	wrong := func(why string) (Rate, error) {
		return Rate{}, fmt.Errorf("%w: %q: %s; a rate is written like 60/s, 59.94/s, 60000/1001/s or 100/min", ErrRate,
			text, why)
	}
	i := strings.LastIndexByte(text, '/')
	if i < 0 {
		return wrong("there is no unit of time")
	}
	amount, name := strings.TrimSpace(text[:i]), strings.TrimSpace(text[i+1:])
	var span time.Duration
	for _, u := range units() {
		if u.name == name {
			span = u.span
		}
	}
	if span == 0 {
		return wrong(fmt.Sprintf("%q is no unit of time (ns, ms, s, min or h)", name))
	}
	num, den, ok := fraction(amount)
	if !ok {
		return wrong(fmt.Sprintf("%q is no number, or has too many digits", amount))
	}
	if num == 0 || den == 0 {
		return wrong("it has to be more than nothing, and not endless")
	}
	if den > uint64(math.MaxInt64/span) {
		return wrong("it is too slow, or has too many digits")
	}
	r, err := Every(int64(num), time.Duration(den)*span)
	if err != nil {
		return wrong("frames are at least a nanosecond apart")
	}
	return r, nil
}

// fraction reads "60000/1001", "59.94" and "60", without signs, in lowest terms.
func fraction(text string) (num, den uint64, ok bool) {
	if over, under, is := strings.Cut(text, "/"); is {
		num, ok = whole(strings.TrimSpace(over))
		if !ok {
			return 0, 0, false
		}
		den, ok = whole(strings.TrimSpace(under))
	} else {
		before, after, point := strings.Cut(text, ".")
		if point && before+after == "" || len(after) > 9 {
			return 0, 0, false
		}
		num, ok = whole(before + after)
		den = uint64(math.Pow10(len(after))) // exact: at most 1e9
	}
	if !ok {
		return 0, 0, false
	}
	if d := divisor(num, den); d > 1 {
		num, den = num/d, den/d
	}
	return num, den, true
}

// whole reads a number that is written in digits alone and fits in 63 bits.
func whole(text string) (uint64, bool) {
	if strings.Trim(text, "0123456789") != "" {
		return 0, false // a sign, for one, which strconv would take
	}
	n, err := strconv.ParseUint(text, 10, 63)
	return n, err == nil
}

// String writes the rate exactly, as ParseRate reads it: "60/s", "59.94/s", "60000/1001/s", "2/min"; "none" when it is
// zero.
func (r Rate) String() string {
	if r.frames == 0 {
		return "none"
	}
	// The first unit in which it is a plain number, and more than one, is what people say; else the first that can be
	// read back will do.
	text := ""
	for _, i := range []int{2, 3, 4, 1, 0} {
		unit := units()[i]
		d := divisor(uint64(unit.span), r.span)
		times, den := uint64(unit.span)/d, r.span/d
		if times > math.MaxInt64/r.frames || den > uint64(math.MaxInt64/unit.span) {
			continue
		}
		num := r.frames * times
		if plain, ok := decimal(num, den); ok && num >= den {
			return plain + "/" + unit.name
		}
		if text == "" {
			text = fmt.Sprintf("%d/%d/%s", num, den, unit.name)
		}
	}
	return text // there is one: nanoseconds always do
}

// decimal writes num/den with at most three digits after the point, if that is exact.
func decimal(num, den uint64) (string, bool) {
	const digits = 1000
	if digits%den != 0 {
		return "", false
	}
	whole, rest := num/den, num%den*(digits/den)
	if rest == 0 {
		return strconv.FormatUint(whole, 10), true
	}
	return strings.TrimRight(fmt.Sprintf("%d.%03d", whole, rest), "0"), true
}

// MarshalText writes what String does; the zero rate is empty.
func (r Rate) MarshalText() ([]byte, error) {
	if r.IsZero() {
		return nil, nil
	}
	return []byte(r.String()), nil
}

// UnmarshalText reads what ParseRate does; empty text is the zero rate.
func (r *Rate) UnmarshalText(text []byte) error {
	if len(text) == 0 {
		*r = Rate{}
		return nil
	}
	read, err := ParseRate(string(text))
	if err == nil {
		*r = read
	}
	return err
}
