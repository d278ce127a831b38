package message

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// The names of the objects that stand for what JSON has no form for.
const (
	jsonBase64  = "base64"
	jsonTime    = "time"
	jsonDecimal = "decimal"
)

// AppendJSON appends v's JSON form to dst. Null, booleans, numbers and strings are themselves, and a float always shows
// that it is one (1.0, 1e21); bytes are {"base64":"…"}, times {"time":"…"} in RFC 3339, decimals {"decimal":"…"}. It
// fails for what has no form that reads back: a float that is no finite number, a time beyond the year 9999, a
// decimal whose text is none. dst is then returned as it was.
func (v Value) AppendJSON(dst []byte) ([]byte, error) {
	switch v.kind {
	case KindNull:
		return append(dst, "null"...), nil
	case KindFloat:
		f := v.AsFloat()
		if math.IsNaN(f) || math.IsInf(f, 0) {
			return dst, fmt.Errorf("the float %v has no JSON form", f)
		}
		return appendJSONFloat(dst, f), nil
	case KindString:
		return appendJSONString(dst, v.str), nil
	case KindBytes:
		dst = append(dst, `{"`+jsonBase64+`":"`...)
		dst = base64.StdEncoding.AppendEncode(dst, []byte(v.str))
		return append(dst, `"}`...), nil
	case KindTime:
		t := v.AsTime()
		if t.Year() < 0 || t.Year() > 9999 {
			return dst, fmt.Errorf("the time %s has no JSON form: only the years 0 to 9999 have", t.Format(TimeFormat))
		}
		dst = append(dst, `{"`+jsonTime+`":"`...)
		dst = t.AppendFormat(dst, TimeFormat)
		return append(dst, `"}`...), nil
	case KindDecimal:
		if !isPlainDecimal(v.str) {
			return dst, fmt.Errorf("the decimal %q is no decimal number", shorten(v.str))
		}
		dst = append(dst, `{"`+jsonDecimal+`":"`...)
		return append(append(dst, v.str...), `"}`...), nil
	default:
		return append(dst, v.Text()...), nil
	}
}

// MarshalJSON is AppendJSON for package json.
func (v Value) MarshalJSON() ([]byte, error) { return v.AppendJSON(nil) }

// UnmarshalJSON reads what AppendJSON writes. A number with a point or an exponent is a float; one without is an
// integer, or a decimal when it does not fit 64 bits. Arrays and other objects are refused.
func (v *Value) UnmarshalJSON(data []byte) error {
	d := newDecoder(data)
	x, err := readValue(d)
	if err == nil {
		err = atEnd(d)
	}
	if err != nil {
		return err
	}
	*v = x
	return nil
}

// AttributeError says which attribute of a JSON object cannot be one, and why.
type AttributeError struct {
	Name   string
	Reason error
}

func (e *AttributeError) Error() string {
	return fmt.Sprintf("attribute %q: %v", shorten(e.Name), e.Reason)
}

// Unwrap returns the reason.
func (e *AttributeError) Unwrap() error { return e.Reason }

// MarshalJSON writes the attributes as one object, ordered by name.
func (a Attributes) MarshalJSON() ([]byte, error) {
	b := []byte{'{'}
	for i := range a {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(appendJSONString(b, a[i].Name), ':')
		var err error
		if b, err = a[i].Value.AppendJSON(b); err != nil {
			return nil, &AttributeError{a[i].Name, err}
		}
	}
	return append(b, '}'), nil
}

// UnmarshalJSON reads an object of values, each name once; null is no attributes. The error is an *AttributeError when
// one attribute is at fault.
func (a *Attributes) UnmarshalJSON(data []byte) error {
	if !utf8.Valid(data) {
		return errors.New("the attributes are not valid UTF-8")
	}
	d := newDecoder(data)
	start, err := d.Token()
	if err != nil {
		return fmt.Errorf("attributes: %w", unexpectedEnd(err))
	}
	var result Attributes
	switch start {
	case nil:
	case json.Delim('{'):
		for d.More() {
			name, err := d.Token()
			if err != nil {
				return fmt.Errorf("attributes: %w", unexpectedEnd(err))
			}
			n, _ := name.(string)
			v, err := readValue(d)
			if err != nil {
				return &AttributeError{n, err}
			}
			result = append(result, Attribute{Name: n, Value: v})
		}
		if _, err := d.Token(); err != nil {
			return fmt.Errorf("attributes: %w", unexpectedEnd(err))
		}
	default:
		return errors.New("attributes are a JSON object")
	}
	if err := atEnd(d); err != nil {
		return err
	}
	slices.SortFunc(result, func(x, y Attribute) int { return strings.Compare(x.Name, y.Name) })
	for i := 1; i < len(result); i++ {
		if result[i].Name == result[i-1].Name {
			return &AttributeError{result[i].Name, errors.New("stands twice")}
		}
	}
	*a = result
	return nil
}

