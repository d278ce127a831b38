package rows

import (
	"encoding/base64"
	"encoding/hex"
	"math"
	"strings"
	"time"

	"github.com/hikyaku/hikyaku/internal/message/jsontext"
)

// ofText converts what a string says, which is valid UTF-8.
func (c *Column) ofText(s string) (Value, error) {
	switch c.Kind {
	case Text:
		return c.text(s)
	case JSON:
		return JSONOf(string(jsontext.AppendQuoted(nil, s))), nil
	case Bytes:
		return c.base64(s)
	}
	trimmed := strings.Trim(s, " ")
	switch c.Kind {
	case Bool:
		switch strings.ToLower(trimmed) {
		case "true", "t", "1":
			return BoolOf(true), nil
		case "false", "f", "0":
			return BoolOf(false), nil
		}
	case Int, Uint:
		if i, ok := smallInteger(trimmed); ok && c.Kind == Int && c.holds(i) {
			return IntOf(i), nil
		}
		if trimmed != "" {
			return c.integer(trimmed)
		}
	case Decimal:
		if trimmed != "" {
			return c.decimal(trimmed)
		}
	case Float:
		return c.floatText(s, trimmed)
	case UUID:
		if u, ok := parseUUID(trimmed); ok {
			return UUIDOf(u), nil
		}
	default:
		return c.moment(s, trimmed)
	}
	return Value{}, c.refuse(show(s), c.noSuch())
}

// floatText reads numbers in decimal digits, and the words for those that are none.
func (c *Column) floatText(s, trimmed string) (Value, error) {
	if f, ok := shortFloat(trimmed); ok && c.Bits != 32 {
		return FloatOf(f), nil
	}
	for i := range len(trimmed) {
		switch b := trimmed[i]; {
		case b-'0' <= 9, b == '.', b == '-', b == '+', b|0x20 == 'e':
			continue
		}
		return c.specialFloat(s, trimmed)
	}
	return c.longFloat(trimmed)
}

func (c *Column) specialFloat(s, trimmed string) (Value, error) {
	word, sign := strings.ToLower(trimmed), 1
	if word[0] == '-' || word[0] == '+' {
		if word[0] == '-' {
			sign = -1
		}
		word = word[1:]
	}
	var f float64
	switch word {
	case "nan":
		f = math.NaN()
	case "inf", "infinity":
		f = math.Inf(sign)
	default:
		return Value{}, c.refuse(show(s), c.noSuch())
	}
	if c.NoNaN && math.IsNaN(f) || c.NoInf && math.IsInf(f, 0) {
		return Value{}, c.refuse(show(s), "is not taken")
	}
	return FloatOf(f), nil
}

// base64 reads both alphabets, with padding and without.
func (c *Column) base64(s string) (Value, error) {
	standard := strings.NewReplacer("-", "+", "_", "/").Replace(strings.TrimRight(s, "="))
	b, err := base64.RawStdEncoding.Strict().DecodeString(standard)
	if err != nil || strings.ContainsAny(s, "\r\n") {
		return Value{}, c.refuse(show(s), "is no base64, in which bytes are written")
	}
	return c.bytes(string(b))
}

func parseUUID(s string) (u [16]byte, ok bool) {
	var digits [32]byte
	switch len(s) {
	case 36:
		if s[8] != '-' || s[13] != '-' || s[18] != '-' || s[23] != '-' {
			return u, false
		}
		copy(digits[:8], s)
		copy(digits[8:], s[9:13])
		copy(digits[12:], s[14:18])
		copy(digits[16:], s[19:23])
		copy(digits[20:], s[24:])
	case 32:
		copy(digits[:], s)
	default:
		return u, false
	}
	_, err := hex.Decode(u[:], digits[:])
	return u, err == nil
}

// moment converts texts of dates and times.
func (c *Column) moment(s, trimmed string) (Value, error) {
	k, ok := parseClock(trimmed)
	if !ok {
		return Value{}, c.refuse(show(s), c.noSuch()+": write it as "+example(c.Kind))
	}
	return c.ofClock(k, show(s))
}

func example(k Kind) string {
	switch k {
	case Date:
		return "2006-01-02"
	case TimeOfDay:
		return "15:04:05"
	}
	return "2006-01-02T15:04:05Z or 2006-01-02 15:04:05"
}

func (c *Column) ofClock(k clock, shown string) (Value, error) {
	switch c.Kind {
	case Date:
		switch {
		case !k.dated:
			return Value{}, c.refuse(shown, "has no date")
		case k.seconds != 0 || k.nanos != 0 || k.offset != 0:
			return Value{}, c.refuse(shown, "has a time of day, which would be lost")
		}
		return DateOf(k.days), nil
	case TimeOfDay:
		if k.dated || !k.timed {
			return Value{}, c.refuse(shown, "is no time of day")
		}
		return TimeOfDayOf(k.seconds*int64(time.Second) + int64(cut(k.nanos, c.Scale))), nil
	case Timestamp, TimestampTZ:
		if !k.dated {
			return Value{}, c.refuse(shown, "has no date")
		}
		v := TimestampOf(k.instant(), cut(k.nanos, c.Scale))
		v.kind = c.Kind
		return v, nil
	}
	return Value{}, c.refuse(shown, c.noSuch())
}
