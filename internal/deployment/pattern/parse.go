package pattern

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
)

// Error is a pattern that cannot be: where in it, and why.
type Error struct {
	At     string // names, separated by dots; "": the whole
	Reason string
}

// Error implements error.
func (e *Error) Error() string {
	if e.At == "" {
		return e.Reason
	}
	return e.At + ": " + e.Reason
}

func refuse(at, format string, args ...any) error {
	return &Error{At: at, Reason: fmt.Sprintf(format, args...)}
}

// maxDepth bounds how deep a pattern may be.
const maxDepth = 100

// Parse reads a pattern. Errors are *Error.
func Parse(text string) (*Pattern, error) {
	value, err := Decode([]byte(text))
	if err != nil {
		return nil, refuse("", "it is no JSON: %v", err)
	}
	object, ok := value.(map[string]any)
	if !ok {
		return nil, refuse("", "a pattern is a JSON object")
	}
	g, err := parseGroup("", object, 0)
	if err != nil {
		return nil, err
	}
	return &Pattern{fields: g}, nil
}

// Decode reads one JSON value as Match wants it.
func Decode(text []byte) (any, error) {
	d := json.NewDecoder(strings.NewReader(string(text)))
	d.UseNumber()
	var value any
	if err := d.Decode(&value); err != nil {
		return nil, err
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("something follows the JSON value")
	}
	return value, nil
}

func parseGroup(at string, object map[string]any, depth int) (group, error) {
	g := group{absent: true}
	if depth > maxDepth {
		return g, refuse(at, "a pattern is at most %d names deep", maxDepth)
	}
	if len(object) == 0 {
		return g, refuse(at, "an object of a pattern names a field at least")
	}
	for _, name := range slices.Sorted(maps.Keys(object)) {
		below := strings.TrimPrefix(at+"."+name, ".")
		if alternatives, ok := choices(name, object[name]); ok {
			var choice []group
			for _, a := range alternatives {
				one, err := parseGroup(below, a, depth+1)
				if err != nil {
					return g, err
				}
				choice = append(choice, one)
				g.absent = g.absent && one.absent
			}
			g.choices = append(g.choices, choice)
			continue
		}
		r, err := parseRule(below, object[name], depth+1)
		if err != nil {
			return g, err
		}
		g.fields = append(g.fields, nested(name, r))
		g.absent = g.absent && r.absence()
	}
	return g, nil
}

// nested is a field whose name has dots in it, as fields in fields.
func nested(name string, r rule) field {
	names := strings.Split(name, ".")
	for _, n := range slices.Backward(names[1:]) {
		r = group{fields: []field{{n, r}}, absent: r.absence()}
	}
	return field{names[0], r}
}

// choices are the alternatives of "$or": two objects at least whose fields are no operators. Another array below that
// name is a field's.
func choices(name string, value any) ([]map[string]any, bool) {
	list, ok := value.([]any)
	if name != "$or" || !ok || len(list) < 2 {
		return nil, false
	}
	var all []map[string]any
	for _, e := range list {
		object, ok := e.(map[string]any)
		if !ok {
			return nil, false
		}
		for name := range object {
			if operator(name) != nil {
				return nil, false
			}
		}
		all = append(all, object)
	}
	return all, true
}

func parseRule(at string, value any, depth int) (rule, error) {
	switch v := value.(type) {
	case map[string]any:
		return parseGroup(at, v, depth)
	case []any:
		if len(v) == 0 {
			return nil, refuse(at, "an array of a pattern has a value at least")
		}
		var l leaf
		for _, e := range v {
			t, err := parseTest(at, e)
			if err != nil {
				return nil, err
			}
			l = append(l, t)
		}
		return l, nil
	}
	return nil, refuse(at, "a value stands in an array: [%v]", value)
}

func parseTest(at string, value any) (test, error) {
	switch v := value.(type) {
	case []any:
		return nil, refuse(at, "an array of a pattern has no array in it")
	case map[string]any:
		name, operand, err := lone(at, v)
		if err != nil {
			return nil, err
		}
		return operator(name)(at, operand)
	}
	return same{value}, nil
}

// lone is the one operator of an object.
func lone(at string, object map[string]any) (name string, operand any, err error) {
	if len(object) != 1 {
		return "", nil, refuse(at, "an object in an array has one operator, not %d", len(object))
	}
	for name, operand = range object {
		if operator(name) == nil {
			return "", nil, refuse(at, "there is no operator %q", name)
		}
	}
	return name, operand, nil
}
