package rows

import (
	"encoding/base64"
	"math"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/hikyaku/hikyaku/internal/message"
	"github.com/hikyaku/hikyaku/internal/message/jsontext"
)

// ofAttribute converts an attribute's value to the column's kind.
func (c *Column) ofAttribute(v message.Value) (Value, error) {
	switch v.Kind() {
	case message.KindNull:
		return c.ofNull()
	case message.KindBool:
		return c.ofBool(v.AsBool())
	case message.KindFloat:
		if f := v.AsFloat(); math.IsNaN(f) || math.IsInf(f, 0) || c.Kind == Text {
			return c.ofText(v.Text())
		}
		return c.ofNumber(v.Text())
	case message.KindInt, message.KindUint, message.KindDecimal:
		return c.ofNumber(v.Text())
	case message.KindTime:
		return c.ofTime(v.AsTime())
	case message.KindBytes:
		return c.ofBytes(v.AsString())
	}
	return c.ofString(v.AsString())
}

// ofString converts a text from outside of JSON, which may not be UTF-8, and may be JSON itself.
func (c *Column) ofString(s string) (Value, error) {
	if !utf8.ValidString(s) {
		return Value{}, c.refuse(show(s), "is no valid UTF-8")
	}
	if c.Kind == JSON && isJSON(s) {
		return JSONOf(s), nil
	}
	return c.ofText(s)
}

// ofBytes converts bytes that are no text.
func (c *Column) ofBytes(s string) (Value, error) {
	switch {
	case c.Kind == Bytes:
		return c.bytes(s)
	case c.Kind == UUID && len(s) == 16:
		return UUIDOf([16]byte([]byte(s))), nil
	}
	return c.ofString(s)
}

// ofTime converts an instant.
func (c *Column) ofTime(t time.Time) (Value, error) {
	switch c.Kind {
	case Text:
		return c.text(t.UTC().Format(time.RFC3339Nano))
	case JSON:
		return JSONOf(`"` + t.UTC().Format(time.RFC3339Nano) + `"`), nil
	}
	seconds := t.Unix()
	days := seconds / daySeconds
	if seconds%daySeconds < 0 {
		days--
	}
	k := clock{days: days, seconds: seconds - days*daySeconds, nanos: int32(t.Nanosecond()), dated: true, timed: true}
	return c.ofClock(k, t.UTC().Format(time.RFC3339Nano))
}

// isJSON tells whether a text is one JSON value.
func isJSON(text string) bool {
	s := scanner{src: text}
	s.space()
	if _, err := s.value(0); err != nil {
		return false
	}
	s.space()
	return s.pos == len(s.src)
}

// appendAttributes writes attributes as one JSON object: bytes are base64, times RFC 3339, NaN and infinities texts.
func appendAttributes(dst []byte, as message.Attributes) []byte {
	dst = append(dst, '{')
	for i, a := range as {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = append(jsontext.AppendQuoted(dst, strings.ToValidUTF8(a.Name, "\uFFFD")), ':')
		v := a.Value
		switch v.Kind() {
		case message.KindNull:
			dst = append(dst, "null"...)
		case message.KindBool:
			dst = strconv.AppendBool(dst, v.AsBool())
		case message.KindInt, message.KindUint, message.KindDecimal:
			dst = append(dst, v.Text()...)
		case message.KindFloat:
			if f := v.AsFloat(); !math.IsNaN(f) && !math.IsInf(f, 0) {
				dst = strconv.AppendFloat(dst, f, 'g', -1, 64)
				break
			}
			dst = jsontext.AppendQuoted(dst, v.Text())
		case message.KindBytes:
			dst = append(dst, '"')
			dst = base64.StdEncoding.AppendEncode(dst, []byte(v.AsString()))
			dst = append(dst, '"')
		default:
			dst = jsontext.AppendQuoted(dst, strings.ToValidUTF8(v.Text(), "\uFFFD"))
		}
	}
	return append(dst, '}')
}
