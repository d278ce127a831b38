package shape

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Invalid says what of a request is not as the model has it.
type Invalid struct{ Problems []string }

// Error is in the service's words.
func (e *Invalid) Error() string {
	if len(e.Problems) == 1 {
		return "1 validation error detected: " + e.Problems[0]
	}
	return strconv.Itoa(len(e.Problems)) + " validation errors detected: " + strings.Join(e.Problems, "; ")
}

// TypeError says that a request has a value of another type than the model, or is no JSON.
type TypeError struct{ text string }

func (e *TypeError) Error() string { return e.text }

// Problems gathers what is wrong with a request. The zero value has none.
type Problems struct {
	all []string
	err error
}

// most is how many problems of one request are told.
const most = 50

// Err is nil, a *TypeError or an *Invalid.
func (p *Problems) Err() error {
	switch {
	case p.err != nil:
		return p.err
	case len(p.all) > 0:
		return &Invalid{p.all}
	}
	return nil
}

// Text checks a text that came beside the body; at is its name in the model.
func (p *Problems) Text(s *Shape, name, value string) {
	if s.kind == integer {
		p.Number(s, name, value)
		return
	}
	for _, constraint := range s.broken(value) {
		p.add(quoted(value), member("", name), constraint)
	}
}

// Number is Text for whole numbers.
func (p *Problems) Number(s *Shape, name, value string) {
	if _, err := strconv.ParseInt(value, 10, 32); err != nil {
		p.fail("STRING_VALUE can not be converted to %s", names[s.kind])
		return
	}
	p.number(s, []byte(value), member("", name))
}

// Missing complains of something that has to be there.
func (p *Problems) Missing(name string) { p.add("null", member("", name), notNullText) }

// Check checks a body, which is to be a structure. An empty one has no members.
func (p *Problems) Check(s *Shape, body []byte) {
	if body = bytes.TrimSpace(body); len(body) == 0 {
		body = []byte("{}")
	}
	if !json.Valid(body) {
		p.fail("The body of the request is no JSON: %v", json.Unmarshal(body, new(any)))
		return
	}
	p.value(s, body, "")
}

func (p *Problems) fail(format string, args ...any) {
	if p.err == nil {
		p.err = &TypeError{fmt.Sprintf(format, args...)}
	}
}

func (p *Problems) add(value, at, constraint string) {
	if len(p.all) < most {
		p.all = append(p.all, "Value "+value+" at '"+at+"' failed to satisfy constraint: "+constraint)
	}
}

// value checks one that is no null.
func (p *Problems) value(s *Shape, raw json.RawMessage, at string) {
	raw = bytes.TrimSpace(raw)
	if s.kind == anything {
		return
	}
	if len(raw) == 0 || !s.fits(raw[0]) {
		p.fail("%s", s.mistaken(raw))
		return
	}
	switch s.kind {
	case text:
		value := unquoted(raw)
		for _, constraint := range s.broken(value) {
			p.add(quoted(value), at, constraint)
		}
	case integer, double:
		p.number(s, raw, at)
	case list:
		p.list(s, raw, at)
	case dictionary:
		p.dictionary(s, raw, at)
	case structure:
		p.structure(s, raw, at)
	}
}

// fits tells whether a value that begins so can be one of that kind.
func (s *Shape) fits(first byte) bool {
	switch s.kind {
	case text, blob:
		return first == '"'
	case integer, double:
		return first == '-' || first >= '0' && first <= '9'
	case boolean:
		return first == 't' || first == 'f'
	case list:
		return first == '['
	}
	return first == '{'
}

// mistaken says what was found in the place of a value.
func (s *Shape) mistaken(raw []byte) string {
	found := "NUMBER_VALUE"
	switch {
	case len(raw) == 0 || raw[0] == '"':
		found = "STRING_VALUE"
	case raw[0] == 't':
		found = "TRUE_VALUE"
	case raw[0] == 'f':
		found = "FALSE_VALUE"
	case raw[0] == '{':
		return "Start of structure or map found where not expected."
	case raw[0] == '[':
		return "Start of list found where not expected."
	}
	switch s.kind {
	case list, dictionary, structure:
		return "Unexpected field type"
	}
	return found + " can not be converted to " + names[s.kind]
}

func (p *Problems) number(s *Shape, raw []byte, at string) {
	n, err := strconv.ParseFloat(string(raw), 64)
	if s.kind == integer && err == nil {
		_, err = strconv.ParseInt(string(raw), 10, 32)
	}
	switch {
	case err != nil:
		p.fail("NUMBER_VALUE can not be converted to %s", names[s.kind])
	case n > s.most:
		p.add(quoted(s.number(n)), at, s.atMost())
	case n < s.least:
		p.add(quoted(s.number(n)), at, s.atLeast())
	}
}

func (p *Problems) list(s *Shape, raw []byte, at string) {
	items := elements(raw)
	if n := float64(len(items)); n > s.most {
		p.add(quoted(printed(raw)), at, s.atMost())
	} else if n < s.least {
		p.add(quoted(printed(raw)), at, s.atLeast())
	}
	broken := false
	for i, item := range items {
		switch {
		case null(item):
			broken = true
		case s.of.kind == text:
			if !s.of.fits(item[0]) {
				p.fail("%s", s.of.mistaken(item))
				return
			}
			broken = broken || len(s.of.broken(unquoted(item))) > 0
		default:
			p.value(s.of, item, at+"."+strconv.Itoa(i+1)+".member")
		}
	}
	switch {
	case broken && s.of.bare:
		p.add(quoted(printed(raw)), at, s.of.enum())
	case broken:
		p.add(quoted(printed(raw)), at, "Member must satisfy constraint: "+s.of.every(true))
	}
}

func (p *Problems) dictionary(s *Shape, raw []byte, at string) {
	fields := object(raw)
	keys, values := false, false
	for _, key := range sortedKeys(fields) {
		keys = keys || len(s.key.broken(key)) > 0
		var inner Problems
		if null(fields[key]) {
			values = true
			continue
		}
		inner.value(s.of, fields[key], at)
		if inner.err != nil {
			p.fail("%s", inner.err.Error())
			return
		}
		values = values || len(inner.all) > 0
	}
	shown := quoted(s.printedMap(fields))
	if keys {
		p.add(shown, at, "Map keys must satisfy constraint: "+s.key.every(false))
	}
	if values {
		p.add(shown, at, "Map value must satisfy constraint: "+s.of.every(true))
	}
}

func (p *Problems) structure(s *Shape, raw []byte, at string) {
	fields := object(raw)
	byName := map[string][]string{}
	for name := range fields {
		folded := strings.ToLower(name)
		byName[folded] = append(byName[folded], name)
	}
	for _, m := range s.members {
		found := false
		same := byName[strings.ToLower(m.Name)]
		slices.Sort(same)
		for _, name := range same {
			if value := fields[name]; !null(value) {
				found = true
				p.value(m.Shape, value, member(at, m.Name))
			}
		}
		if m.Required && !found {
			p.add("null", member(at, m.Name), notNullText)
		}
	}
}

// member is the path of a member: the service's names begin small there.
func member(at, name string) string {
	name = strings.ToLower(name[:1]) + name[1:]
	if at == "" {
		return name
	}
	return at + "." + name
}
