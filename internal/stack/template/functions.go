package template

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// gone is what AWS::NoValue stands for: whatever has it is left out.
type gone struct{}

// isFunction tells whether a map is a function of the language.
func isFunction(m map[string]any) bool {
	for name := range m {
		return len(m) == 1 && (name == "Ref" || strings.HasPrefix(name, "Fn::"))
	}
	return false
}

// Value works out a value; nil for one that is left out.
func (s *Scope) Value(v any) (any, error) {
	out, err := s.value(v)
	if _, none := out.(gone); none {
		out = nil
	}
	return out, err
}

// Properties works out those of a resource.
func (s *Scope) Properties(resource string) (map[string]any, error) {
	v, err := s.value(s.t.Resources[resource].Properties)
	m, _ := v.(map[string]any)
	return m, err
}

func (s *Scope) value(v any) (any, error) {
	switch v := v.(type) {
	case []any:
		list := make([]any, 0, len(v))
		for _, inner := range v {
			out, err := s.value(inner)
			if err != nil {
				return nil, err
			}
			if _, none := out.(gone); !none {
				list = append(list, out)
			}
		}
		return list, nil
	case map[string]any:
		if isFunction(v) {
			for name, of := range v {
				out, err := s.function(name, of)
				if err != nil {
					return nil, fmt.Errorf("%s: %w", name, err)
				}
				return out, nil
			}
		}
		m := make(map[string]any, len(v))
		for _, name := range slices.Sorted(maps.Keys(v)) {
			out, err := s.value(v[name])
			if err != nil {
				return nil, fmt.Errorf("%s: %w", name, err)
			}
			if _, none := out.(gone); !none {
				m[name] = out
			}
		}
		return m, nil
	default:
		return v, nil
	}
}

func (s *Scope) function(name string, of any) (any, error) {
	switch name {
	case "Ref":
		text, ok := of.(string)
		if !ok {
			return nil, errors.New("it names nothing")
		}
		return s.ref(text)
	case "Fn::GetAtt":
		return s.getAtt(of)
	case "Fn::Sub":
		return s.sub(of)
	case "Fn::Join":
		return s.join(of)
	case "Fn::Split":
		return s.split(of)
	case "Fn::Select":
		return s.choose(of)
	case "Fn::FindInMap":
		return s.findInMap(of)
	case "Fn::If":
		list, ok := of.([]any)
		condition, named := first(list)
		if !ok || !named || len(list) != 3 {
			return nil, errors.New("it is [CONDITION, THEN, ELSE]")
		}
		holds, err := s.condition(condition)
		if err != nil {
			return nil, err
		}
		if holds {
			return s.value(list[1])
		}
		return s.value(list[2])
	case "Fn::Equals", "Fn::And", "Fn::Or", "Fn::Not":
		return s.decide(map[string]any{name: of})
	}
	return nil, errors.New("this function is not known here")
}

// ref is what Ref stands for.
func (s *Scope) ref(name string) (any, error) {
	if v, ok := s.parameters[name]; ok {
		if err, unknown := v.(error); unknown {
			return nil, err
		}
		return v, nil
	}
	switch name {
	case "AWS::Region":
		return s.known.Region, nil
	case "AWS::AccountId":
		return s.known.Account, nil
	case "AWS::Partition":
		return "aws", nil
	case "AWS::URLSuffix":
		return "amazonaws.com", nil
	case "AWS::StackName":
		return s.known.Stack, nil
	case "AWS::StackId":
		return "arn:aws:cloudformation:" + s.known.Region + ":" + s.known.Account + ":stack/" + s.known.Stack, nil
	case "AWS::NotificationARNs":
		return []any{}, nil
	case "AWS::NoValue":
		return gone{}, nil
	}
	return s.attribute(name, "")
}

