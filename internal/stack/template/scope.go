package template

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Known is what a template is deployed to.
type Known struct {
	Stack, Region, Account string
	// Attribute is an attribute of a resource that is there; "" is what Ref stands for.
	Attribute func(resource, attribute string) (any, error)
}

// Scope is a template with its parameters.
type Scope struct {
	t          *Template
	known      Known
	parameters map[string]any
	conditions map[string]bool
	asked      map[string]bool // conditions that are being worked out
	room       int             // bytes of text that may still be made
}

// maxMade is how many bytes of text the functions of a template may make, all together.
const maxMade = 64 << 20

// Open gives a template its parameters, and works out its conditions.
func (t *Template) Open(known Known, given map[string]string) (*Scope, error) {
	s := &Scope{t: t, known: known, parameters: map[string]any{}, conditions: map[string]bool{},
		asked: map[string]bool{}, room: maxMade}
	for _, name := range slices.Sorted(maps.Keys(given)) {
		if _, ok := t.Parameters[name]; !ok {
			return nil, fmt.Errorf("the template has no parameter %s", name)
		}
	}
	var missing []string
	for _, name := range slices.Sorted(maps.Keys(t.Parameters)) {
		p := t.Parameters[name]
		text, ok := given[name]
		if !ok && p.Default == nil {
			missing = append(missing, name)
			continue
		}
		if !ok {
			text, _ = asText(p.Default)
		}
		if len(p.Allowed) > 0 && !slices.Contains(p.Allowed, text) {
			return nil, fmt.Errorf("the parameter %s is one of %s", name, strings.Join(p.Allowed, ", "))
		}
		switch {
		case strings.HasPrefix(p.Type, "AWS::SSM::Parameter::") && !ok: // CDK has one that nothing refers to
			s.parameters[name] = fmt.Errorf("the parameter %s is looked up in a store of AWS; give it one", name)
		case p.Type == "CommaDelimitedList" || strings.HasPrefix(p.Type, "List<"):
			list := []any{}
			for one := range strings.SplitSeq(text, ",") {
				list = append(list, strings.TrimSpace(one))
			}
			s.parameters[name] = list
		default:
			s.parameters[name] = text
		}
	}
	if len(missing) > 0 {
		return nil, fmt.Errorf("these parameters have no default and were not given: %s", strings.Join(missing, ", "))
	}
	for _, name := range slices.Sorted(maps.Keys(t.conditions)) {
		if _, err := s.condition(name); err != nil {
			return nil, fmt.Errorf("condition %s: %w", name, err)
		}
	}
	return s, nil
}

// condition works one out, with those that it names.
func (s *Scope) condition(name string) (bool, error) {
	if v, ok := s.conditions[name]; ok {
		return v, nil
	}
	text, ok := s.t.conditions[name]
	if !ok {
		return false, fmt.Errorf("there is no condition %q", name)
	}
	if s.asked[name] {
		return false, fmt.Errorf("the condition %s depends on itself", name)
	}
	s.asked[name] = true
	v, err := s.decide(text)
	delete(s.asked, name)
	if err == nil {
		s.conditions[name] = v
	}
	return v, err
}

// holds tells whether something with this condition is there; "" is none.
func (s *Scope) holds(condition string) (bool, error) {
	if condition == "" {
		return true, nil
	}
	return s.condition(condition)
}

// Order lists the resources that are there, each behind those that it refers to or depends on, and else by name.
func (s *Scope) Order() ([]string, error) {
	waits := map[string]map[string]bool{}
	for name, r := range s.t.Resources {
		ok, err := s.holds(r.condition)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		if ok {
			waits[name] = map[string]bool{}
		}
	}
	for name, on := range waits {
		r := s.t.Resources[name]
		named := slices.Clone(r.depends)
		references(r.Properties, &named)
		for _, other := range named {
			if _, there := s.t.Resources[other]; !there && slices.Contains(r.depends, other) {
				return nil, fmt.Errorf("%s depends on %s, which there is not", name, other)
			}
			if _, there := waits[other]; there {
				on[other] = true
			}
		}
	}
	var order []string
	for len(waits) > 0 {
		var ready []string
		for name, on := range waits {
			if len(on) == 0 {
				ready = append(ready, name)
			}
		}
		if len(ready) == 0 {
			return nil, fmt.Errorf("these depend on each other in a circle: %s",
				strings.Join(slices.Sorted(maps.Keys(waits)), ", "))
		}
		slices.Sort(ready)
		order = append(order, ready...)
		for _, name := range ready {
			delete(waits, name)
		}
		for _, on := range waits {
			for _, name := range ready {
				delete(on, name)
			}
		}
	}
	return order, nil
}

// references collects what a value refers to: also what is no resource, which others know.
func references(v any, into *[]string) {
	switch v := v.(type) {
	case []any:
		for _, inner := range v {
			references(inner, into)
		}
	case map[string]any:
		if len(v) == 1 {
			if name, ok := v["Ref"].(string); ok {
				*into = append(*into, name)
			}
			switch of := v["Fn::GetAtt"].(type) {
			case string:
				name, _, _ := strings.Cut(of, ".")
				*into = append(*into, name)
			case []any:
				if name, ok := first(of); ok {
					*into = append(*into, name)
				}
			}
			text, ok := v["Fn::Sub"].(string)
			if list, both := v["Fn::Sub"].([]any); both {
				text, ok = first(list)
			}
			if ok {
				_ = substitute(text, func(name string) (string, error) {
					name, _, _ = strings.Cut(name, ".")
					*into = append(*into, name)
					return "", nil
				}, nil)
			}
		}
		for _, inner := range v {
			references(inner, into)
		}
	}
}

func first(list []any) (string, bool) {
	if len(list) == 0 {
		return "", false
	}
	name, ok := list[0].(string)
	return name, ok
}

// Output is a value that a template shows.
type Output struct{ Name, Value string }

// Outputs are those that there are, by name.
func (s *Scope) Outputs() (all []Output, err error) {
	for _, name := range slices.Sorted(maps.Keys(s.t.outputs)) {
		o := s.t.outputs[name]
		ok, err := s.holds(o.condition)
		if err != nil {
			return nil, fmt.Errorf("Outputs: %s: %w", name, err)
		}
		if !ok {
			continue
		}
		v, err := s.Value(o.value)
		if err != nil {
			return nil, fmt.Errorf("Outputs: %s: %w", name, err)
		}
		text, ok := asText(v)
		if !ok {
			return nil, fmt.Errorf("Outputs: %s: %w", name, errors.New("the Value is no text"))
		}
		all = append(all, Output{name, text})
	}
	return all, nil
}
