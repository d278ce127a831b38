package lookup

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/hikyaku/hikyaku/internal/fetch"
	"github.com/hikyaku/hikyaku/internal/message"
)

// found is what there is for a key. It is never changed.
type found struct {
	json       json.RawMessage
	row        fetch.Row // of an object; nil for anything else
	attributes []message.Attribute
}

// newFound makes one of rows. Errors are the key's own.
func (c *Config) newFound(rows []fetch.Row) (*found, error) {
	if c.Many {
		list := []byte{'['}
		for i, r := range rows {
			if i > 0 {
				list = append(list, ',')
			}
			list = r.AppendJSON(list)
		}
		return &found{json: append(list, ']')}, nil
	}
	if len(rows) != 1 {
		return nil, fmt.Errorf("%d rows were found where one is expected (set many: true for a list)", len(rows))
	}
	return c.ofRow(rows[0])
}

func (c *Config) ofRow(row fetch.Row) (*found, error) {
	f := &found{json: row.AppendJSON(nil), row: row}
	if f.row == nil {
		f.row = fetch.Row{}
	}
	for _, name := range c.Attributes {
		text, ok := row.Get(name)
		if !ok {
			return nil, fmt.Errorf("what was found has no %s for the attribute; it has %s", name, row.Names())
		}
		v, ok := fetch.Scalar(text)
		if !ok {
			return nil, fmt.Errorf("%s of what was found is a list or object, and no attribute", name)
		}
		f.attributes = append(f.attributes, message.Attribute{Name: name, Value: v})
	}
	return f, nil
}

// ofJSON makes one of any JSON.
func (c *Config) ofJSON(text json.RawMessage) (*found, error) {
	if row, err := fetch.ParseObject(text); err == nil && !c.Many {
		return c.ofRow(row)
	}
	switch {
	case c.Many && (len(text) == 0 || text[0] != '['):
		return nil, errors.New("what was found is no list (many)")
	case c.Merge:
		return nil, errors.New("what was found is no object, and cannot be merged into the body")
	case len(c.Attributes) > 0:
		return nil, errors.New("what was found is no object, and has no fields for attributes")
	}
	return &found{json: fetch.Compact(text)}, nil
}

// standIn is what is taken for found when nothing is.
func standIn(c *Config) (*found, error) {
	if c.OnMissing == missingPass {
		return &found{json: json.RawMessage("null")}, nil
	}
	text, err := json.Marshal(c.Default)
	if err != nil {
		return nil, err
	}
	return c.ofJSON(text)
}

// fill makes the message with what was found.
func (t *Lookup) fill(m *message.Message, f *found) (*message.Message, error) {
	body, err := fetch.ParseObject(m.Body)
	if err != nil {
		return nil, fmt.Errorf("lookup puts what it finds into a JSON object, and the body %w", err)
	}
	switch {
	case !t.config.Merge:
		body = body.Set(t.config.Into, f.json)
	default:
		for _, field := range f.row {
			body = body.Set(field.Name, field.JSON)
		}
	}
	out := m.Clone()
	out.Row = nil // the columns that the old body stood for
	out.Body = body.AppendJSON(make([]byte, 0, len(m.Body)+len(f.json)+len(t.config.Into)+8))
	for _, a := range f.attributes {
		out.Attributes.Set(a.Name, a.Value)
	}
	return out, nil
}

// encodeKey makes a loader's key of a question's parameters: a JSON array.
func encodeKey(values []message.Value) string {
	b := []byte{'['}
	for i, v := range values {
		if i > 0 {
			b = append(b, ',')
		}
		b = fetch.AppendValue(b, v)
	}
	return string(append(b, ']'))
}

// decodeKey reads what encodeKey wrote.
func decodeKey(key string) []message.Value {
	var list []json.RawMessage
	if err := json.Unmarshal([]byte(key), &list); err != nil {
		return nil
	}
	values := make([]message.Value, len(list))
	for i, text := range list {
		values[i], _ = fetch.Scalar(text)
	}
	return values
}

// describe names a key for a person.
func (t *Lookup) describe(key string) string {
	names := t.source.names()
	var parts []string
	for i, v := range decodeKey(key) {
		name := names[i]
		if i == t.keyAt {
			name = t.config.Key
		}
		parts = append(parts, name+" "+v.Text())
	}
	return strings.Join(parts, ", ")
}
