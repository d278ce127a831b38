package payload

import (
	"time"

	"github.com/hikyaku/hikyaku/internal/message"
	"github.com/hikyaku/hikyaku/internal/program"
)

// shortcut makes payloads without jq's machine, where the program is simple. The zero value makes none.
type shortcut struct {
	scope   *program.Scope
	program *program.Program
}

// newShortcut compiles a program that gojq has compiled.
func newShortcut(text string) shortcut {
	scope := program.NewScope(
		program.Variable{Name: "$attributes", Append: program.Attributes, Field: program.Attribute},
		program.Variable{Name: "$id",
			Append: func(dst []byte, m *message.Message) ([]byte, bool) { return program.Quoted(dst, m.ID.String()) }},
		program.Variable{Name: "$key",
			Append: func(dst []byte, m *message.Message) ([]byte, bool) { return program.Quoted(dst, m.Key) }},
		program.Variable{Name: "$time",
			Append: func(dst []byte, m *message.Message) ([]byte, bool) { return appendInstant(dst, m.Time) }},
		program.Variable{Name: "$expires",
			Append: func(dst []byte, m *message.Message) ([]byte, bool) { return appendInstant(dst, m.Expires) }},
	)
	if p := scope.Compile(text); p != nil {
		return shortcut{scope, p}
	}
	return shortcut{}
}

func appendInstant(dst []byte, t time.Time) ([]byte, bool) {
	if t.IsZero() {
		return append(dst, "null"...), true
	}
	return program.Quoted(dst, t.UTC().Format(message.TimeFormat))
}

// make makes the payload of a message; ok is false when that is left to jq's machine.
func (s shortcut) make(m *message.Message) (body []byte, ok bool) {
	if s.program == nil {
		return nil, false
	}
	w := s.scope.Begin(m)
	if w == nil {
		return nil, false
	}
	defer s.scope.End(w)
	return s.program.Text(w, w.Body())
}
