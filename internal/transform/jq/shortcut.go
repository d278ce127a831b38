package jq

import (
	"slices"

	"github.com/hikyaku/hikyaku/internal/codec"
	"github.com/hikyaku/hikyaku/internal/message"
	"github.com/hikyaku/hikyaku/internal/program"
)

// shortcut runs a Config's programs without jq's machine, where all of them are simple.
type shortcut struct {
	config Config
	scope  *program.Scope
	body   *program.Program
	object *program.Program // of attributes; nil: none
	named  []shortAttribute
}

type shortAttribute struct {
	name    string
	program *program.Program
}

// newShortcut compiles programs that gojq has compiled. It returns nil when one of them is not simple.
func newShortcut(c Config, ps *programs) *shortcut {
	scope := program.NewScope(shortVariables...)
	s := &shortcut{config: c, scope: scope, body: scope.Compile(c.Program)}
	if s.body == nil {
		return nil
	}
	if ps.attributes.object != nil {
		if s.object = scope.Compile(ps.attributes.text); s.object == nil {
			return nil
		}
	}
	for _, n := range ps.attributes.named {
		p := scope.Compile(n.text)
		if p == nil {
			return nil
		}
		s.named = append(s.named, shortAttribute{n.name, p})
	}
	return s
}

// transform makes the messages; ok is false when the message is left to jq's machine, as everything is that ends with
// an error.
func (s *shortcut) transform(m *message.Message) (out []*message.Message, ok bool) {
	w := s.scope.Begin(m)
	if w == nil {
		return nil, false
	}
	defer s.scope.End(w)
	size := 0
	add := func(body []byte) (*message.Message, bool) {
		size += len(body)
		o := *m
		o.Row, o.Body = nil, body
		out = append(out, &o)
		return &o, len(out) <= s.config.MaxOutputs && size <= MaxOutputBytes
	}
	if s.object == nil && len(s.named) == 0 && !s.config.Raw {
		ok = s.body.EachText(w, w.Body(), func(text []byte) bool {
			o, ok := add(slices.Clone(text))
			o.Attributes = slices.Clone(m.Attributes)
			return ok
		})
		return out, ok
	}
	ok = s.body.Each(w, w.Body(), func(v program.Value) bool {
		body, ok := s.text(w, v)
		if !ok {
			return false
		}
		o, ok := add(body)
		return ok && s.attributes(w, o, v)
	})
	return out, ok
}

func (s *shortcut) text(w *program.Work, v program.Value) (body []byte, ok bool) {
	if text, is := v.Text(); is && s.config.Raw {
		return []byte(text), true
	}
	return w.TextOf(v)
}

// usualAttributes is for how many attributes of an object there is room at once.
const usualAttributes = 4

// attributes gives a message attributes of its own.
func (s *shortcut) attributes(w *program.Work, out *message.Message, body program.Value) (ok bool) {
	out.Attributes = append(make(message.Attributes, 0, len(out.Attributes)+len(s.named)+usualAttributes),
		out.Attributes...)
	for _, a := range s.named {
		v, n, ok := a.program.Value(w, body)
		if !ok || n > 1 || n == 1 && !s.set(out, a.name, v) {
			return false
		}
	}
	if s.object == nil {
		return true
	}
	v, n, ok := s.object.Value(w, body)
	if !ok || n != 1 || v.IsNull() {
		return ok && n < 2
	}
	if !v.IsObject() || v.Size() > message.MaxAttributes {
		return false
	}
	return v.Members(w, func(name []byte, v program.Value) bool { return s.set(out, s.object.Name(name), v) })
}

func (s *shortcut) set(out *message.Message, name string, v program.Value) (ok bool) {
	if name == "" {
		return false
	}
	if v.IsNull() {
		out.Attributes.Delete(name)
		return true
	}
	if text, ok := v.Text(); ok {
		out.Attributes.Set(name, message.String(text))
		return true
	}
	if b, ok := v.Bool(); ok {
		out.Attributes.Set(name, message.Bool(b))
		return true
	}
	digits, ok := v.Number()
	if !ok {
		return false
	}
	number, err := codec.Number(digits)
	out.Attributes.Set(name, number)
	return err == nil
}

// shortVariables are those of variableNames.
var shortVariables = []program.Variable{
	{Name: "$id", Append: func(dst []byte, m *message.Message) ([]byte, bool) {
		if m.ID.IsZero() {
			return append(dst, "null"...), true
		}
		return program.Quoted(dst, m.ID.String())
	}},
	{Name: "$key", Append: func(dst []byte, m *message.Message) ([]byte, bool) {
		if m.Key == "" {
			return append(dst, "null"...), true
		}
		return program.Quoted(dst, m.Key)
	}},
	{Name: "$attributes", Append: program.Attributes, Field: program.Attribute},
	{Name: "$time", Append: func(dst []byte, m *message.Message) ([]byte,
		bool) {
		return appendTime(dst, timeToJQ(m.Time))
	}},
	{Name: "$expires", Append: func(dst []byte, m *message.Message) ([]byte,
		bool) {
		return appendTime(dst, timeToJQ(m.Expires))
	}},
	{Name: "$death", Append: func(dst []byte, m *message.Message) ([]byte, bool) {
		return append(dst, "null"...),
			m.Death == nil
	}},
	{Name: "$body"},
}

func appendTime(dst []byte, t any) ([]byte, bool) {
	if text, ok := t.(string); ok {
		return program.Quoted(dst, text)
	}
	return append(dst, "null"...), true
}
