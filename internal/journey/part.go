package journey

import (
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hikyaku/hikyaku/internal/message"
)

// part is a part of a Store: the journeys of some ids.
type part struct {
	mu       sync.Mutex
	entries  map[message.ID]*entry
	ordinary line // the one that nothing happened to for longest in front
	worth    line // likewise: those that failed or were slow
	most     int64
	keep     int64
	gone     uint64 // journeys that were forgotten for want of room, since they were worth something
	names    map[Place]uint16
	places   []Place // by number
	_        [64]byte

	// here counts the entries by a hash of their ids: where it is zero there is none, which is known without the lock.
	here []atomic.Int32
}

// hereEach is for how many bytes of entries there is a count: four for each entry of the usual size.
const hereEach = 128

// entry is one journey.
type entry struct {
	id         message.ID
	steps      []step
	leftOut    uint32 // steps
	texts      uint32 // bytes
	made       uint8  // messages that were made of it, up to maxMade
	worth      bool
	late       bool   // it is remembered from some step on; what was before that is known by its hops only
	began      int64  // its first step
	last       int64  // its latest one
	prev, next *entry // in its line
}

// entryBytes is about what an entry takes, with its place in the map, but for its steps.
const entryBytes = 208

func (e *entry) size() int64 { return entryBytes + int64(cap(e.steps))*stepBytes + int64(e.texts) }

// line is entries in the order of their latest steps.
type line struct {
	first, last *entry
	bytes       int64
	n           int
}

func (l *line) push(e *entry) {
	e.prev, e.next = l.last, nil
	if l.last != nil {
		l.last.next = e
	} else {
		l.first = e
	}
	l.last = e
	l.n++
	l.bytes += e.size()
}

func (l *line) take(e *entry) {
	if e.prev != nil {
		e.prev.next = e.next
	} else {
		l.first = e.next
	}
	if e.next != nil {
		e.next.prev = e.prev
	} else {
		l.last = e.prev
	}
	l.n--
	l.bytes -= e.size()
}

func (p *part) begin(most int64, keep time.Duration) {
	p.most, p.keep = most, int64(keep)
	p.entries = map[message.ID]*entry{}
	p.here = make([]atomic.Int32, max(1, most/hereEach))
	p.names, p.places = map[Place]uint16{{}: 0}, []Place{{}}
}

// count is where the entry of an id is counted.
func (p *part) count(id *message.ID) *atomic.Int32 {
	return &p.here[hashOf(id)>>32*uint64(len(p.here))>>32]
}

// mayHave tells whether there may be an entry of an id.
func (p *part) mayHave(id *message.ID) bool { return p.count(id).Load() != 0 }

// lineOf is the line that e stands in.
func (p *part) lineOf(e *entry) *line {
	if e.worth {
		return &p.worth
	}
	return &p.ordinary
}

// add adds a step to the message's journey, and begins one if there is none and begin says so. worth makes it one that
// goes last.
func (p *part) add(n *Note, begin, worth bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	e := p.entries[n.ID]
	switch {
	case e == nil && !begin:
		return
	case e == nil:
		e = &entry{id: n.ID, began: n.Time, steps: make([]step, 0, 6), worth: worth}
		if n.Hops != nil {
			e.late = true
			p.arrive(e, n)
		}
		p.entries[n.ID] = e
		p.count(&e.id).Add(1)
	default:
		p.lineOf(e).take(e) // it goes to the end, with another size
		e.worth = e.worth || worth
	}
	p.append(e, step{at: n.Time, kind: n.Kind, place: p.number(n.Place), by: p.number(Place{Name: n.By}),
		attempt: uint32(min(max(0, n.Attempt), 1<<31)), lasts: n.For, text: shortened(n.Text)})
	e.last = max(e.last, n.Time)
	p.lineOf(e).push(e)
	p.forget(n.Time)
}

// maxMade bounds how many of the messages that are made of one are remembered with it.
const maxMade = 16

// mayMake counts a message that was made of another one, and tells whether it is remembered with that.
func (p *part) mayMake(of message.ID) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	e := p.entries[of]
	if e == nil || e.made == maxMade {
		return false
	}
	e.made++
	return true
}

// arrive begins a journey with what is known of the way to its first step.
func (p *part) arrive(e *entry, n *Note) {
	h := n.Hops
	from := p.number(n.From)
	for _, k := range [...]struct {
		hop  message.Hop
		kind Kind
	}{{message.Accepted, Accepted}, {message.Durable, Durable}, {message.Claimed, Claimed}} {
		if at := h[k.hop]; at != 0 && k.kind != n.Kind {
			p.append(e, step{at: at, kind: k.kind, place: from})
			e.began = min(e.began, at)
		}
	}
}

// append adds a step in its place by time: a reader may have a message before who put it knows that it is durable.
func (p *part) append(e *entry, s step) {
	if len(e.steps) == maxSteps {
		e.texts -= uint32(len(e.steps[firstSteps].text))
		e.steps = append(e.steps[:firstSteps], e.steps[firstSteps+1:]...)
		e.leftOut++
	}
	i := len(e.steps)
	for i > 0 && e.steps[i-1].at > s.at {
		i--
	}
	e.steps = append(e.steps, step{})
	copy(e.steps[i+1:], e.steps[i:])
	e.steps[i] = s
	e.texts += uint32(len(s.text))
}

// forget removes what is too old, and what there is no room for: of what is worth something no more than is needed for
// that to have half of the room.
func (p *part) forget(now int64) {
	for _, l := range [...]*line{&p.ordinary, &p.worth} {
		for l.first != nil && l.first.last < now-p.keep {
			p.remove(l, l.first)
		}
	}
	for p.ordinary.bytes+p.worth.bytes > p.most {
		switch {
		case p.ordinary.first != nil && (p.worth.bytes <= p.most/2 || p.worth.first == nil):
			p.remove(&p.ordinary, p.ordinary.first)
		case p.worth.first != nil:
			p.gone++
			p.remove(&p.worth, p.worth.first)
		default:
			return
		}
	}
}

func (p *part) remove(l *line, e *entry) {
	l.take(e)
	delete(p.entries, e.id)
	p.count(&e.id).Add(-1)
}

// maxNames bounds the names of places that a part knows. Further ones are not told.
const maxNames = 4096

// number is the number of a name in this part. 0: none.
func (p *part) number(n Place) uint16 {
	if i, ok := p.names[n]; ok {
		return i
	}
	if len(p.places) == maxNames {
		return 0
	}
	n = Place{cloned(n.Namespace), cloned(n.Name)}
	i := uint16(len(p.places))
	p.names[n], p.places = i, append(p.places, n)
	return i
}

// cloned is a name without what it was cut from.
func cloned(s string) string { return strings.Clone(s) }

// shortened is as much of a text as is kept, on its own.
func shortened(s string) string {
	if len(s) > MaxText {
		return message.Shorten(s, MaxText-len("…"))
	}
	return cloned(s)
}
