package codec

import (
	"github.com/hikyaku/hikyaku/internal/message"
	"github.com/hikyaku/hikyaku/internal/message/jsontext"
)

// wanted is what a Config says of fields by name.
type wanted struct {
	types map[string]fieldType
	all   bool            // every scalar field of the record becomes an attribute
	named map[string]bool // these do
}

func newWanted(c *Config) (wanted, error) {
	types, err := c.types()
	if err != nil {
		return wanted{}, err
	}
	all, names, err := c.attributes()
	if err != nil {
		return wanted{}, err
	}
	w := wanted{types: types, all: all, named: make(map[string]bool, len(names))}
	for _, n := range names {
		w.named[n] = true
	}
	return w, nil
}

// field is a named field with everything about it that does not change from record to record.
type field struct {
	name      string
	quoted    []byte // the name in JSON, with its colon; nil: made when it is needed
	fieldType fieldType
	attribute bool
}

// column is a field that every record has.
func (w *wanted) column(name string) field {
	f := w.field(name)
	f.quoted = append(jsontext.AppendQuoted(nil, name), ':')
	return f
}

func (w *wanted) field(name string) field {
	return field{
		name:      name,
		fieldType: w.types[name],
		attribute: name != "" && (w.all || w.named[name]),
	}
}

// record gathers the fields of a flat record: its JSON object and its attributes.
type record struct {
	codec      string
	source     []byte // the body, for the places of errors
	json       []byte // what was there before, and the object
	empty      int    // the length of json without a field
	attributes []message.Attribute
}

func newRecord(codec string, source []byte, fields int) *record {
	return newRecordIn(make([]byte, 0, roomFor(source, fields)), codec, source)
}

// newRecordIn is a record whose JSON stands behind what dst has.
func newRecordIn(dst []byte, codec string, source []byte) *record {
	return &record{codec: codec, source: source, json: append(dst, '{'), empty: len(dst) + 1}
}

// roomFor is about how long the JSON of a record is.
func roomFor(source []byte, fields int) int { return len(source) + 16*fields + 2 }

func (r *record) name(f *field) {
	if len(r.json) > r.empty {
		r.json = append(r.json, ',')
	}
	if f.quoted != nil {
		r.json = append(r.json, f.quoted...)
		return
	}
	r.json = append(jsontext.AppendQuoted(r.json, f.name), ':')
}

// add takes a field's text, which stands at offset in the body.
func (r *record) add(f *field, text string, offset int) error {
	r.name(f)
	json, v, m := f.fieldType.convert(r.json, text)
	if m != nil {
		return (&Error{Codec: r.codec, Field: f.name, Offset: offset, Message: m.message, Hint: m.hint}).at(r.source)
	}
	r.json = json
	r.attribute(f, v)
	return nil
}

// literal takes a value that is true or null whatever the field's type.
func (r *record) literal(f *field, json string, v message.Value) {
	r.name(f)
	r.json = append(r.json, json...)
	r.attribute(f, v)
}

func (r *record) attribute(f *field, v message.Value) {
	if f.attribute {
		r.attributes = append(r.attributes, message.Attribute{Name: f.name, Value: v})
	}
}

func (r *record) done() ([]byte, []message.Attribute, error) {
	return append(r.json, '}'), r.attributes, nil
}
