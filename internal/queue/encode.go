package queue

import (
	"fmt"
	"time"

	"github.com/hikyaku/hikyaku/internal/message"
)

// A message is kept as two parts. The head holds what conditions look at and what a start needs: it stays in memory.
// The body part holds the body, and the column values too large for the head: it stays in the journal.

// kindLarge stands in a head for a column value that is in the body part.
const kindLarge = message.Kind(0xFF)

// largeValue is the size above which a column value moves to the body part. (Attributes never do: they are small by
// nature, and bounded.)
const largeValue = 128

// Flags of a head: which of the rarer fields follow.
const (
	headKey = 1 << iota
	headDedup
	headNotBefore
	headExpires
	headDeath
	headOnly
	headRow
	headLarge // with headRow: some values are in the body part

	headUnknown // from here on: flags of later versions
)

// timeOf and microsOf convert between journaled time, microseconds since 1970, and time.Time. 0 is the zero time.
func timeOf(us int64) time.Time {
	if us == 0 {
		return time.Time{}
	}
	return time.UnixMicro(us).UTC()
}

func microsOf(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixMicro()
}

// headRoom is about how long m's head will be.
func headRoom(m *message.Message) int {
	n := 32 + len(m.Key) + len(m.Dedup) + len(m.Only)
	for i := range m.Attributes {
		n += len(m.Attributes[i].Name) + m.Attributes[i].Value.Size() + 4
	}
	for i := range m.Row {
		n += min(m.Row[i].Size(), largeValue) + 3
	}
	return n
}

// appendHead writes m's head behind b.
func appendHead(b []byte, m *message.Message) []byte {
	flags := uint64(0)
	set := func(bit uint64, on bool) {
		if on {
			flags |= bit
		}
	}
	set(headKey, m.Key != "")
	set(headDedup, m.Dedup != "")
	set(headNotBefore, !m.NotBefore.IsZero())
	set(headExpires, !m.Expires.IsZero())
	set(headDeath, m.Death != nil)
	set(headOnly, m.Only != "")
	set(headRow, m.Row != nil)
	for _, v := range m.Row {
		set(headLarge, v.Size() > largeValue)
	}
	b = append(b, m.ID[:]...)
	b = putUint(b, flags)
	b = putInt(b, microsOf(m.Time))
	if flags&headKey != 0 {
		b = putString(b, m.Key)
	}
	if flags&headDedup != 0 {
		b = putString(b, m.Dedup)
	}
	if flags&headNotBefore != 0 {
		b = putInt(b, microsOf(m.NotBefore))
	}
	if flags&headExpires != 0 {
		b = putInt(b, microsOf(m.Expires))
	}
	if d := m.Death; d != nil {
		b = putString(b, d.Queue)
		b = putString(b, d.Step)
		b = putString(b, d.Reason)
		b = putUint(b, uint64(max(0, d.Attempts)))
		b = putInt(b, microsOf(d.Time))
	}
	if flags&headOnly != 0 {
		b = putString(b, m.Only)
	}
	b = putUint(b, uint64(len(m.Attributes)))
	for _, a := range m.Attributes {
		b = putString(b, a.Name)
		b = putValue(b, a.Value)
	}
	if flags&headRow != 0 {
		b = putUint(b, uint64(len(m.Row)))
		for _, v := range m.Row {
			if v.Size() > largeValue {
				b = append(b, byte(kindLarge))
			} else {
				b = putValue(b, v)
			}
		}
	}
	return b
}

// bodyPart is what goes to the journal as the record's body.
func bodyPart(m *message.Message) []byte {
	large := false
	for _, v := range m.Row {
		large = large || v.Size() > largeValue
	}
	if !large {
		return m.Body
	}
	var b []byte
	for _, v := range m.Row {
		if v.Size() > largeValue {
			b = putValue(b, v)
		}
	}
	return append(b, m.Body...)
}

