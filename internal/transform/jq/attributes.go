package jq

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/itchyny/gojq"

	"github.com/hikyaku/hikyaku/internal/component"
	"github.com/hikyaku/hikyaku/internal/message"
)

// attributes are the programs that make attributes. The zero value has none.
type attributes struct {
	object *gojq.Code // makes an object of them; nil: none
	text   string     // of object
	named  []namedProgram
}

type namedProgram struct {
	name, text string
	code       *gojq.Code
}

func compileAttributes(setting any) (attributes, error) {
	var a attributes
	switch s := setting.(type) {
	case nil:
		return a, nil
	case string:
		code, err := compile("attributes", s)
		a.object, a.text = code, s
		return a, err
	case map[string]string:
		for _, name := range sortedKeys(s) {
			if err := a.add(name, s[name]); err != nil {
				return a, err
			}
		}
	case map[string]any:
		for _, name := range sortedKeys(s) {
			if err := a.add(name, s[name]); err != nil {
				return a, err
			}
		}
	default:
		return a, &component.SettingError{Setting: "attributes", Offset: -1,
			Err:  fmt.Errorf("%v is neither a program nor a mapping", s),
			Hint: "write names with a program each, as in level: .level, or one program that makes an object"}
	}
	if len(a.named) > message.MaxAttributes {
		return a, component.Setting("attributes", fmt.Errorf("there are %d, the most are %d", len(a.named),
			message.MaxAttributes))
	}
	return a, nil
}

func sortedKeys[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

func (a *attributes) add(name string, program any) error {
	setting := "attributes." + name
	text, ok := program.(string)
	if !ok {
		return &component.SettingError{Setting: setting, Offset: -1,
			Err:  fmt.Errorf("a jq program is wanted, not %v", program),
			Hint: "put the program in quotes"}
	}
	if name == "" {
		return component.Setting(setting, errors.New("an attribute has no name"))
	}
	code, err := compile(setting, text)
	if err != nil {
		return err
	}
	a.named = append(a.named, namedProgram{name, text, code})
	return nil
}

// set runs the programs on a new body and gives out their attributes.
func (a *attributes) set(ctx context.Context, out *message.Message, body any, variables []any) error {
	for _, p := range a.named {
		v, ok, err := single(ctx, p.code, body, variables)
		if err == nil && ok {
			err = setOne(out, p.name, v)
		}
		if err != nil {
			return fmt.Errorf("jq: attribute %q: %w", p.name, err)
		}
	}
	if a.object == nil {
		return nil
	}
	v, ok, err := single(ctx, a.object, body, variables)
	if err != nil {
		return fmt.Errorf("jq: attributes: %w", err)
	}
	if !ok || v == nil {
		return nil
	}
	object, ok := v.(map[string]any)
	if !ok {
		return fmt.Errorf("jq: attributes: the program makes %s, an object is wanted", gojq.Preview(v))
	}
	if len(object) > message.MaxAttributes {
		return fmt.Errorf("jq: attributes: the program makes %d attributes, the most are %d", len(object),
			message.MaxAttributes)
	}
	for _, name := range sortedKeys(object) {
		if err := setOne(out, name, object[name]); err != nil {
			return fmt.Errorf("jq: attribute %q: %w", name, err)
		}
	}
	return nil
}

func setOne(out *message.Message, name string, v any) error {
	if name == "" {
		return errors.New("an attribute has no name")
	}
	if v == nil {
		out.Attributes.Delete(name)
		return nil
	}
	value, err := fromJQ(v)
	if err != nil {
		return err
	}
	out.Attributes.Set(name, value)
	return nil
}

// single is a program's only output; ok is false when it has none.
func single(ctx context.Context, code *gojq.Code, input any, variables []any) (v any, ok bool, err error) {
	outputs := iterate(ctx, code, input, variables)
	if v, ok, err = outputs.next(); err != nil || !ok {
		return nil, false, err
	}
	_, more, err := outputs.next()
	if err == nil && more {
		err = errors.New("the program has more than one output")
	}
	return v, err == nil, err
}
