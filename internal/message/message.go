// Package message holds what travels: a Message with its body and attributes, the Values attributes and columns are
// made of, the columns a queue may declare, and the hops of a journey.
//
// It knows nothing of queues, journals or protocols. Doors make Messages, queues keep them, sinks deliver them:
//
//	m := message.Message{Body: []byte(`hello`)}
//	m.Attributes.Set("lang", message.String("ja"))
package message

import (
	"slices"
	"strings"
	"time"
)

// Message is a body and attributes, and what a queue has to know to keep them.
//
// Whoever receives a Message may read it freely and must not change its Body, Row or Attributes in place:
// several readers may share them. Use Clone to get one to change.
type Message struct {
	ID         ID
	Body       []byte
	Row        []Value    // the values of the queue's columns, in their order; nil in a queue without columns
	Attributes Attributes // ordered by name
	Key        string     // messages of one key keep their order; "" is no key
	// deduplication id: a second put within the queue's window is answered with the first's id; "" is none
	Dedup     string
	Time      time.Time // when it was published (or, if the publisher did not say, accepted)
	NotBefore time.Time // sleeps until then; zero: does not sleep
	Expires   time.Time // dropped if not claimed by then; zero: the queue's retention decides
	Death     *Death    // why it is in a dead-letter queue; nil elsewhere
	Only      string    // set by a replay: the one pipeline step that it is meant for; "" is every step
	Origin    Origin    // the place in an outside source that it was read from; zero: none
	Hops      Hops      // where it has been; not kept in the journal, but for Accepted
}

// Death tells how a message came to be a dead letter.
type Death struct {
	Queue    string    // the queue it was taken from, as namespace/name; "" if it never was in one
	Step     string    // the pipeline step that gave it up; "" when the queue did (out of attempts)
	Reason   string    // for a person
	Attempts int       // how often it had been handed out
	Time     time.Time // when
}

// Origin names the place in an outside source (a file, another server) that a message was made from, so that reading
// that place again after a crash puts nothing twice. A queue refuses, as a duplicate, what it took before from the same
// Source, Offset and Part, and whatever lies below the highest Mark it has seen from that Source.
type Origin struct {
	Source string // identity of the source: for a file its device, inode and first bytes, not its name; "" is no origin
	Offset uint64 // place in it
	Part   uint64 // tells apart the messages made from one place; 0 for the one that was read
	Mark   uint64 // everything below is settled for good and will not be sent again
}

// Clone returns a copy whose Body, Row and Attributes may be replaced and Attributes changed without touching m.
// The bytes of the body are shared: replace Body, never write into it.
func (m *Message) Clone() *Message {
	c := *m
	c.Attributes = slices.Clone(m.Attributes)
	c.Row = slices.Clone(m.Row)
	return &c
}

// Size is what a message counts against byte limits: body, row, attributes with their names, and key.
func (m *Message) Size() int {
	n := len(m.Body) + len(m.Key)
	for _, v := range m.Row {
		n += v.Size()
	}
	for _, a := range m.Attributes {
		n += len(a.Name) + a.Value.Size()
	}
	return n
}

// Attribute is a named value.
type Attribute struct {
	Name  string
	Value Value
}

// MaxAttributes is how many a message has at most. Each takes some hundred bytes when it is read, however short it is.
const MaxAttributes = 1000

// Attributes are ordered by name, each name once. The zero value is empty and ready to use.
type Attributes []Attribute

func (a Attributes) find(name string) (int, bool) {
	return slices.BinarySearchFunc(a, name, func(x Attribute, n string) int { return strings.Compare(x.Name, n) })
}

// Get returns the value of that name; ok is false when there is none.
func (a Attributes) Get(name string) (v Value, ok bool) {
	if i, ok := a.find(name); ok {
		return a[i].Value, true
	}
	return Value{}, false
}

// Set adds or replaces a value.
func (a *Attributes) Set(name string, v Value) {
	i, ok := a.find(name)
	if ok {
		(*a)[i].Value = v
		return
	}
	*a = slices.Insert(*a, i, Attribute{Name: name, Value: v})
}

// Delete removes a value, if there is one of that name.
func (a *Attributes) Delete(name string) {
	if i, ok := a.find(name); ok {
		*a = slices.Delete(*a, i, i+1)
	}
}
