package codec

import "github.com/hikyaku/hikyaku/internal/message"

// Fields reads named values of messages, by the rules of Matcher. It is never changed: any number of goroutines may use
// one at once.
type Fields struct {
	matcher *Matcher
	slots   []int
}

// NewFields makes a Fields of names.
func NewFields(names ...string) *Fields {
	f := &Fields{matcher: NewMatcher()}
	for _, name := range names {
		slot, _ := f.matcher.slot(name)
		f.slots = append(f.slots, slot)
	}
	return f
}

// Read returns the values of the names, in their order. What a message does not have is null, as is a field that is an
// object or array.
func (f *Fields) Read(m *message.Message) []message.Value {
	subject := f.matcher.Subject(m)
	values := make([]message.Value, len(f.slots))
	for i, slot := range f.slots {
		values[i] = subject.Slot(slot)
	}
	return values
}
