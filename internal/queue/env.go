package queue

import (
	"slices"
	"strings"

	"github.com/hikyaku/hikyaku/internal/message"
)

// Builtins are the names a condition may use in every queue, behind columns and attributes of the same name.
var builtins = []string{"id", "key", "enqueued_at", "attempts"}

// attributeMark begins a name that means an attribute and nothing else, also where a built-in name is the same.
const attributeMark = "@"

// AttributeName is how a condition names an attribute whatever its name: the attribute id is @id, since a message
// without such an attribute has an id all the same. In the text of a condition such names stand in backquotes.
func AttributeName(name string) string {
	if name == "body" || slices.Contains(builtins, name) || strings.HasPrefix(name, attributeMark) {
		return attributeMark + name
	}
	return name
}

// entryEnv gives conditions the values of a message in memory: its columns, then its attributes, then the built-in
// names. A queue without columns also has body.
type entryEnv struct {
	s *state // whose lock is held; nil: it is not
	q *queueState
	e entry

	kept *looked     // what to look at instead of q and e: without the lock; nil: those
	over func() bool // who asks without the lock has given up; nil: nobody does
	body bodyState
	part []byte // with bodyKnown

	opened bool // what follows is known
	head   headFields
	rest   reader // at the attributes
}

// bodyState says what is known of a message's body part.
type bodyState uint8

const (
	bodyLater   bodyState = iota // nothing, and it must not be read now
	bodyMissed                   // likewise, and it was asked for: what was answered means nothing
	bodyKnown                    // it is part
	bodyDamaged                  // it cannot be read
)

// env returns an environment that is valid until the next call, and does not know the body.
func (s *state) env(q *queueState, e entry) *entryEnv {
	s.scratch = entryEnv{s: s, q: q, e: e}
	return &s.scratch
}

func (v *entryEnv) Lookup(name string) message.Value {
	if v.over != nil && v.over() {
		return message.Null() // the rest of the condition costs little then, and nobody looks at the answer
	}
	columns := v.columns()
	column, isColumn := columns.Lookup(name)
	if !v.opened { // a condition or an index mostly asks for several names
		v.rest = reader{b: v.bytes()}
		v.head, v.opened = readHead(&v.rest), true
	}
	h, rest := &v.head, v.rest
	r := &rest
	n := r.count(2)
	attribute, only := strings.CutPrefix(name, attributeMark)
	for range n {
		at := r.bytes()
		if !isColumn && string(at) == attribute {
			return r.value()
		}
		r.skipValue()
	}
	if only && !isColumn {
		return message.Null()
	}
	if isColumn {
		if h.flags&headRow == 0 {
			return message.Null()
		}
		if l := v.layout(); l != nil {
			return l.fields[column].of(func(at int) message.Value { return v.column(r, at) })
		}
		return v.column(r, column)
	}
	switch name {
	case "id":
		return message.String(h.id.String())
	case "key":
		if h.flags&headKey == 0 {
			return message.Null()
		}
		return message.String(string(h.key))
	case "enqueued_at":
		return message.Time(timeOf(v.acceptedAt()))
	case "attempts":
		return message.Int(int64(v.attempts()))
	case "body":
		if columns == nil {
			return v.bodyText()
		}
	}
	return message.Null()
}

// column reads the value that stands at index in the row as it was put, r being at the row.
func (v *entryEnv) column(r *reader, index int) message.Value {
	n := r.count(1)
	if index >= n {
		return message.Null()
	}
	large := 0 // how many values before it are in the body part
	for i := range n {
		isLarge := len(r.b) > 0 && message.Kind(r.b[0]) == kindLarge
		switch {
		case i == index && !isLarge:
			return r.value()
		case i == index:
			part, ok := v.bodyPart()
			if !ok {
				return message.Null()
			}
			br := &reader{b: part}
			for range large {
				br.skipValue()
			}
			return br.value()
		}
		if isLarge {
			large++
		}
		r.skipValue()
	}
	return message.Null()
}

func (v *entryEnv) bodyText() message.Value {
	part, ok := v.bodyPart()
	if !ok {
		return message.Null()
	}
	return message.String(string(part))
}

// bodyPart is what the journal keeps beside the head. Damage is reported when the message is claimed.
func (v *entryEnv) bodyPart() (part []byte, ok bool) {
	switch v.body {
	case bodyKnown:
		return v.part, true
	case bodyLater:
		v.body = bodyMissed
	}
	return nil, false
}

// messageEnv does for a message that is being put what entryEnv does for one that is kept.
type messageEnv struct {
	columns message.Columns
	m       *message.Message
	over    func() bool // who asks has given up; nil: nobody does
}

func (v *messageEnv) Lookup(name string) message.Value {
	if v.over != nil && v.over() {
		return message.Null() // the rest of the condition costs little then, and nobody looks at the answer
	}
	if i, ok := v.columns.Lookup(name); ok {
		if i < len(v.m.Row) {
			return v.m.Row[i]
		}
		return message.Null()
	}
	attribute, only := strings.CutPrefix(name, attributeMark)
	if x, ok := v.m.Attributes.Get(attribute); ok || only {
		return x
	}
	switch name {
	case "id":
		return message.String(v.m.ID.String())
	case "key":
		if v.m.Key != "" {
			return message.String(v.m.Key)
		}
	case "enqueued_at":
		return message.Time(v.m.Time)
	case "attempts":
		return message.Int(0)
	case "body":
		return message.String(string(v.m.Body))
	}
	return message.Null()
}

// known tells whether a condition on q may use name. Without columns every name may be an attribute's.
func (q *queueState) known(name string) bool {
	if q.def.Columns == nil {
		return true
	}
	_, ok := q.def.Columns.Lookup(name)
	return ok || slices.Contains(builtins, name)
}

// candidates are the names that known knows, for hints.
func (q *queueState) candidates() []string {
	names := slices.Clone(builtins)
	for _, c := range q.def.Columns {
		names = append(names, c.Name)
	}
	return names
}
