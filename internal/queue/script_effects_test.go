package queue

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hikyaku/hikyaku/internal/journal"
	"github.com/hikyaku/hikyaku/internal/message"
)

// TestTheStateTellsWhatIsToBeDone plays the stories in testdata/effects: below each command stands, behind its answer,
// what the Store has to do then: what it appends to the journal, in which groups, which records the journal need not
// keep any more, and for when it sets its timer. No journal, no clock and no goroutine has a part in it.
func TestTheStateTellsWhatIsToBeDone(t *testing.T) { playAll(t, "testdata/effects/*.txt", true) }

// effects tells what a state wants to have done.
type effects struct {
	st     *stage
	groups [][]applied                // since the last command
	names  map[uint32]string          // of queues and topics
	kept   map[journal.Address]string // what each record says
	due    int64
}

func newEffects(st *stage) *effects {
	return &effects{st: st, names: map[uint32]string{}, kept: map[journal.Address]string{}}
}

func (f *effects) append(g []applied) {
	for _, a := range g {
		switch e := a.event.(type) {
		case *queueDefined:
			f.names[e.queue] = e.name.Name
		case *topicDefined:
			f.names[e.topic] = e.name.Name
		}
		words := strings.Fields(f.describe(a.event))
		f.kept[a.addr] = strings.Join(words[:min(3, len(words))], " ")
	}
	f.groups = append(f.groups, g)
}

func (f *effects) tell() {
	for _, g := range f.groups {
		var said []string
		for _, a := range g {
			said = append(said, f.describe(a.event))
		}
		f.st.say("append: %s", strings.Join(said, "; "))
	}
	f.groups = nil
	released := f.st.s.takeReleased()
	slices.SortFunc(released, journal.Address.Compare)
	for _, a := range released {
		f.st.say("release: %s", f.kept[a])
	}
	if due := f.st.s.due(); due != f.due {
		if f.due = due; due == 0 {
			f.st.say("timer: none")
		} else {
			f.st.say("timer: %s", f.in(due))
		}
	}
}

// in tells when a time to come is.
func (f *effects) in(when int64) string {
	return fmt.Sprintf("in %v", time.Duration(when-f.st.s.now)*time.Microsecond)
}

// describe is an event in words.
func (f *effects) describe(e event) string {
	until := func(what string, when int64) string {
		if when == 0 {
			return ""
		}
		return fmt.Sprintf(" %s %s", what, f.in(when))
	}
	switch e := e.(type) {
	case *put:
		return fmt.Sprintf("put %s %d", f.names[e.queue], e.seq) + until("awake", e.wake) + until("expired", e.expire)
	case *shared:
		return fmt.Sprintf("body of %s", f.names[e.topic])
	case *share:
		return fmt.Sprintf("share %s %d", f.names[e.queue], e.seq)
	case *claimed:
		return fmt.Sprintf("claim %s %d", f.names[e.queue], e.seq) + until("until", e.deadline)
	case *extended:
		return fmt.Sprintf("extend %s %d", f.names[e.queue], e.seq) + until("until", e.deadline)
	case *settled:
		how := map[ending]string{endDone: "done", endBack: "back", endDead: "dead", endExpired: "expired",
			endMoved: "moved"}[e.end]
		if e.uncounted {
			how += ", uncounted"
		}
		return fmt.Sprintf("settle %s %d %s", f.names[e.queue], e.seq, how) + until("awake", e.wake)
	case *sought:
		return fmt.Sprintf("seek %s", f.names[e.queue])
	case *snapshotTaken:
		return fmt.Sprintf("snapshot %s of %s", e.name.Name, f.names[e.queue]) + until("until", e.expire)
	case *snapshotGone:
		return fmt.Sprintf("end of snapshot %s", e.name.Name)
	case *purged:
		return fmt.Sprintf("purge %s before %d", f.names[e.queue], e.frontier)
	default:
		return strings.TrimPrefix(fmt.Sprintf("%T", e), "*queue.")
	}
}

// letter plans the copy of a message as a dead letter.
func (st *stage) letter(p *plan, q *queueState, e entry, to *queueState) {
	m, err := decodeMessage(e.head(), st.bodies[e.place()])
	if err != nil {
		st.t.Fatal(err)
	}
	m.Death = &message.Death{Queue: q.name.String(), Reason: "why not"}
	if err := p.putLetter(&deadLetter{from: q, entry: e, copies: []letterCopy{{to: to, message: m}}}); err != nil {
		st.t.Fatal(err)
	}
}

// dead CLAIM to=QUEUE
func (st *stage) dead(words []string) {
	o, names := options(words)
	for _, n := range names {
		q, e, err := st.s.claimOf(st.claims[n])
		if err != nil {
			st.say("%s: %v", n, err)
			continue
		}
		p, d := st.plan()
		st.letter(p, q, e, st.q(o["to"]))
		d.add(&settled{queue: q.id, seq: e.seq(), end: endDead})
		st.finish(p, d)
	}
}

// replay QUEUE to=QUEUE: everything that can be claimed.
func (st *stage) replay(words []string) {
	o, rest := options(words)
	q, to := st.q(rest[0]), st.q(o["to"])
	p, d := st.plan()
	for _, seq := range q.ready.all() {
		e, _ := q.all.Get(seq)
		m, err := decodeMessage(e.head(), st.bodies[e.place()])
		if err != nil {
			st.t.Fatal(err)
		}
		if _, err := p.put(to, &m, true); err != nil {
			st.t.Fatal(err)
		}
		d.add(&settled{queue: q.id, seq: seq, end: endMoved})
	}
	st.finish(p, d)
}

// snapshot QUEUE NAME life=DURATION
func (st *stage) snapshot(words []string) {
	o, rest := options(words)
	st.event(&snapshotTaken{queue: st.q(rest[0]).id, name: Name{DefaultNamespace, rest[1]},
		expire: st.s.now + duration(st, o["life"]).Microseconds()})
}

// seek QUEUE snapshot=NAME, or seek QUEUE back=DURATION
func (st *stage) seek(words []string) {
	o, rest := options(words)
	q := st.q(rest[0])
	e := &sought{queue: q.id, upto: q.next}
	if n := o["snapshot"]; n != "" {
		e.snapshot = Name{DefaultNamespace, n}
	} else {
		e.to = st.s.now - duration(st, o["back"]).Microseconds()
	}
	st.event(e)
	st.say("%d come back, %d are settled", e.back, e.settled)
}