func (s *Scope) attribute(resource, attribute string) (any, error) {
	r, ok := s.t.Resources[resource]
	if !ok {
		return nil, fmt.Errorf("the template has no parameter or resource %q", resource)
	}
	if there, err := s.holds(r.condition); err != nil || !there {
		return nil, errors.Join(err, fmt.Errorf("%s is not made, by its condition", resource))
	}
	if s.known.Attribute == nil {
		return nil, fmt.Errorf("%s is a resource, which cannot be known here", resource)
	}
	return s.known.Attribute(resource, attribute)
}

func (s *Scope) getAtt(of any) (any, error) {
	if text, ok := of.(string); ok {
		name, attribute, _ := strings.Cut(text, ".")
		of = []any{name, attribute}
	}
	list, _ := of.([]any)
	name, ok := first(list)
	if !ok || len(list) != 2 {
		return nil, errors.New("it is [RESOURCE, ATTRIBUTE]")
	}
	attribute, err := s.text(list[1])
	if err != nil || attribute == "" {
		return nil, errors.Join(err, errors.New("it is [RESOURCE, ATTRIBUTE]"))
	}
	return s.attribute(name, attribute)
}

// text works out a value that has to be a text.
func (s *Scope) text(v any) (string, error) {
	out, err := s.value(v)
	if err != nil {
		return "", err
	}
	text, ok := asText(out)
	if !ok {
		return "", errors.New("a list or a map stands where a text should")
	}
	return text, nil
}

// asText is a text, a number or a truth as a text.
func asText(v any) (string, bool) {
	switch v := v.(type) {
	case string:
		return v, true
	case json.Number:
		return v.String(), true
	case bool:
		return strconv.FormatBool(v), true
	}
	return "", false
}

// list works out a value that has to be a list.
func (s *Scope) list(v any) ([]any, error) {
	out, err := s.value(v)
	if err != nil {
		return nil, err
	}
	list, ok := out.([]any)
	if !ok {
		return nil, errors.New("there is no list where one should be")
	}
	return list, nil
}

// made counts the text that functions have made.
func (s *Scope) made(n int) error {
	if s.room -= n; s.room < 0 {
		return fmt.Errorf("the template's functions make more than %d bytes", maxMade)
	}
	return nil
}

func (s *Scope) sub(of any) (any, error) {
	text, ok := of.(string)
	own := map[string]any{}
	if list, both := of.([]any); both && len(list) == 2 {
		text, ok = list[0].(string)
		var named bool
		own, named = list[1].(map[string]any)
		ok = ok && named
	}
	if !ok {
		return nil, errors.New("it is TEXT, or [TEXT, {NAME: VALUE}]")
	}
	var b strings.Builder
	err := substitute(text, func(name string) (string, error) {
		v, mine := own[name]
		if !mine {
			v = map[string]any{"Ref": name}
			if resource, attribute, dot := strings.Cut(name, "."); dot {
				v = map[string]any{"Fn::GetAtt": []any{resource, attribute}}
			}
		}
		value, err := s.text(v)
		if err != nil {
			return "", fmt.Errorf("${%s}: %w", name, err)
		}
		return value, s.made(len(value))
	}, &b)
	if err == nil {
		err = s.made(len(text))
	}
	return b.String(), err
}

// substitute writes a text with what stands in ${ } replaced; ${!x} is ${x} itself. What has no end, or no name, stays.
func substitute(text string, value func(name string) (string, error), into *strings.Builder) error {
	put := func(s string) {
		if into != nil {
			into.WriteString(s)
		}
	}
	for {
		before, rest, found := strings.Cut(text, "${")
		put(before)
		if !found {
			return nil
		}
		name, after, ends := strings.Cut(rest, "}")
		if !ends {
			put("${" + rest)
			return nil
		}
		switch {
		case strings.HasPrefix(name, "!"):
			put("${" + name[1:] + "}")
		case strings.TrimSpace(name) == "":
			put("${" + name + "}")
		default:
			v, err := value(strings.TrimSpace(name))
			if err != nil {
				return err
			}
			put(v)
		}
		text = after
	}
}

