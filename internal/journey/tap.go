package journey

import (
	"bytes"
	"errors"
	"maps"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/hikyaku/hikyaku/internal/message"
)

const (
	// MaxTaps bounds the taps that are open at once.
	MaxTaps = 8
	// TapBody is how much of a body a tap keeps.
	TapBody = 64 << 10
	// TapBytes and tapEvents bound what waits for one tap. What comes then is lost to it.
	TapBytes  = 4 << 20
	tapEvents = 10_000
	// tappedCost is what an event takes beside its message.
	tappedCost = 512
)

// ErrTaps: as many taps are open as may be.
var ErrTaps = errors.New("too many taps are open")

// Tapped is what happened to a message, for those who watch a place.
type Tapped struct {
	Note
	Message *message.Message // a copy, with the first TapBody bytes of its body; nil: only its id is known
	Size    int              // of the whole body
}

// Taps let others watch what happens at a place, with the messages themselves. Who tells never waits for them. The zero
// value is ready, and nobody taps a nil *Taps.
type Taps struct {
	open atomic.Pointer[map[Place][]*Tap] // nil: there is none
	mu   sync.Mutex                       // of changes of open
}

// On tells whether anybody taps anything: who tells nothing else need not ask more.
func (t *Taps) On() bool { return t != nil && t.open.Load() != nil }

// Open begins to watch a place. The tap has to be closed.
func (t *Taps) Open(at Place) (*Tap, error) {
	tap := &Tap{of: t, at: at, wake: make(chan struct{}, 1)}
	return tap, t.change(func(taps map[Place][]*Tap) error {
		n := 0
		for _, some := range taps {
			n += len(some)
		}
		if n >= MaxTaps {
			return ErrTaps
		}
		taps[at] = append(slices.Clone(taps[at]), tap)
		return nil
	})
}

// change puts changed taps in the place of those that are open.
func (t *Taps) change(do func(map[Place][]*Tap) error) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	taps := map[Place][]*Tap{}
	if now := t.open.Load(); now != nil {
		maps.Copy(taps, *now)
	}
	if err := do(taps); err != nil {
		return err
	}
	if len(taps) == 0 {
		t.open.Store(nil)
		return nil
	}
	t.open.Store(&taps)
	return nil
}

// Tell tells those who watch n.Place. m is copied, and may be nil.
func (t *Taps) Tell(n *Note, m *message.Message) {
	if t == nil {
		return
	}
	if taps := t.open.Load(); taps != nil {
		for _, tap := range (*taps)[n.Place] {
			tap.add(n, m)
		}
	}
}

// Tap is what happens at a place, for one who watches it.
type Tap struct {
	of   *Taps
	at   Place
	wake chan struct{} // has one when there is something to take

	mu      sync.Mutex
	events  []Tapped
	bytes   int
	dropped uint64
}

// Wake has a value when there is something to take.
func (t *Tap) Wake() <-chan struct{} { return t.wake }

// Take takes what happened since the last call, and how much of it was lost since it was not taken in time.
func (t *Tap) Take() (events []Tapped, dropped uint64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	events, dropped = t.events, t.dropped
	t.events, t.bytes, t.dropped = nil, 0, 0
	return events, dropped
}

// Close ends the watching.
func (t *Tap) Close() {
	_ = t.of.change(func(taps map[Place][]*Tap) error { // it never says no
		left := slices.DeleteFunc(slices.Clone(taps[t.at]), func(x *Tap) bool { return x == t })
		if taps[t.at] = left; len(left) == 0 {
			delete(taps, t.at)
		}
		return nil
	})
}

func (t *Tap) add(n *Note, m *message.Message) {
	size := tappedCost
	if m != nil {
		size += m.Size() - max(0, len(m.Body)-TapBody)
	}
	t.mu.Lock()
	room := len(t.events) < tapEvents && t.bytes+size <= TapBytes
	if room {
		t.bytes += size
	} else {
		t.dropped++
	}
	t.mu.Unlock()
	if room { // copied without the lock
		e := Tapped{Note: *n}
		e.Hops = nil
		e.By, e.Text = strings.Clone(n.By), strings.Clone(n.Text)
		if m != nil {
			e.Message, e.Size = copied(m), len(m.Body)
		}
		t.mu.Lock()
		t.events = append(t.events, e)
		t.mu.Unlock()
	}
	select {
	case t.wake <- struct{}{}:
	default:
	}
}

// copied is a message that shares nothing with m, whose texts may be parts of a request.
func copied(m *message.Message) *message.Message {
	c := *m
	c.Body = bytes.Clone(m.Body[:min(len(m.Body), TapBody)])
	c.Row = slices.Clone(m.Row)
	for i := range c.Row {
		c.Row[i] = c.Row[i].Clone()
	}
	c.Attributes = slices.Clone(m.Attributes)
	for i := range c.Attributes {
		a := &c.Attributes[i]
		a.Name, a.Value = strings.Clone(a.Name), a.Value.Clone()
	}
	c.Key, c.Dedup, c.Only = strings.Clone(m.Key), strings.Clone(m.Dedup), strings.Clone(m.Only)
	c.Origin.Source = strings.Clone(m.Origin.Source)
	if m.Death != nil {
		d := *m.Death
		c.Death = &d
	}
	return &c
}