func newDecoder(data []byte) *json.Decoder {
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber()
	return d
}

// unexpectedEnd names an end that came too early.
func unexpectedEnd(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}

func atEnd(d *json.Decoder) error {
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return errors.New("something follows the JSON value")
	}
	return nil
}

func readValue(d *json.Decoder) (Value, error) {
	t, err := d.Token()
	if err != nil {
		return Value{}, unexpectedEnd(err)
	}
	switch t := t.(type) {
	case bool:
		return Bool(t), nil
	case string:
		return String(t), nil
	case json.Number:
		return numberValue(string(t))
	case json.Delim:
		if t == '{' {
			return readObject(d)
		}
		return Value{}, errors.New("an array cannot be a value")
	default:
		return Null(), nil
	}
}

func numberValue(s string) (Value, error) {
	if strings.ContainsAny(s, ".eE") {
		f, err := strconv.ParseFloat(s, 64)
		if err != nil {
			return Value{}, fmt.Errorf("the number %s is too large", shorten(s))
		}
		return Float(f), nil
	}
	if i, err := strconv.ParseInt(s, 10, 64); err == nil {
		return Int(i), nil
	}
	if u, err := strconv.ParseUint(s, 10, 64); err == nil {
		return Uint(u), nil
	}
	return Decimal(s), nil
}

var errObject = errors.New(`an object cannot be a value, but for {"base64":"…"}, {"time":"…"} and {"decimal":"…"}`)

// readObject reads the rest of an object of one name.
func readObject(d *json.Decoder) (Value, error) {
	var text [2]string
	for i := range text {
		t, err := d.Token()
		if err != nil {
			return Value{}, unexpectedEnd(err)
		}
		s, ok := t.(string)
		if !ok {
			return Value{}, errObject
		}
		text[i] = s
	}
	end, err := d.Token()
	if err != nil {
		return Value{}, unexpectedEnd(err)
	}
	if end != json.Delim('}') {
		return Value{}, errObject
	}
	switch name, s := text[0], text[1]; name {
	case jsonBase64:
		b, err := base64.StdEncoding.DecodeString(s)
		if err != nil {
			return Value{}, fmt.Errorf("%q is no base64", shorten(s))
		}
		return Bytes(b), nil
	case jsonTime:
		t, err := ParseTime(s)
		if err != nil {
			return Value{}, err
		}
		return Time(t), nil
	case jsonDecimal:
		if !isPlainDecimal(s) {
			return Value{}, fmt.Errorf("%q is no decimal number", shorten(s))
		}
		return Decimal(s), nil
	default:
		return Value{}, errObject
	}
}

// appendJSONFloat writes a finite float so that it cannot be taken for an integer.
func appendJSONFloat(dst []byte, f float64) []byte {
	start := len(dst)
	dst = strconv.AppendFloat(dst, f, 'g', -1, 64)
	if bytes.IndexByte(dst[start:], '.') < 0 && bytes.IndexByte(dst[start:], 'e') < 0 {
		dst = append(dst, ".0"...)
	}
	return dst
}

const hexDigits = "0123456789abcdef"

// appendJSONString writes s in quotes. Bytes that are no UTF-8 become U+FFFD: JSON has no way to say them.
func appendJSONString(dst []byte, s string) []byte {
	dst = append(dst, '"')
	for len(s) > 0 {
		plain := 0
		for plain < len(s) && s[plain] >= ' ' && s[plain] != '"' && s[plain] != '\\' && s[plain] < utf8.RuneSelf {
			plain++
		}
		dst = append(dst, s[:plain]...)
		if s = s[plain:]; s == "" {
			break
		}
		r, size := utf8.DecodeRuneInString(s)
		switch {
		case r == '"' || r == '\\':
			dst = append(dst, '\\', byte(r))
		case r == '\n':
			dst = append(dst, `\n`...)
		case r == '\t':
			dst = append(dst, `\t`...)
		case r < ' ':
			dst = append(dst, '\\', 'u', '0', '0', hexDigits[r>>4], hexDigits[r&15])
		default:
			dst = utf8.AppendRune(dst, r)
		}
		s = s[size:]
	}
	return append(dst, '"')
}
