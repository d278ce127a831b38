// Package payload makes the payloads of push messages with jq programs:
//
//	p, err := payload.Compile("payload", `{aps: {alert: {title: .title, body: .text}}, user: $attributes.user}`)
//	body, err := p.Make(m)
//
// A program sees the message's body as ".", and $attributes, $id, $key, $time and $expires. It has to make exactly one
// value, within a second: a payload is made where everything that is sent passes by.
package payload

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/itchyny/gojq"

	"github.com/hikyaku/hikyaku/internal/component"
	"github.com/hikyaku/hikyaku/internal/message"
)

// patience is how long a program may run.
const patience = time.Second

// variables are what a program sees besides the body, and how each is made of a message.
var variables = []struct {
	name  string
	value func(m *message.Message) any
}{
	{"$attributes", func(m *message.Message) any { return attributes(m) }},
	{"$id", func(m *message.Message) any { return m.ID.String() }},
	{"$key", func(m *message.Message) any { return m.Key }},
	{"$time", func(m *message.Message) any { return instant(m.Time) }},
	{"$expires", func(m *message.Message) any { return instant(m.Expires) }},
}

// Program makes payloads. It may be used by several goroutines at once.
type Program struct {
	code  *gojq.Code
	used  []bool // of variables: the others are not made
	short shortcut
}

// Compile compiles the program of a setting. Errors are *component.SettingError.
func Compile(setting, text string) (*Program, error) {
	query, err := gojq.Parse(text)
	if err != nil {
		wrong := &component.SettingError{Setting: setting, Offset: -1, Err: err}
		if bad := (*gojq.ParseError)(nil); errors.As(err, &bad) {
			wrong.Offset = min(max(bad.Offset-len(bad.Token), 0), len(text))
		}
		return nil, wrong
	}
	names, used := make([]string, len(variables)), make([]bool, len(variables))
	for i, v := range variables {
		names[i], used[i] = v.name, strings.Contains(text, v.name[1:])
	}
	code, err := gojq.Compile(query, gojq.WithVariables(names), gojq.WithEnvironLoader(func() []string { return nil }))
	if err != nil {
		return nil, &component.SettingError{Setting: setting, Offset: -1, Err: err,
			Hint: "a program sees one message, as \".\", and $attributes, $id, $key, $time and $expires"}
	}
	return &Program{code, used, newShortcut(text)}, nil
}

// ErrTooLong: a program ran for longer than it may. On a machine that is busy enough this passes, so it is a reason to
// try again.
var ErrTooLong = fmt.Errorf("the payload's program ran for more than %v", patience)

// Make makes the payload of a message, as compact JSON.
func (p *Program) Make(m *message.Message) ([]byte, error) {
	if body, ok := p.short.make(m); ok {
		return body, nil
	}
	input, err := tree(m.Body)
	if err != nil {
		return nil, fmt.Errorf("the body is no JSON: %w", err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	values := make([]any, len(variables))
	for i, v := range variables {
		if p.used[i] {
			values[i] = v.value(m)
		}
	}
	made, err := one(p.code.RunWithContext(ctx, input, values...))
	switch {
	case err != nil && ctx.Err() != nil:
		return nil, ErrTooLong
	case err != nil:
		return nil, fmt.Errorf("make the payload: %w", err)
	case deep(made, maxDepth):
		return nil, fmt.Errorf("the payload is nested deeper than %d levels", maxDepth)
	}
	body, err := gojq.Marshal(made)
	if err != nil {
		return nil, fmt.Errorf("make the payload: %w", err)
	}
	return body, nil
}

// maxDepth is more levels of objects and arrays than any phone reads, and few enough for a stack.
const maxDepth = 1000

// tree reads a body. Numbers keep their digits.
func tree(body []byte) (any, error) {
	d := json.NewDecoder(bytes.NewReader(body))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		return nil, err
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("something follows its value")
	}
	if deep(v, maxDepth) {
		return nil, fmt.Errorf("it is nested deeper than %d levels", maxDepth)
	}
	return v, nil
}

// one takes the only value of a program.
func one(iter gojq.Iter) (any, error) {
	v, ok := iter.Next()
	if !ok {
		return nil, errors.New("the program made nothing")
	}
	if err, failed := v.(error); failed {
		return nil, err
	}
	switch more, ok := iter.Next(); {
	case !ok:
		return v, nil
	default:
		if err, failed := more.(error); failed {
			return nil, err
		}
		return nil, errors.New("the program made more than one value")
	}
}

func attributes(m *message.Message) map[string]any {
	all := make(map[string]any, len(m.Attributes))
	for _, a := range m.Attributes {
		switch v := a.Value; v.Kind() {
		case message.KindNull:
			all[a.Name] = nil
		case message.KindBool:
			all[a.Name] = v.AsBool()
		case message.KindInt, message.KindUint, message.KindDecimal:
			all[a.Name] = number(v.Text())
		case message.KindFloat:
			all[a.Name] = v.AsFloat()
		default:
			all[a.Name] = v.Text()
		}
	}
	return all
}

// number is a number of jq where the text is one of JSON.
func number(text string) any {
	if json.Valid([]byte(text)) {
		return json.Number(text)
	}
	return text
}

func instant(t time.Time) any {
	if t.IsZero() {
		return nil
	}
	return t.UTC().Format(message.TimeFormat)
}

// deep tells whether a value has more than so many levels. It looks no deeper.
func deep(v any, levels int) bool {
	switch v := v.(type) {
	case []any:
		for _, x := range v {
			if levels <= 0 || deep(x, levels-1) {
				return true
			}
		}
	case map[string]any:
		for _, x := range v {
			if levels <= 0 || deep(x, levels-1) {
				return true
			}
		}
	}
	return false
}
