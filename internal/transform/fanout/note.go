package fanout

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/hikyaku/hikyaku/internal/queue"
)

// memory is the part of a store that remembers.
type memory interface {
	KeepNotes(ctx context.Context, notes ...queue.Note) error
	Notes(ctx context.Context, room string) ([]queue.Note, error)
}

// What a run leaves behind, each under the key "RUN kind" or "RUN kind number":
//
//	began  {"after", "count", "at"}: the run and its watermark, everything before which is settled
//	page   the identities of a page's items, kept before any of them leaves
//	done   a bit for each item of a page that is settled; empty: all of them
//	over   the time when everything was settled
//
// and the transform under the key "labels": the number below which it has used labels.
const (
	noteBegan  = "began"
	notePage   = "page"
	noteDone   = "done"
	noteOver   = "over"
	noteLabels = "labels"
)

func noteKey(run, kind string, number uint32) string {
	if kind == noteBegan || kind == noteOver {
		return run + " " + kind
	}
	return fmt.Sprintf("%s %s %d", run, kind, number)
}

// readKey takes a key apart.
func readKey(key string) (run, kind string, number uint32, ok bool) {
	parts := strings.Split(key, " ")
	if len(parts) < 2 {
		return "", "", 0, false
	}
	if len(parts) == 3 {
		if _, err := fmt.Sscan(parts[2], &number); err != nil {
			return "", "", 0, false
		}
	}
	return parts[0], parts[1], number, true
}

// began is the value of a run's first note.
type began struct {
	After json.RawMessage `json:"after,omitempty"` // the cursor behind the last page of which everything is settled
	Count uint64          `json:"count"`           // items up to there
	At    int64           `json:"at"`              // Unix time
}

func (b *began) encode() []byte {
	text, err := json.Marshal(b)
	if err != nil { // After is valid JSON
		return []byte("{}")
	}
	return text
}

// encodePage is the value of a page's note.
func encodePage(p *page) []byte {
	b := binary.BigEndian.AppendUint64(nil, p.label)
	b = binary.AppendUvarint(b, uint64(len(p.end)))
	b = append(b, p.end...)
	for _, h := range p.items {
		b = binary.BigEndian.AppendUint64(b, h)
	}
	return b
}

var errBadNote = errors.New("a note about a fan-out cannot be read")

func decodePage(number uint32, b []byte) (*page, error) {
	if len(b) < 8 {
		return nil, errBadNote
	}
	p := &page{number: number, label: binary.BigEndian.Uint64(b)}
	size, n := binary.Uvarint(b[8:])
	if n <= 0 || uint64(len(b)-8-n) < size {
		return nil, errBadNote
	}
	b = b[8+n:]
	if size > 0 {
		p.end = slices.Clone(json.RawMessage(b[:size]))
	}
	b = b[size:]
	if len(b)%8 != 0 {
		return nil, errBadNote
	}
	for ; len(b) > 0; b = b[8:] {
		p.items = append(p.items, binary.BigEndian.Uint64(b))
	}
	p.done, p.sent = newBits(len(p.items)), newBits(len(p.items))
	p.left = len(p.items)
	return p, nil
}

// settle notes what a done note says.
func (p *page) settle(b []byte) error {
	switch {
	case len(b) == 0:
		p.done.fill(len(p.items))
	case len(b) != len(p.done):
		return errBadNote
	default:
		copy(p.done, b)
	}
	if p.left = len(p.items) - p.done.count(); p.left < 0 {
		return errBadNote // bits of items that there are not
	}
	return nil
}

// encodeDone is the value of a done note.
func (p *page) encodeDone() []byte {
	if p.left == 0 {
		return []byte{}
	}
	return slices.Clone(p.done)
}

// bits are a set of small numbers.
type bits []byte

func newBits(n int) bits { return make(bits, (n+7)/8) }

func (b bits) has(i int) bool { return b[i/8]&(1<<(i%8)) != 0 }
func (b bits) set(i int)      { b[i/8] |= 1 << (i % 8) }
func (b bits) clear(i int)    { b[i/8] &^= 1 << (i % 8) }

func (b bits) fill(n int) {
	for i := range n {
		b.set(i)
	}
}

func (b bits) count() (n int) {
	for _, x := range b {
		for ; x != 0; x &= x - 1 {
			n++
		}
	}
	return n
}

// stale is how long ago the last page of a run left whose message never came again: it is forgotten.
const stale = 7 * 24 * time.Hour
