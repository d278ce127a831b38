package fetch

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/hikyaku/hikyaku/internal/message"
)

// Row is one answer: named values as JSON, in the order in which they came.
type Row []Field

// Field is one value of a Row.
type Field struct {
	Name string
	JSON json.RawMessage // valid, compact JSON
}

// Get returns the JSON of a field. Names are matched as they are written, or else whatever the case of their letters,
// as databases do.
func (r Row) Get(name string) (json.RawMessage, bool) {
	for i := range r {
		if r[i].Name == name {
			return r[i].JSON, true
		}
	}
	for i := range r {
		if strings.EqualFold(r[i].Name, name) {
			return r[i].JSON, true
		}
	}
	return nil, false
}

// Names lists the fields, for errors.
func (r Row) Names() string {
	names := make([]string, len(r))
	for i := range r {
		names[i] = r[i].Name
	}
	return strings.Join(names, ", ")
}

// AppendJSON appends the row as an object.
func (r Row) AppendJSON(dst []byte) []byte {
	dst = append(dst, '{')
	for i := range r {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = appendQuoted(dst, r[i].Name)
		dst = append(dst, ':')
		dst = append(dst, r[i].JSON...)
	}
	return append(dst, '}')
}

// ParseObject reads a JSON object as a row, in its order. Of a name that is there twice the last one counts.
func ParseObject(text []byte) (Row, error) {
	d := json.NewDecoder(bytes.NewReader(text))
	t, err := d.Token()
	if err != nil {
		return nil, notJSON(err)
	}
	if t != json.Delim('{') {
		return nil, errors.New("is not a JSON object")
	}
	var r Row
	for d.More() {
		t, err := d.Token()
		if err != nil {
			return nil, notJSON(err)
		}
		name, _ := t.(string)
		var value json.RawMessage
		if err := d.Decode(&value); err != nil {
			return nil, notJSON(err)
		}
		r = r.Set(name, value)
	}
	if _, err := d.Token(); err != nil {
		return nil, notJSON(err)
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("has something behind its JSON object")
	}
	return r, nil
}

func notJSON(err error) error {
	if errors.Is(err, io.EOF) {
		err = io.ErrUnexpectedEOF
	}
	return fmt.Errorf("is not JSON: %w", err)
}

// Set replaces a field, or adds it behind the others.
func (r Row) Set(name string, value json.RawMessage) Row {
	for i := range r {
		if r[i].Name == name {
			r[i].JSON = value
			return r
		}
	}
	return append(r, Field{name, value})
}

// Without returns the row without a field.
func (r Row) Without(name string) Row {
	for i := range r {
		if r[i].Name == name {
			return append(r[:i:i], r[i+1:]...)
		}
	}
	return r
}

// Compact makes valid JSON compact; text that is compact already is returned as it is.
func Compact(text json.RawMessage) json.RawMessage {
	var b bytes.Buffer
	if err := json.Compact(&b, text); err != nil || b.Len() == len(text) {
		return text
	}
	return b.Bytes()
}

func appendQuoted(dst []byte, text string) []byte {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(text); err != nil { // a string always can be
		return append(dst, `""`...)
	}
	return append(dst, bytes.TrimSuffix(b.Bytes(), []byte("\n"))...)
}

// Scalar makes a value of a JSON scalar: a string, an integer of any size, a number with all its digits, a bool or
// null. ok is false for an object or array.
func Scalar(text json.RawMessage) (v message.Value, ok bool) {
	text = bytes.TrimSpace(text)
	if len(text) == 0 {
		return v, false
	}
	switch text[0] {
	case '"':
		var s string
		if err := json.Unmarshal(text, &s); err != nil {
			return v, false
		}
		return message.String(s), true
	case 't', 'f':
		return message.Bool(text[0] == 't'), true
	case 'n':
		return message.Null(), true
	case '{', '[':
		return v, false
	}
	return number(string(text)), true
}

// number reads the text of a JSON number.
func number(text string) message.Value {
	var i int64
	if err := json.Unmarshal([]byte(text), &i); err == nil {
		return message.Int(i)
	}
	var u uint64
	if err := json.Unmarshal([]byte(text), &u); err == nil {
		return message.Uint(u)
	}
	if !strings.ContainsAny(text, "eE") {
		return message.Decimal(text)
	}
	var f float64
	if err := json.Unmarshal([]byte(text), &f); err == nil {
		return message.Float(f)
	}
	return message.String(text)
}

// AppendValue appends a value as JSON.
func AppendValue(dst []byte, v message.Value) []byte {
	switch v.Kind() {
	case message.KindNull:
		return append(dst, "null"...)
	case message.KindBool, message.KindInt, message.KindUint:
		return append(dst, v.Text()...)
	case message.KindFloat, message.KindDecimal:
		if t := v.Text(); json.Valid([]byte(t)) {
			return append(dst, t...)
		}
	}
	return appendQuoted(dst, v.Text())
}
