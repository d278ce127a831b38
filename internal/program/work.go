package program

import (
	"sync"

	"github.com/hikyaku/hikyaku/internal/message"
)

// Variable is one that programs know.
type Variable struct {
	Name string // with its $
	// Append appends its value for a message, as jq writes it. ok is false when the message is left to gojq. nil: it is
	// the body.
	Append func(dst []byte, m *message.Message) (_ []byte, ok bool)
	// Field appends a field of its value, null when there is none. nil: fields are looked up in what Append appends.
	Field func(dst []byte, m *message.Message, name string) (_ []byte, ok bool)
}

// Scope is the variables of programs, and keeps memory for them. It may be used by several goroutines at once.
type Scope struct {
	variables []Variable
	idle      sync.Pool // of *Work
}

// NewScope makes a scope.
func NewScope(variables ...Variable) *Scope { return &Scope{variables: variables} }

// Work is the memory of runs over one message, for one goroutine.
type Work struct {
	scope   *Scope
	message *message.Message
	body    tape    // its text is the message's
	made    tape    // what programs made and looked into
	values  []Value // of the variables; those without a tape were not asked for
	steps   int
	bytes   int

	buffers [][]byte
	lists   [][]member
}

// Begin reads a message's body. It returns nil when the message is left to gojq.
func (s *Scope) Begin(m *message.Message) *Work {
	w, ok := s.idle.Get().(*Work)
	if !ok {
		w = &Work{scope: s, values: make([]Value, len(s.variables))}
	}
	w.message, w.body.text, w.steps, w.bytes = m, m.Body, 0, 0
	if _, ok := w.body.read(0, maxDepth); !ok {
		s.End(w)
		return nil
	}
	return w
}

// End gives a Work back. Values of it are no longer valid. A nil Work is ignored.
func (s *Scope) End(w *Work) {
	if w == nil {
		return
	}
	w.message, w.body.text = nil, nil
	w.body.reset()
	w.made.reset()
	clear(w.values)
	if cap(w.body.nodes)+cap(w.made.nodes)+cap(w.made.text) <= maxKept {
		s.idle.Put(w)
	}
}

// Body is the message's body.
func (w *Work) Body() Value { return Value{&w.body, 0} }

// step counts what is done. ok is false when it becomes too much.
func (w *Work) step(n int) (ok bool) {
	w.steps += n + 1
	return w.steps <= maxSteps
}

// take lends an empty buffer, which is to be given back.
func (w *Work) take() []byte {
	if n := len(w.buffers); n > 0 {
		b := w.buffers[n-1]
		w.buffers = w.buffers[:n-1]
		return b[:0]
	}
	return make([]byte, 0, 256)
}

func (w *Work) give(b []byte) {
	if cap(b) <= maxKept/16 {
		w.buffers = append(w.buffers, b)
	}
}

func (w *Work) takeMembers() []member {
	if n := len(w.lists); n > 0 {
		ms := w.lists[n-1]
		w.lists = w.lists[:n-1]
		return ms[:0]
	}
	return make([]member, 0, 16)
}

func (w *Work) free(ms []member) {
	if cap(ms) > 0 && cap(ms) <= 256 {
		clear(ms[:cap(ms)]) // they hold on to the body
		w.lists = append(w.lists, ms)
	}
}

// keep makes a value of a text as jq writes it.
func (w *Work) keep(text []byte) (v Value, ok bool) {
	if w.bytes += len(text); w.bytes > maxBytes || len(w.made.text)+len(text) > maxBytes {
		return v, false
	}
	from := len(w.made.text)
	w.made.text = append(w.made.text, text...)
	n, ok := w.made.read(from, maxMade)
	return Value{&w.made, n}, ok
}

// variable returns the value of a scope's variable.
func (w *Work) variable(i int) (v Value, ok bool) {
	if v = w.values[i]; v.t != nil {
		return v, true
	}
	if w.scope.variables[i].Append == nil {
		v, ok = w.Body(), true
	} else {
		b, could := w.scope.variables[i].Append(w.take(), w.message)
		if could {
			v, ok = w.keep(b)
		}
		w.give(b)
	}
	if ok {
		w.values[i] = v
	}
	return v, ok
}