// headFields are the fixed fields of a head, before the attributes.
type headFields struct {
	id                       message.ID
	flags                    uint64
	time, notBefore, expires int64
	key, dedup               []byte
	death                    *message.Death
	only                     []byte
}

// readHead reads the fixed fields and leaves r at the attributes.
func readHead(r *reader) (h headFields) {
	copy(h.id[:], r.take(16))
	if h.flags = r.uint(); h.flags >= headUnknown {
		r.fail(fmt.Errorf("%w: a message with the flags %#x", errTruncated, h.flags))
	}
	h.time = r.int()
	if h.flags&headKey != 0 {
		h.key = r.bytes()
	}
	if h.flags&headDedup != 0 {
		h.dedup = r.bytes()
	}
	if h.flags&headNotBefore != 0 {
		h.notBefore = r.int()
	}
	if h.flags&headExpires != 0 {
		h.expires = r.int()
	}
	if h.flags&headDeath != 0 {
		h.death = &message.Death{Queue: r.string(), Step: r.string(), Reason: r.string(), Attempts: int(r.uint32()),
			Time: timeOf(r.int())}
	}
	if h.flags&headOnly != 0 {
		h.only = r.bytes()
	}
	return h
}

// checkHead says what of a head is not understood. A start asks it of every head, so that what a later version wrote is
// found before anything changes, and not by the reader of a message.
func checkHead(head []byte) error {
	r := &reader{b: head}
	h := readHead(r)
	for range r.count(2) {
		r.bytes()
		r.skipValue()
	}
	if h.flags&headRow != 0 {
		for range r.count(1) {
			r.skipValue()
		}
	}
	return r.done()
}

// decodeMessage makes the message of a head and its body part. body is kept, not copied. With a nil body, and large
// values in the row, those values are null. The error is a *journal.FormatError: the journal has checked both.
func decodeMessage(head []byte, body []byte) (message.Message, error) {
	m, err := parseMessage(head, body)
	return m, later("the log", "a message", err)
}

func parseMessage(head []byte, body []byte) (message.Message, error) {
	r := &reader{b: head}
	h := readHead(r)
	m := message.Message{
		ID: h.id, Time: timeOf(h.time), NotBefore: timeOf(h.notBefore), Expires: timeOf(h.expires),
		Key: string(h.key), Dedup: string(h.dedup), Death: h.death, Only: string(h.only),
	}
	if n := r.count(2); n > 0 {
		m.Attributes = make(message.Attributes, 0, n)
		for range n {
			m.Attributes = append(m.Attributes, message.Attribute{Name: r.string(), Value: r.value()})
		}
	}
	br := &reader{b: body}
	if h.flags&headRow != 0 {
		n := r.count(1)
		m.Row = make([]message.Value, 0, n)
		for range n {
			switch {
			case len(r.b) > 0 && message.Kind(r.b[0]) == kindLarge:
				r.byte()
				if body == nil {
					m.Row = append(m.Row, message.Null())
				} else {
					m.Row = append(m.Row, br.value())
				}
			default:
				m.Row = append(m.Row, r.value())
			}
		}
	}
	if err := r.done(); err != nil {
		return message.Message{}, err
	}
	if br.err != nil {
		return message.Message{}, br.err
	}
	m.Body = br.b
	return m, nil
}

// decodeRow reads the row in a head, as it was put; large tells which of its values, null here, are in the body part.
// nil: it has no row.
func decodeRow(head []byte) (row []message.Value, large []bool, err error) {
	r := &reader{b: head}
	h := readHead(r)
	for range r.count(2) {
		r.bytes()
		r.skipValue()
	}
	if h.flags&headRow == 0 {
		return nil, nil, r.err
	}
	n := r.count(1)
	row, large = make([]message.Value, n), make([]bool, n)
	for i := range n {
		if large[i] = len(r.b) > 0 && message.Kind(r.b[0]) == kindLarge; large[i] {
			r.byte()
		} else {
			row[i] = r.value()
		}
	}
	return row, large, r.done()
}
