package template

import (
	"errors"
	"fmt"
	"maps"
	"slices"
)

// read takes the sections of a template apart.
func read(root map[string]any) (*Template, error) {
	t := &Template{Parameters: map[string]Parameter{}, Resources: map[string]Resource{}, outputs: map[string]output{}}
	t.Description, _ = root["Description"].(string)
	switch v := root["Transform"].(type) {
	case string:
		t.Transforms = []string{v}
	case []any:
		for _, one := range v {
			name, ok := one.(string)
			if !ok {
				name = "with parameters"
			}
			t.Transforms = append(t.Transforms, name)
		}
	case nil:
	default:
		t.Transforms = []string{"with parameters"}
	}
	var err error
	if t.mappings, err = section(root, "Mappings"); err != nil {
		return nil, err
	}
	if t.conditions, err = section(root, "Conditions"); err != nil {
		return nil, err
	}
	for name, what := range map[string]func(name string, m map[string]any) error{
		"Parameters": t.parameter, "Resources": t.resource, "Outputs": t.output,
	} {
		all, err := section(root, name)
		if err != nil {
			return nil, err
		}
		for _, one := range slices.Sorted(maps.Keys(all)) {
			m, ok := all[one].(map[string]any)
			if !ok {
				return nil, fmt.Errorf("%s: %s is no map", name, one)
			}
			if err := what(one, m); err != nil {
				return nil, fmt.Errorf("%s: %s: %w", name, one, err)
			}
		}
	}
	if len(t.Resources) == 0 {
		return nil, errors.New("the template has no Resources")
	}
	return t, nil
}

func section(root map[string]any, name string) (map[string]any, error) {
	switch v := root[name].(type) {
	case nil:
		return nil, nil
	case map[string]any:
		return v, nil
	default:
		return nil, fmt.Errorf("%s is no map", name)
	}
}

func (t *Template) parameter(name string, m map[string]any) error {
	p := Parameter{Default: m["Default"]}
	p.Type, _ = m["Type"].(string)
	if p.Type == "" {
		return errors.New("there is no Type")
	}
	if p.Default != nil {
		if _, ok := asText(p.Default); !ok {
			return errors.New("the Default is no text")
		}
	}
	allowed, _ := m["AllowedValues"].([]any)
	for _, one := range allowed {
		text, ok := asText(one)
		if !ok {
			return errors.New("AllowedValues are texts")
		}
		p.Allowed = append(p.Allowed, text)
	}
	hidden, _ := asText(m["NoEcho"])
	p.Hidden = hidden == "true"
	t.Parameters[name] = p
	return nil
}

func (t *Template) resource(name string, m map[string]any) error {
	r := Resource{}
	r.Kind, _ = m["Type"].(string)
	if r.Kind == "" {
		return errors.New("there is no Type")
	}
	var ok bool
	if r.Properties, ok = m["Properties"].(map[string]any); !ok && m["Properties"] != nil {
		return errors.New("the Properties are no map")
	}
	if isFunction(r.Properties) {
		return errors.New("the Properties as a whole are a function, which is not known here")
	}
	if r.condition, ok = m["Condition"].(string); !ok && m["Condition"] != nil {
		return errors.New("the Condition is no name")
	}
	if r.Deletion, ok = m["DeletionPolicy"].(string); !ok && m["DeletionPolicy"] != nil {
		return errors.New("the DeletionPolicy is no text")
	}
	switch v := m["DependsOn"].(type) {
	case nil:
	case string:
		r.depends = []string{v}
	case []any:
		for _, one := range v {
			text, ok := one.(string)
			if !ok {
				return errors.New("DependsOn names no resource")
			}
			r.depends = append(r.depends, text)
		}
	default:
		return errors.New("DependsOn names no resource")
	}
	t.Resources[name] = r
	return nil
}

func (t *Template) output(name string, m map[string]any) error {
	if _, ok := m["Value"]; !ok {
		return errors.New("there is no Value")
	}
	condition, ok := m["Condition"].(string)
	if !ok && m["Condition"] != nil {
		return errors.New("the Condition is no name")
	}
	t.outputs[name] = output{m["Value"], condition}
	return nil
}