func (s *Scope) join(of any) (any, error) {
	list, _ := of.([]any)
	between, ok := first(list)
	if !ok || len(list) != 2 {
		return nil, errors.New("it is [TEXT, LIST]")
	}
	parts, err := s.list(list[1])
	if err != nil {
		return nil, err
	}
	var b strings.Builder
	for i, part := range parts {
		text, ok := asText(part)
		if !ok {
			return nil, errors.New("a list or a map stands where a text should")
		}
		if i > 0 {
			text = between + text
		}
		if err := s.made(len(text)); err != nil {
			return nil, err
		}
		b.WriteString(text)
	}
	return b.String(), nil
}

func (s *Scope) split(of any) (any, error) {
	list, _ := of.([]any)
	by, ok := first(list)
	if !ok || by == "" || len(list) != 2 {
		return nil, errors.New("it is [TEXT, TEXT]")
	}
	text, err := s.text(list[1])
	if err != nil {
		return nil, err
	}
	if err := s.made(16 * len(text)); err != nil { // each part has a place of its own
		return nil, err
	}
	out := []any{}
	for part := range strings.SplitSeq(text, by) {
		out = append(out, part)
	}
	return out, nil
}

func (s *Scope) choose(of any) (any, error) {
	list, _ := of.([]any)
	if len(list) != 2 {
		return nil, errors.New("it is [NUMBER, LIST]")
	}
	number, err := s.text(list[0])
	if err != nil {
		return nil, err
	}
	from, err := s.list(list[1])
	if err != nil {
		return nil, err
	}
	n, err := strconv.Atoi(number)
	if err != nil || n < 0 || n >= len(from) {
		return nil, fmt.Errorf("there is no number %q in a list of %d", number, len(from))
	}
	return from[n], nil
}

func (s *Scope) findInMap(of any) (any, error) {
	list, _ := of.([]any)
	if len(list) != 3 {
		return nil, errors.New("it is [MAPPING, KEY, KEY]")
	}
	var at any = s.t.mappings
	for _, key := range list {
		name, err := s.text(key)
		if err != nil {
			return nil, err
		}
		m, _ := at.(map[string]any)
		var ok bool
		if at, ok = m[name]; !ok {
			return nil, fmt.Errorf("the Mappings have no %q there", name)
		}
	}
	return at, nil
}

// decide works out what is true or false.
func (s *Scope) decide(v any) (bool, error) {
	m, _ := v.(map[string]any)
	if len(m) != 1 {
		return false, errors.New("it is neither true nor false")
	}
	for name, of := range m {
		list, _ := of.([]any)
		switch name {
		case "Condition":
			if text, ok := of.(string); ok {
				return s.condition(text)
			}
		case "Fn::Equals":
			if len(list) != 2 {
				return false, errors.New("Fn::Equals is [ONE, OTHER]")
			}
			var sides [2]string
			for i, side := range list {
				v, err := s.value(side)
				if err != nil {
					return false, err
				}
				text, ok := asText(v)
				if !ok {
					b, err := json.Marshal(v)
					if err != nil {
						return false, err
					}
					text = string(b)
				}
				sides[i] = text
			}
			return sides[0] == sides[1], nil
		case "Fn::Not":
			if len(list) != 1 {
				return false, errors.New("Fn::Not is [CONDITION]")
			}
			v, err := s.decide(list[0])
			return !v, err
		case "Fn::And", "Fn::Or":
			if len(list) == 0 {
				return false, errors.New(name + " is a list of conditions")
			}
			for _, one := range list {
				v, err := s.decide(one)
				if err != nil || v == (name == "Fn::Or") {
					return v, err
				}
			}
			return name == "Fn::And", nil
		}
	}
	return false, errors.New("it is neither true nor false")
}
