package interest

import "github.com/hikyaku/hikyaku/internal/message"

// names are those that conditions of a set speak of, each once, however many do.
type names struct{ table[*name] }

// name keeps a message's value while the message is looked at.
type name struct {
	text  string
	uses  int
	round uint64 // whose message value is of
	value message.Value
}

// take returns the name for one more use.
func (n *names) take(text string) *name {
	x, ok := n.get(text)
	if !ok {
		x = &name{text: text}
		n.put(text, x)
	}
	x.uses++
	return x
}

// release ends one use.
func (n *names) release(x *name) {
	if x.uses--; x.uses == 0 {
		n.drop(x.text)
	}
}
