package rows

import (
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"strings"
	"unsafe"

	"github.com/hikyaku/hikyaku/internal/component"
	"github.com/hikyaku/hikyaku/internal/message"
)

// pile is rows of one layout, made from some of the messages of a batch.
type pile struct {
	layout *layout
	values []Value
	from   []int // the messages' places in the batch
}

// builder makes piles of messages.
type builder struct {
	settings  *settings
	plan      *plan
	scan      *scanner
	row       []Value // of the message that is read, where the next row of whole has its place
	without   []byte
	whole     *pile // of rows that leave out nothing; it is among piles once it has one
	piles     []*pile
	strangers []string // fields for which there is no column, the first of each message
	spare     []Value  // memory
}

func newBuilder(s *settings, p *plan) *builder {
	return &builder{settings: s, plan: p, scan: newScanner(p.names), without: make([]byte, (len(p.slots)+7)/8)}
}

// mostSpare bounds the values whose memory is kept from one batch to the next.
const mostSpare = 1 << 17

// forget lets go of the rows that were made, but for their memory.
func (b *builder) forget() {
	if b.whole != nil && cap(b.whole.values) <= mostSpare {
		b.spare = b.whole.values[:cap(b.whole.values)]
		clear(b.spare)
	}
	b.whole, b.row, b.piles, b.strangers = nil, nil, nil, nil
}

// build reads the messages at the places that todo has. Those that make no row get their outcome at once.
func (b *builder) build(batch []*message.Message, todo []int, outcomes []component.Outcome) {
	width := len(b.plan.slots)
	values := b.spare[:0]
	if b.spare = nil; cap(values) < len(todo)*width {
		values = make([]Value, 0, len(todo)*width)
	}
	b.whole = &pile{layout: b.plan.full, values: values, from: make([]int, 0, len(todo))}
	for _, i := range todo {
		m := batch[i]
		n := len(b.whole.values)
		b.row = b.whole.values[n : n+width]
		// Nobody changes the body of a message, so that the values of the row may be pieces of it.
		if err := b.read(m, unsafe.String(unsafe.SliceData(m.Body), len(m.Body))); err != nil {
			outcomes[i] = component.Reject(err)
			continue
		}
		b.keep(i)
	}
}

// keep puts the row on the pile of its layout.
func (b *builder) keep(i int) {
	l := b.plan.full
	for _, w := range b.without {
		if w != 0 {
			l = b.plan.layout(b.without)
			break
		}
	}
	if l == b.plan.full {
		p := b.whole
		if len(p.from) == 0 {
			b.piles = append(b.piles, p)
		}
		p.from, p.values = append(p.from, i), p.values[:len(p.values)+len(b.row)]
		return
	}
	var p *pile
	for _, have := range b.piles { // there are few
		if have.layout == l {
			p = have
		}
	}
	if p == nil {
		p = &pile{layout: l}
		b.piles = append(b.piles, p)
	}
	p.from = append(p.from, i)
	for k, v := range b.row {
		if !leftOut(b.without, k) {
			p.values = append(p.values, v)
		}
	}
}

var (
	errNoObject = errors.New("the body is no JSON object, and no column takes it as it is: make one of it (a decode " +
		"or jq transform), or write one of the columns as NAME: $body")
	errNothing = errors.New("it has no field and no attribute for any column")

	errNullKey      = errors.New("it is null, and no row is found by that; it belongs to the key")
	errNothingToSet = errors.New("it has nothing to set: no field and no attribute for any column beside the key")
)

// read makes the row of one message.
func (b *builder) read(m *message.Message, body string) error {
	object := isObject(body)
	if object {
		if err := b.scan.object(body); err != nil {
			return err
		}
		if b.scan.stranger != "" {
			if err := b.unknown(); err != nil {
				return err
			}
		}
	} else {
		if len(strings.TrimSpace(body)) > 0 && !b.plan.body && b.settings.unknown == refuse {
			return errNoObject
		}
		clear(b.scan.tokens)
	}
	clear(b.without)
	found, set := b.plan.body, false
	for i := range b.plan.slots {
		s := &b.plan.slots[i]
		var err error
		if s.source != fromField {
			b.row[i], err = b.special(i, s, m, body)
		} else if t := b.scan.tokens[s.field]; t.form != absent {
			found = true
			b.row[i], err = s.value(t)
		} else if v, ok := attribute(m, s.name); ok {
			found = true
			b.row[i], err = s.ofAttribute(v)
		} else {
			b.row[i], err = b.missing(i, s)
		}
		if err == nil && s.key && b.settings.mode.Finds() && b.row[i].IsNull() {
			err = fmt.Errorf("the column %s of %s: %w", s.Name, b.plan.table.Name, errNullKey)
		}
		if err != nil {
			return err
		}
		set = set || !s.key && !leftOut(b.without, i)
	}
	if b.settings.mode == Update && !set {
		return errNothingToSet
	}
	if !found && len(b.plan.names.quoted) > 0 {
		return errNothing
	}
	return nil
}

