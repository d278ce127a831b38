package codec

import (
	"github.com/hikyaku/hikyaku/internal/condition"
	"github.com/hikyaku/hikyaku/internal/message"
)

// Matcher holds conditions about messages on their way. A name in them is, whichever the message has first: an
// attribute; a field of the body when that is a JSON object, fields of fields with dots; or one of the built-in id,
// key, time and enqueued_at (both: when it was published) and body (its text). The body is read only when a name is no
// attribute, and once for all the conditions. A field that is an object or array is null. A Matcher is never changed:
// any number of goroutines may use one at once.
type Matcher struct {
	conditions []*condition.Bound
	names      []string
	slots      map[string]int
	parents    map[string]bool
}

// NewMatcher makes a Matcher of conditions; Subject.Match names them by their place.
func NewMatcher(conditions ...*condition.Expr) *Matcher {
	m := &Matcher{slots: map[string]int{}, parents: map[string]bool{}}
	for _, c := range conditions {
		m.conditions = append(m.conditions, c.Bind(m.slot))
	}
	return m
}

func (m *Matcher) slot(name string) (int, bool) {
	slot, known := m.slots[name]
	if !known {
		slot = len(m.names)
		m.slots[name] = slot
		m.names = append(m.names, name)
		addParents(m.parents, name)
	}
	return slot, true
}

// Subject is one message before the conditions. It is for one goroutine.
type Subject struct {
	matcher *Matcher
	message *message.Message
	fields  []bodyField // by slot; nil while the body was not read
}

type bodyField struct {
	value message.Value
	found bool
}

// Subject puts a message before m's conditions. The message must not be changed while the Subject is used.
func (m *Matcher) Subject(msg *message.Message) *Subject {
	return &Subject{matcher: m, message: msg}
}

// Match tells whether the i-th condition is true for the message.
func (s *Subject) Match(i int) bool { return s.matcher.conditions[i].Match(s) }

// Slot gives a name its value, for package condition.
func (s *Subject) Slot(slot int) message.Value {
	name := s.matcher.names[slot]
	if v, ok := s.message.Attributes.Get(name); ok {
		return v
	}
	if s.fields == nil {
		s.readBody()
	}
	if f := s.fields[slot]; f.found {
		return f.value
	}
	return builtIn(s.message, name)
}

func builtIn(m *message.Message, name string) message.Value {
	switch name {
	case "id":
		if !m.ID.IsZero() {
			return message.String(m.ID.String())
		}
	case "key":
		if m.Key != "" {
			return message.String(m.Key)
		}
	case "time", "enqueued_at":
		if !m.Time.IsZero() {
			return message.Time(m.Time)
		}
	case "body":
		return message.String(string(m.Body))
	}
	return message.Null()
}

// readBody finds the fields that conditions name. A body that is no JSON has none.
func (s *Subject) readBody() {
	s.fields = make([]bodyField, len(s.matcher.names))
	scan := scanner{src: s.message.Body}
	scan.space()
	if scan.pos == len(scan.src) || scan.src[scan.pos] != '{' {
		return
	}
	scan.visitor = (*subjectVisit)(s)
	if _, err := scan.document(); err != nil {
		clear(s.fields)
	}
}

// subjectVisit is the visitor of a Subject's body.
type subjectVisit Subject

func (v *subjectVisit) scalar(s *scanner, _, start, end int) error {
	slot, ok := v.matcher.slots[string(s.path)]
	if !ok {
		return nil
	}
	value, err := scalarValue(s.src[start:end])
	if err != nil {
		value = message.Null() // no condition can compare such a number
	}
	v.fields[slot] = bodyField{value, true}
	return nil
}

func (v *subjectVisit) composite(s *scanner, _, _ int) (bool, error) {
	if slot, ok := v.matcher.slots[string(s.path)]; ok {
		v.fields[slot] = bodyField{found: true}
	}
	return v.matcher.parents[string(s.path)], nil
}
