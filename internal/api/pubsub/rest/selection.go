package rest

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
)

// selection is which fields of an answer are wanted: names in JSON, each with which of its own; an empty one wants all.
// "*" is every name. It is written topics(name,labels),nextPageToken or topics/name or topics.name; names may be those
// of Protocol Buffers (next_page_token).
type selection map[string]selection

const (
	maxSelection = 4 << 10 // bytes
	maxDepth     = 32      // of parentheses and separators
)

var errSelection = errors.New("fields cannot be read: names are expected, as in topics(name,labels),nextPageToken")

func parseSelection(text string) (selection, error) {
	if len(text) > maxSelection {
		return nil, fmt.Errorf("fields has %d bytes: %d at most are possible", len(text), maxSelection)
	}
	p := selectionParser{rest: text}
	s := selection{}
	if err := p.list(s, 0); err != nil {
		return nil, err
	}
	if p.rest != "" {
		return nil, errSelection
	}
	return s, nil
}

type selectionParser struct{ rest string }

// list reads paths with commas between them.
func (p *selectionParser) list(into selection, depth int) error {
	for {
		if err := p.path(into, depth); err != nil {
			return err
		}
		if !p.skip(",") {
			return nil
		}
	}
}

// path reads a name and what is wanted of it.
func (p *selectionParser) path(into selection, depth int) error {
	end := strings.IndexAny(p.rest, ",/.()")
	if end < 0 {
		end = len(p.rest)
	}
	name := camel(strings.TrimSpace(p.rest[:end]))
	p.rest = p.rest[end:]
	if name == "" || depth > maxDepth {
		return errSelection
	}
	of, named := into[name]
	whole := named && len(of) == 0
	if of == nil {
		of = selection{}
		into[name] = of
	}
	inner := selection{}
	var err error
	switch {
	case p.skip("/"), p.skip("."):
		err = p.path(inner, depth+1)
	case p.skip("("):
		if err = p.list(inner, depth+1); err == nil && !p.skip(")") {
			err = errSelection
		}
	default:
		clear(of) // all of it
		return nil
	}
	if err == nil && !whole {
		of.add(inner)
	}
	return err
}

// add wants what other wants, too. An empty one that is already there wants all.
func (s selection) add(other selection) {
	for name, theirs := range other {
		ours, ok := s[name]
		switch {
		case !ok:
			s[name] = theirs
		case len(ours) == 0 || len(theirs) == 0:
			s[name] = selection{}
		default:
			ours.add(theirs)
		}
	}
}

func (p *selectionParser) skip(what string) bool {
	rest, ok := strings.CutPrefix(p.rest, what)
	p.rest = rest
	return ok
}

// camel is a name of Protocol Buffers as JSON has it.
func camel(name string) string {
	parts := strings.Split(name, "_")
	for i, part := range parts[1:] {
		if part != "" {
			parts[i+1] = strings.ToUpper(part[:1]) + part[1:]
		}
	}
	return strings.Join(parts, "")
}

// of is what is wanted of a value.
func (s selection) of(v any) any {
	if len(s) == 0 {
		return v
	}
	switch v := v.(type) {
	case []any:
		for i := range v {
			v[i] = s.of(v[i])
		}
	case map[string]any:
		for name, field := range v {
			inner, ok := s[name]
			if !ok {
				inner, ok = s["*"]
			}
			if !ok {
				delete(v, name)
				continue
			}
			v[name] = inner.of(field)
		}
	}
	return v
}

// shape makes an answer as its client wants it.
func (w *wishes) shape(body []byte) ([]byte, error) {
	var out bytes.Buffer
	if w.fields != nil {
		d := json.NewDecoder(bytes.NewReader(body))
		d.UseNumber()
		var v any
		if err := d.Decode(&v); err != nil {
			return nil, err
		}
		e := json.NewEncoder(&out)
		e.SetEscapeHTML(false)
		if err := e.Encode(w.fields.of(v)); err != nil {
			return nil, err
		}
		body = bytes.Clone(out.Bytes())
		out.Reset()
	}
	if !w.pretty {
		return body, nil
	}
	if err := json.Indent(&out, body, "", "  "); err != nil {
		return nil, err
	}
	out.WriteByte('\n')
	return out.Bytes(), nil
}
