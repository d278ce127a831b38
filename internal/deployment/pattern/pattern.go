package pattern

import "strings"

// Pattern is a parsed pattern. It may be used by many goroutines.
type Pattern struct {
	fields group
}

// Match tells whether an event has the pattern's shape. Values in it are as encoding/json decodes them with UseNumber.
func (p *Pattern) Match(event map[string]any) bool { return p.fields.match(event, true) }

// Only tells whether the pattern asks for nothing but the field of that name.
func (p *Pattern) Only(name string) bool { return p.fields.only(name) }

// A rule is what a value has to meet. present is false for a value that is not there.
type rule interface {
	match(value any, present bool) bool
	// absence tells whether only a value that is not there can meet it.
	absence() bool
}

// group are rules for an object's fields, and choices of which one has to be met.
type group struct {
	fields  []field
	choices [][]group
	absent  bool // see rule.absence
}

type field struct {
	name string
	rule rule
}

func (g group) match(value any, present bool) bool {
	if elements, ok := value.([]any); ok {
		return g.among(elements)
	}
	object, _ := value.(map[string]any) // of what is no object, no field is there
	for _, f := range g.fields {
		if !f.match(object) {
			return false
		}
	}
	for _, choice := range g.choices {
		met := false
		for _, alternative := range choice {
			if met = alternative.match(value, present); met {
				break
			}
		}
		if !met {
			return false
		}
	}
	return true
}

// among matches objects in an array: one of them has to match as a whole, unless fields are to be absent, which they
// have to be everywhere.
func (g group) among(elements []any) bool {
	absence := g.absence()
	if len(elements) == 0 {
		return g.match(nil, false)
	}
	for _, e := range elements {
		if g.match(e, true) != absence {
			return !absence
		}
	}
	return absence
}

func (g group) absence() bool { return g.absent }

func (g group) only(name string) bool {
	for _, f := range g.fields {
		if f.name != name {
			return false
		}
	}
	for _, choice := range g.choices {
		for _, alternative := range choice {
			if !alternative.only(name) {
				return false
			}
		}
	}
	return true
}

// match looks for the field by its name, and below names with dots in them, of which each may be the one that is meant.
func (f field) match(object map[string]any) bool {
	value, present := object[f.name]
	if present && f.rule.match(value, true) {
		return true
	}
	dotted := map[string]any{}
	for name, v := range object {
		if rest, ok := strings.CutPrefix(name, f.name+"."); ok {
			dotted[rest] = v
		}
	}
	if len(dotted) > 0 {
		return f.rule.match(dotted, true)
	}
	return !present && f.rule.match(nil, false)
}

// leaf are the alternatives for a value.
type leaf []test

func (l leaf) match(value any, present bool) bool {
	there, met := l.among(value, present)
	if there {
		return met
	}
	for _, t := range l {
		if t == absent {
			return true
		}
	}
	return false
}

// among tells whether there is a value that is no object, also in arrays, and whether one of them meets a test.
func (l leaf) among(value any, present bool) (there, met bool) {
	switch v := value.(type) {
	case map[string]any:
		return false, false
	case []any:
		for _, e := range v {
			thereToo, metToo := l.among(e, true)
			there, met = there || thereToo, met || metToo
		}
		return there, met
	}
	if !present {
		return false, false
	}
	for _, t := range l {
		if t.holds(value) {
			return true, true
		}
	}
	return true, false
}

func (l leaf) absence() bool {
	for _, t := range l {
		if t != absent {
			return false
		}
	}
	return true
}
