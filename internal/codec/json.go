package codec

import (
	"github.com/hikyaku/hikyaku/internal/message"
)

// jsonFormat checks JSON, makes it compact and converts the fields that have a type.
type jsonFormat struct {
	wanted
	parents map[string]bool // dotted names of the objects that hold a field of interest
}

func newJSON(w wanted) *jsonFormat {
	f := &jsonFormat{wanted: w, parents: map[string]bool{}}
	for name := range w.types {
		addParents(f.parents, name)
	}
	for name := range w.named {
		addParents(f.parents, name)
	}
	return f
}

// addParents adds a for a.b, and a and a.b for a.b.c.
func addParents(parents map[string]bool, name string) {
	for i := range len(name) {
		if name[i] == '.' {
			parents[name[:i]] = true
		}
	}
}

func (f *jsonFormat) decode(body []byte) ([]byte, []message.Attribute, error) {
	s := scanner{src: body, compact: true}
	visit := jsonVisit{format: f}
	fields := f.all || len(f.named)+len(f.types) > 0
	if fields {
		s.visitor = &visit
	}
	first, err := s.document()
	if err != nil {
		return nil, nil, err
	}
	if fields && first != '{' {
		return nil, nil, s.errorf(0, "take types and attributes out of the settings, or decode only objects",
			"a JSON %s has no fields", kindOf(first))
	}
	return s.result(), visit.attributes, nil
}

func kindOf(first byte) string {
	switch first {
	case '{':
		return "object"
	case '[':
		return "array"
	case '"':
		return "string"
	case 't', 'f':
		return "bool"
	case 'n':
		return "null"
	default:
		return "number"
	}
}

// jsonVisit is the visitor of one message.
type jsonVisit struct {
	format     *jsonFormat
	attributes []message.Attribute
}

func (v *jsonVisit) composite(s *scanner, _, start int) (bool, error) {
	path := s.path
	_, typed := v.format.types[string(path)]
	if typed || v.format.named[string(path)] {
		kind := kindOf(s.src[start])
		e := &Error{Codec: "json", Field: string(path), Offset: start, Message: "an " + kind + " is no scalar"}
		if kind == "object" {
			e.Hint = "name a field in it: " + string(path) + ".…"
		} else {
			e.Hint = "only strings, numbers, true, false and null can have a type or be attributes"
		}
		return false, e.at(s.src)
	}
	return v.format.parents[string(path)], nil
}

func (v *jsonVisit) scalar(s *scanner, depth, start, end int) error {
	t, typed := v.format.types[string(s.path)]
	listed := v.format.named[string(s.path)]
	// A name with dots in it can look like a path; all is about the record's own fields, whatever they are called.
	attribute := listed || v.format.all && depth == 1 && len(s.path) > 0
	if !typed && !attribute {
		return nil
	}
	token := s.src[start:end]
	var value message.Value
	if typed && token[0] != 'n' {
		text := string(token)
		if token[0] == '"' {
			text = unquote(token)
		}
		json, converted, m := t.convert(nil, text)
		if m != nil {
			return (&Error{Codec: "json", Field: string(s.path), Offset: start, Message: m.message,
				Hint: m.hint}).at(s.src)
		}
		if string(json) != string(token) {
			s.replace(start, end, json)
		}
		value = converted
	} else if attribute {
		var err error
		if value, err = scalarValue(token); err != nil {
			return (&Error{Codec: "json", Field: string(s.path), Offset: start, Message: err.Error(),
				Hint: "give it the type string, or do not make it an attribute"}).at(s.src)
		}
	}
	if attribute {
		v.attributes = append(v.attributes, message.Attribute{Name: string(s.path), Value: value})
	}
	return nil
}

// scalarValue makes an attribute's value of a scanned scalar.
func scalarValue(token []byte) (message.Value, error) {
	switch token[0] {
	case '"':
		return message.String(unquote(token)), nil
	case 't', 'f':
		return message.Bool(token[0] == 't'), nil
	case 'n':
		return message.Null(), nil
	default:
		return Number(string(token))
	}
}
