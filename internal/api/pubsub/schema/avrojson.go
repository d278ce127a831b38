package schema

import (
	"encoding/json"
	"slices"
	"strconv"
	"unicode/utf8"

	"github.com/hamba/avro/v2"
)

func (t *avroType) validateJSON(data []byte) *MessageError {
	if !utf8.Valid(data) {
		return wrong("it is not valid UTF-8")
	}
	value, err := decodeJSON(data)
	if err != nil {
		return wrong("it is no JSON: %v", err)
	}
	return t.checkJSON(value, 0)
}

// checkJSON checks a value that was decoded from JSON.
func (t *avroType) checkJSON(value any, nested int) *MessageError {
	if nested > MaxNesting {
		return wrong("it is nested deeper than %d levels", MaxNesting)
	}
	switch t.kind {
	case avro.Null:
		if value != nil {
			return t.mismatch(value)
		}
	case avro.Boolean:
		if _, ok := value.(bool); !ok {
			return t.mismatch(value)
		}
	case avro.Int, avro.Long, avro.Float, avro.Double:
		return t.checkNumber(value)
	case avro.String:
		if _, ok := value.(string); !ok {
			return t.mismatch(value)
		}
	case avro.Bytes, avro.Fixed:
		return t.checkBytes(value)
	case avro.Enum:
		s, ok := value.(string)
		if !ok {
			return t.mismatch(value)
		}
		if _, ok := t.symbols[s]; !ok {
			return wrong("%q is no symbol of the enum %s", shorten(s), t.name)
		}
	case avro.Array:
		return t.checkArray(value, nested)
	case avro.Map:
		return t.checkMap(value, nested)
	case avro.Union:
		return t.checkUnion(value, nested)
	case avro.Record:
		return t.checkRecord(value, nested)
	}
	return nil
}

// mismatch is the error for a value of another type.
func (t *avroType) mismatch(value any) *MessageError {
	return wrong("%s is wanted here, not %s", t.title(), jsonTitle(value))
}

// title is the type with its article, for messages.
func (t *avroType) title() string {
	switch t.kind {
	case avro.Null:
		return "null"
	case avro.Int, avro.Array:
		return "an " + string(t.kind)
	case avro.Enum:
		return "an enum " + t.name
	case avro.Record, avro.Fixed:
		return "a " + string(t.kind) + " " + t.name
	case avro.Bytes:
		return "a string of bytes"
	default:
		return "a " + string(t.kind)
	}
}

func jsonTitle(value any) string {
	switch v := value.(type) {
	case nil:
		return "null"
	case bool:
		return strconv.FormatBool(v)
	case json.Number:
		return "the number " + shorten(v.String())
	case string:
		return "the string " + strconv.Quote(shorten(v))
	case []any:
		return "a list"
	default:
		return "an object"
	}
}

func (t *avroType) checkNumber(value any) *MessageError {
	n, ok := value.(json.Number)
	if !ok {
		return t.mismatch(value)
	}
	var err error
	switch t.kind {
	case avro.Int:
		_, err = strconv.ParseInt(n.String(), 10, 32)
	case avro.Long:
		_, err = strconv.ParseInt(n.String(), 10, 64)
	case avro.Float:
		_, err = strconv.ParseFloat(n.String(), 32)
	default:
		_, err = strconv.ParseFloat(n.String(), 64)
	}
	if err != nil {
		return t.mismatch(value)
	}
	return nil
}

// checkBytes checks bytes in a string: each character is one of them.
func (t *avroType) checkBytes(value any) *MessageError {
	s, ok := value.(string)
	if !ok {
		return t.mismatch(value)
	}
	n := 0
	for _, r := range s {
		if r > 0xff {
			return wrong("%q stands for no byte; the characters are U+0000 to U+00FF", r)
		}
		n++
	}
	if t.kind == avro.Fixed && n != t.size {
		return wrong("%s has %d bytes, not %d", t.name, t.size, n)
	}
	return nil
}

func (t *avroType) checkArray(value any, nested int) *MessageError {
	list, ok := value.([]any)
	if !ok {
		return t.mismatch(value)
	}
	for i, v := range list {
		if err := t.items.checkJSON(v, nested+1); err != nil {
			return err.at(int64(i))
		}
	}
	return nil
}

func (t *avroType) checkMap(value any, nested int) *MessageError {
	object, ok := value.(map[string]any)
	if !ok {
		return t.mismatch(value)
	}
	for name, v := range object {
		if err := t.items.checkJSON(v, nested+1); err != nil {
			return err.in(shorten(name))
		}
	}
	return nil
}

// checkUnion checks null, or an object of one member that is named as the branch.
func (t *avroType) checkUnion(value any, nested int) *MessageError {
	if value == nil {
		if _, ok := t.branch[string(avro.Null)]; !ok {
			return wrong("null is no branch of the union")
		}
		return nil
	}
	object, ok := value.(map[string]any)
	if !ok || len(object) != 1 {
		return wrong("a value of a union is an object with the name of its branch, as in {%q: …}, not %s", t.example(),
			jsonTitle(value))
	}
	for name, v := range object {
		i, ok := t.branch[name]
		if !ok || name == string(avro.Null) {
			return wrong("%q is no branch of the union", shorten(name))
		}
		return t.options[i].checkJSON(v, nested+1).in(name)
	}
	return nil
}

// example is the name of one of the union's branches.
func (t *avroType) example() string {
	for _, o := range t.options {
		if o.kind != avro.Null {
			return o.name
		}
	}
	return "type"
}

func (t *avroType) checkRecord(value any, nested int) *MessageError {
	object, ok := value.(map[string]any)
	if !ok {
		return t.mismatch(value)
	}
	for _, f := range t.fields {
		v, ok := object[f.name]
		if !ok {
			return wrong("the field is missing").in(f.name)
		}
		if err := f.of.checkJSON(v, nested+1); err != nil {
			return err.in(f.name)
		}
	}
	if len(object) == len(t.fields) {
		return nil
	}
	var unknown []string
	for name := range object {
		if _, ok := t.byName[name]; !ok {
			unknown = append(unknown, name)
		}
	}
	return wrong("%s has no such field", t.name).in(shorten(slices.Min(unknown)))
}