func attribute(m *message.Message, name string) (message.Value, bool) {
	if len(m.Attributes) == 0 {
		return message.Value{}, false
	}
	return m.Attributes.Get(name)
}

// unknown notes the field without a column, and refuses the message if it is to be.
func (b *builder) unknown() error {
	name := b.scan.stranger
	b.strangers = append(b.strangers, name)
	if b.settings.unknown == drop {
		return nil
	}
	return fmt.Errorf("the field %s: %w in %s (unknown: drop leaves such fields out)", shorten(name), ErrUnknown,
		b.plan.table.Name)
}

// missing is what a column takes for which there is nothing.
func (b *builder) missing(i int, s *slot) (Value, error) {
	switch {
	case s.key:
	case b.settings.mode == Update && b.settings.missing != refuse && !(b.settings.missing == asNull && s.Nullable):
		b.without[i/8] |= 1 << (i % 8)
		return Value{}, nil
	case s.Default && (b.settings.missing == asDefault || b.settings.missing == asNull && !s.Nullable ||
		b.settings.missing == refuse && !s.chosen):
		b.without[i/8] |= 1 << (i % 8)
		return Value{}, nil
	case s.Nullable && b.settings.missing != refuse:
		return Value{}, nil
	}
	why := ""
	switch {
	case s.key:
		why = "; it belongs to the key, and mode: " + b.settings.mode.String() + " goes by that"
	case !s.Nullable && b.settings.mode != Update:
		why = "; the column takes no null and has no default"
	}
	return Value{}, fmt.Errorf("the column %s of %s: %w%s", s.Name, b.plan.table.Name, errMissing(s), why)
}

func errMissing(s *slot) error {
	if s.source == fromField && s.name != s.Name {
		return fmt.Errorf("%w: %s", ErrMissing, s.name)
	}
	return ErrMissing
}

// special is the value of a column that takes no field.
func (b *builder) special(i int, s *slot, m *message.Message, body string) (Value, error) {
	switch s.source {
	case fromID:
		id := identity(m)
		if id.IsZero() {
			return b.nothing(i, s)
		}
		return s.ofID(id)
	case fromKey:
		if m.Key == "" {
			return b.nothing(i, s)
		}
		return s.ofString(m.Key)
	case fromTime:
		if m.Time.IsZero() {
			return b.nothing(i, s)
		}
		return s.ofTime(m.Time)
	case fromAttributes:
		text := string(appendAttributes(nil, m.Attributes))
		if s.Kind == JSON {
			return JSONOf(text), nil
		}
		return s.ofText(text)
	default:
		return s.ofBytes(body)
	}
}

// ofID converts a message's id: a UUID, its 16 bytes, or its text.
func (c *Column) ofID(id message.ID) (Value, error) {
	switch c.Kind {
	case UUID:
		return UUIDOf(id), nil
	case Bytes:
		return c.bytes(string(id[:]))
	}
	return c.ofText(id.String())
}

// nothing is a key or time that the message does not have: it is as if null were said.
func (b *builder) nothing(i int, s *slot) (Value, error) {
	if b.settings.mode == Update && b.settings.missing == asDefault && !s.key {
		b.without[i/8] |= 1 << (i % 8)
		return Value{}, nil
	}
	if s.Nullable && b.settings.missing != refuse && !s.key {
		return Value{}, nil
	}
	return Value{}, fmt.Errorf("the column %s of %s: the message has no %s", s.Name, b.plan.table.Name, s.name)
}

// identity is the id of a message. One that was read from a file and comes again after a crash would have another:
// where it was read is the same.
func identity(m *message.Message) message.ID {
	if m.Origin.Source == "" {
		return m.ID
	}
	place := make([]byte, 0, 128)
	place = append(place, m.Origin.Source...)
	place = binary.BigEndian.AppendUint64(place, m.Origin.Offset)
	place = binary.BigEndian.AppendUint64(place, m.Origin.Part)
	sum := sha256.Sum256(place)
	id := message.ID(sum[:16])
	id[6] = id[6]&0x0f | 0x80 // version 8 of RFC 9562: made by a rule of one's own
	id[8] = id[8]&0x3f | 0x80
	return id
}
