package journey

import (
	"cmp"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hikyaku/hikyaku/internal/message"
)

// Options bound a Store. A zero is the default.
type Options struct {
	Bytes     int64         // what it takes in memory, about; 0: 16 MiB
	Keep      time.Duration // how long a journey is remembered, from its latest step; 0: an hour
	PerSecond int           // journeys that are remembered whatever becomes of them; 0: 1,000
	Clock     func() time.Time
	Spans     *Spans // tells a tracer of those whose senders want to see them; nil: none
}

// Defaults of Options.
const (
	DefaultBytes     = 16 << 20
	DefaultKeep      = time.Hour
	DefaultPerSecond = 1000
)

// shares is into how many parts a Store is divided, each with a lock, so that those who record do not wait for each
// other.
const shares = 64

// Store remembers journeys. Its methods may be called from any goroutine.
type Store struct {
	keep    time.Duration
	clock   func() time.Time
	spans   *Spans
	sampler sampler
	parts   [shares]part

	meters atomic.Pointer[map[Place]*meter]
	adding sync.Mutex // of meters
}

// New makes a Store that remembers nothing yet.
func New(o Options) *Store {
	s := &Store{keep: cmp.Or(o.Keep, DefaultKeep), clock: o.Clock, spans: o.Spans}
	if s.clock == nil {
		s.clock = time.Now
	}
	s.sampler.most = int64(cmp.Or(o.PerSecond, DefaultPerSecond))
	each := cmp.Or(o.Bytes, DefaultBytes) / shares
	for i := range s.parts {
		s.parts[i].begin(each, s.keep)
	}
	s.meters.Store(&map[Place]*meter{})
	return s
}

// Spans are those of Options.
func (s *Store) Spans() *Spans {
	if s == nil {
		return nil
	}
	return s.spans
}

// part is the part of the store that has a message's journey, if any does.
func (s *Store) part(id *message.ID) *part { return &s.parts[id[15]%shares] }

// Begin tells of a message that is new. Its journey is remembered from here on if it is one of those that are taken
// whatever becomes of them.
func (s *Store) Begin(n *Note) {
	if s != nil && !n.ID.IsZero() {
		s.add(n, s.sampler.takes(&n.ID, n.Time), false)
	}
}

// Add tells of a step that is worth nothing by itself: it is remembered if the message's journey is.
func (s *Store) Add(n *Note) {
	if s != nil {
		s.add(n, false, false)
	}
}

// add is add of the part that the message belongs to. Most messages are not remembered, and most of those are found
// out without the lock.
func (s *Store) add(n *Note, begin, worth bool) {
	if p := s.part(&n.ID); begin || p.mayHave(&n.ID) {
		p.add(n, begin, worth)
	}
}

// Keep tells of a step for which the journey is worth remembering: the message failed, or has to be tried again.
func (s *Store) Keep(n *Note) {
	if s != nil && !n.ID.IsZero() {
		s.add(n, true, true)
	}
}

// Made tells of a message that was made of another one, n.Place saying by which step. It is remembered if the other one
// is, and few were made of that so far.
func (s *Store) Made(of message.ID, n *Note) {
	if s == nil || of == n.ID || n.ID.IsZero() {
		return
	}
	if p := s.part(&of); !p.mayHave(&of) || !p.mayMake(of) {
		return
	}
	made := *n
	made.ID, made.Kind, made.Text, made.Hops = of, Made, n.ID.String(), nil
	s.add(&made, false, false)
	n.Kind, n.Text, n.Hops = MadeFrom, of.String(), nil
	s.add(n, true, false)
}

// End tells of a step that took so long. The journey is worth remembering if that is more than the 99th percentile at
// its place.
func (s *Store) End(n *Note, took time.Duration) {
	if s == nil || n.ID.IsZero() {
		return
	}
	slow := s.meter(n.Place).isSlow(took)
	s.add(n, slow, slow)
}

// Took tells how long a part of what ended at a place lately took at most: 0.99 of it is the 99th percentile. It is an
// estimate. ok is false when nothing is known.
func (s *Store) Took(at Place, part float64) (d time.Duration, ok bool) {
	if s == nil {
		return 0, false
	}
	m := (*s.meters.Load())[at]
	if m == nil {
		return 0, false
	}
	return m.within(part)
}

// maxMeters bounds the places that have a meter of their own; the others share one.
const maxMeters = 1000

// meter is that of a place.
func (s *Store) meter(p Place) *meter {
	if m := (*s.meters.Load())[p]; m != nil {
		return m
	}
	s.adding.Lock()
	defer s.adding.Unlock()
	old := *s.meters.Load()
	if len(old) >= maxMeters {
		if p = (Place{}); old[p] != nil {
			return old[p]
		}
	}
	if m := old[p]; m != nil {
		return m
	}
	meters := make(map[Place]*meter, len(old)+1)
	for k, m := range old {
		meters[k] = m
	}
	m := &meter{}
	meters[Place{cloned(p.Namespace), cloned(p.Name)}] = m
	s.meters.Store(&meters)
	return m
}
