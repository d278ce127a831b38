package message

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"time"
	"unicode/utf8"
)

// FromJSON makes a row of a JSON object whose names are columns (whatever their case, each once). A column that is
// missing gets its default, or null. Types are strict: numbers for number columns (decimals may also be strings),
// true and false for tinyint, base64 strings for binaries and blobs, RFC 3339 or "2006-01-02 15:04:05" strings for
// dates, any value for json. The error is a *ColumnError when one column is at fault.
func (cs Columns) FromJSON(body []byte) ([]Value, error) {
	if !utf8.Valid(body) {
		return nil, errors.New("the row is not valid UTF-8")
	}
	d := newDecoder(body)
	if start, err := d.Token(); err != nil || start != json.Delim('{') {
		return nil, errors.New("a row is a JSON object with the columns as its names")
	}
	row := make([]Value, len(cs))
	given := make([]bool, len(cs))
	for d.More() {
		t, err := d.Token()
		if err != nil {
			return nil, fmt.Errorf("the row is not valid JSON: %w", unexpectedEnd(err))
		}
		name, _ := t.(string)
		i, ok := cs.Lookup(name)
		switch {
		case !ok:
			return nil, &ColumnError{Column: name, Reason: "is not one of the queue's columns"}
		case given[i]:
			return nil, cs[i].errorf("stands twice in the row")
		}
		given[i] = true
		var raw json.RawMessage
		if err := d.Decode(&raw); err != nil {
			return nil, fmt.Errorf("the row is not valid JSON: %w", unexpectedEnd(err))
		}
		if row[i], err = cs[i].fromJSON(raw); err != nil {
			return nil, err
		}
	}
	if _, err := d.Token(); err != nil {
		return nil, fmt.Errorf("the row is not valid JSON: %w", unexpectedEnd(err))
	}
	if err := atEnd(d); err != nil {
		return nil, err
	}
	for i := range cs {
		if given[i] {
			continue
		}
		missing, err := cs[i].Missing(time.Now())
		if err != nil {
			return nil, err
		}
		row[i] = missing
	}
	return row, nil
}

// fromJSON converts one member of a row's object.
func (c Column) fromJSON(raw json.RawMessage) (Value, error) {
	if c.Type == TypeJSON {
		// The JSON null is the SQL one where that is allowed: so it comes back from AppendJSON.
		if string(raw) == "null" && !c.NotNull {
			return Null(), nil
		}
		return c.Convert(String(string(raw)))
	}
	d := newDecoder(raw)
	t, err := d.Token()
	if err != nil {
		return Value{}, c.errorf("is not valid JSON: %v", err)
	}
	switch t := t.(type) {
	case nil:
		return c.Convert(Null())
	case bool:
		if c.Type != TypeTinyInt {
			return Value{}, c.wrong(Bool(t))
		}
		return c.Convert(Bool(t))
	case json.Number:
		return c.fromNumber(string(t))
	case string:
		return c.fromString(t)
	default:
		return Value{}, c.errorf("is %s and cannot hold an array or object", c.SQLType())
	}
}

func (c Column) fromNumber(s string) (Value, error) {
	v := String(s)
	switch {
	case c.Type.IsInteger():
		// A fraction would be rounded by Convert: in JSON it is taken for a mistake.
		if r, ok := exact(v); ok && !r.IsInt() {
			return Value{}, c.errorf("is %s and the number %s is not whole", c.SQLType(), shorten(s))
		}
		if i, ok := new(big.Int).SetString(s, 10); ok && i.IsInt64() {
			v = Int(i.Int64())
		}
	case c.Type == TypeDecimal || c.Type == TypeFloat || c.Type == TypeDouble:
	default:
		return Value{}, c.errorf("is %s and cannot hold the number %s", c.SQLType(), shorten(s))
	}
	return c.Convert(v)
}

func (c Column) fromString(s string) (Value, error) {
	switch {
	case c.Type.IsInteger() || c.Type == TypeFloat || c.Type == TypeDouble:
		return Value{}, c.wrong(String(s))
	case c.Type.IsBytes():
		b, err := base64.StdEncoding.DecodeString(s)
		if err != nil {
			return Value{}, c.errorf("is %s and the value %q is no base64", c.SQLType(), shorten(s))
		}
		return c.Convert(Bytes(b))
	default:
		return c.Convert(String(s))
	}
}

// AppendJSON appends the row as one JSON object in the columns' order, as FromJSON reads it. The row must be one that
// Convert or FromJSON made: it holds a value of the right kind for each column.
func (cs Columns) AppendJSON(dst []byte, row []Value) []byte {
	dst = append(dst, '{')
	for i := range cs {
		if i >= len(row) {
			break
		}
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = append(appendJSONString(dst, cs[i].Name), ':')
		dst = cs[i].appendJSON(dst, row[i])
	}
	return append(dst, '}')
}

func (c Column) appendJSON(dst []byte, v Value) []byte {
	switch v.Kind() {
	case KindNull:
		return append(dst, "null"...)
	case KindFloat:
		return appendJSONFloat(dst, v.AsFloat())
	case KindString:
		if c.Type == TypeJSON {
			return append(dst, v.AsString()...)
		}
		return appendJSONString(dst, v.AsString())
	case KindBytes:
		dst = append(dst, '"')
		dst = base64.StdEncoding.AppendEncode(dst, []byte(v.AsString()))
		return append(dst, '"')
	case KindTime:
		layout := `"` + TimeFormat + `"`
		if c.Type == TypeDate {
			layout = `"2006-01-02"`
		}
		return v.AsTime().AppendFormat(dst, layout)
	default:
		return append(dst, v.Text()...)
	}
}
