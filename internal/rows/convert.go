package rows

import (
	"errors"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"
)

// value converts a field's JSON text to the column's kind. Nothing is rounded but to what a float holds; the fraction
// of a second alone is cut to the column's digits. Errors are *ValueError.
func (c *Column) value(t token) (Value, error) {
	if c.Kind == Float && c.Bits != 32 && (t.form == number || t.form == plain) { // most of what is measured
		if f, ok := shortFloat(t.text); ok {
			return FloatOf(f), nil
		}
	}
	switch t.form {
	case number:
		return c.ofNumber(t.text)
	case plain:
		return c.ofText(t.text)
	case escaped:
		s := unescape(t.text)
		if c.Kind == JSON {
			return JSONOf(`"` + t.text + `"`), nil
		}
		return c.ofText(s)
	case yes, no:
		return c.ofBool(t.form == yes)
	case composite:
		switch c.Kind {
		case JSON:
			return JSONOf(t.text), nil
		case Text:
			return c.text(t.text)
		}
		return Value{}, c.refuse(shorten(t.text), "is an object or array, which it does not hold")
	default:
		return c.ofNull()
	}
}

func (c *Column) ofNull() (Value, error) {
	if c.Nullable {
		return Value{}, nil
	}
	return Value{}, c.refuse("null", "is not taken")
}

func (c *Column) ofBool(b bool) (Value, error) {
	switch c.Kind {
	case Bool:
		return BoolOf(b), nil
	case Int, Uint, Decimal, Float:
		if b {
			return c.ofNumber("1")
		}
		return c.ofNumber("0")
	case Text:
		return c.text(strconv.FormatBool(b))
	case JSON:
		return JSONOf(strconv.FormatBool(b)), nil
	}
	return Value{}, c.refuse(strconv.FormatBool(b), c.noSuch())
}

// ofNumber converts a number's text.
func (c *Column) ofNumber(s string) (Value, error) {
	switch c.Kind {
	case Bool:
		switch s {
		case "0", "1":
			return BoolOf(s == "1"), nil
		}
		return Value{}, c.refuse(shorten(s), "is neither 0 nor 1")
	case Int:
		if i, ok := smallInteger(s); ok && c.holds(i) {
			return IntOf(i), nil
		}
		return c.integer(s)
	case Uint:
		if i, ok := smallInteger(s); ok && i >= 0 && (c.Bits >= 60 || i>>c.Bits == 0) {
			return UintOf(uint64(i)), nil
		}
		return c.integer(s)
	case Float:
		return c.float(s)
	case Decimal:
		return c.decimal(s)
	case Text:
		return c.text(s)
	case JSON:
		return JSONOf(s), nil
	case Date, TimeOfDay, Timestamp, TimestampTZ:
		return Value{}, c.refuse(shorten(s), "is a number; a time is written as 2006-01-02T15:04:05Z (decode makes "+
			"one of seconds: types: { "+c.Name+": timestamp(unix) })")
	}
	return Value{}, c.refuse(shorten(s), c.noSuch())
}

func (c *Column) noSuch() string { return "is no " + c.Kind.String() }

func (c *Column) holds(i int64) bool {
	return c.Bits >= 64 || i >= -1<<(c.Bits-1) && i < 1<<(c.Bits-1)
}

// integer takes numbers that are whole, however they are written.
func (c *Column) integer(s string) (Value, error) {
	n, small, ok := parseNumeral(s)
	switch {
	case !ok:
		return Value{}, c.refuse(show(s), c.noSuch())
	case !small:
		return Value{}, c.refuse(shorten(s), "is out of range")
	case !n.isWhole():
		return Value{}, c.refuse(shorten(s), "is no whole number")
	}
	u, ok := n.magnitude()
	if c.Kind == Uint {
		if !ok || n.negative && u > 0 || c.Bits < 64 && u>>c.Bits != 0 {
			return Value{}, c.refuse(shorten(s), "is out of range")
		}
		return UintOf(u), nil
	}
	i := int64(u)
	if n.negative {
		i = -i
	}
	if !ok || n.negative && u > 1<<63 || !n.negative && u > math.MaxInt64 || !c.holds(i) {
		return Value{}, c.refuse(shorten(s), "is out of range")
	}
	return IntOf(i), nil
}

func (c *Column) float(s string) (Value, error) {
	if c.Bits != 32 {
		if f, ok := shortFloat(s); ok {
			return FloatOf(f), nil
		}
	}
	return c.longFloat(s)
}

// longFloat reads any number.
func (c *Column) longFloat(s string) (Value, error) {
	bits := 64
	if c.Bits == 32 {
		bits = 32
	}
	f, err := strconv.ParseFloat(s, bits)
	switch {
	case err == nil:
		return FloatOf(f), nil
	case errors.Is(err, strconv.ErrSyntax):
		return Value{}, c.refuse(show(s), c.noSuch())
	}
	return Value{}, c.refuse(shorten(s), "is out of range")
}

func (c *Column) decimal(s string) (Value, error) {
	n, small, ok := parseNumeral(s)
	switch {
	case !ok:
		return Value{}, c.refuse(show(s), c.noSuch())
	case !small:
		return Value{}, c.refuse(shorten(s), "is out of range")
	}
	if c.Precision > 0 {
		if over := len(n.fraction) - c.Scale; over > 0 {
			kept := n.fraction[:c.Scale]
			if strings.Trim(n.fraction[c.Scale:], "0") != "" {
				return Value{}, c.refuse(shorten(s), "has more than "+strconv.Itoa(c.Scale)+" digits behind the point")
			}
			n.fraction = kept
		}
		if len(n.whole) > c.Precision-c.Scale {
			return Value{}, c.refuse(shorten(s), "is out of range")
		}
	}
	return DecimalOf(n.text()), nil
}

func (c *Column) text(s string) (Value, error) {
	if c.Length > 0 && len(s) > c.Length {
		if !c.Runes {
			return Value{}, c.refuse(show(s), "is longer than "+strconv.Itoa(c.Length)+" bytes")
		}
		if utf8.RuneCountInString(s) > c.Length {
			return Value{}, c.refuse(show(s), "is longer than "+strconv.Itoa(c.Length)+" characters")
		}
	}
	if c.NoNUL && strings.IndexByte(s, 0) >= 0 {
		return Value{}, c.refuse(show(s), "has the character U+0000 in it")
	}
	return TextOf(s), nil
}

func (c *Column) bytes(s string) (Value, error) {
	if c.Length > 0 && len(s) > c.Length {
		return Value{}, c.refuse(strconv.Itoa(len(s))+" bytes", "are more than "+strconv.Itoa(c.Length))
	}
	return BytesOf(s), nil
}
