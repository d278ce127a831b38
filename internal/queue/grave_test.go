package queue

import (
	"testing"
	"time"

	"github.com/hikyaku/hikyaku/internal/journal"
)

// TestQueuesFollowTheRenamedQueueOfTheirDeadLettersInPieces lets queues change while only some of those whose dead
// letters go to a renamed queue know its new name: the state becomes the one that a fold makes, which knows no pieces.
func TestQueuesFollowTheRenamedQueueOfTheirDeadLettersInPieces(t *testing.T) {
	const many, graves, topic = 4 * atOnce, 5000, 6000
	columns := columnsOf(t, "a int")
	def := func(i int, d Definition) *queueDefined {
		n := holdsName("q%d", i)
		return &queueDefined{queue: uint32(i), name: n, def: d.normal(n)}
	}
	last := 3 * atOnce // those from here on do not know the new name when the others change
	before := []event{&topicDefined{topic: topic, name: holdsName("t")},
		&queueDefined{queue: graves, name: holdsName("x_dead"), def: Definition{}.normal(holdsName("x_dead"))}}
	for i := 1; i <= many; i++ {
		d := Definition{DeadLetter: "x_dead", Columns: columns}
		if i == last+1 {
			d.Topic = "t"
		}
		before = append(before, def(i, d))
	}
	before = append(before, &queueDefined{queue: many + 1, name: holdsName("x"), // x_dead is the default name there
		def: Definition{}.normal(holdsName("x"))})
	rename := &renamed{queue: graves, name: holdsName("tomb")}
	meanwhile := []event{
		def(last+2, Definition{DeadLetter: "x_dead", MaxAttempts: 3}), // which means another queue by now
		def(last+3, Definition{DeadLetter: "elsewhere"}),
		&reshaped{defined: *def(last+4, Definition{DeadLetter: "x_dead", Columns: columns}), from: []int{0}},
		&renamed{queue: uint32(last + 5), name: holdsName("renamed")},
		&topicGone{topic},
		&queueGone{uint32(last + 6)},
		&queueGone{1},
		def(many+2, Definition{DeadLetter: "x_dead"}), // a new one
		def(many+3, Definition{DeadLetter: "tomb"}),
		&renamed{queue: many + 1, name: holdsName("y")},
	}
	fold, pieces := newState(), newState()
	both := []*state{fold, pieces}
	at := journal.Position(0)
	do := func(s *state, apply func([]applied, int64) error, e event) {
		t.Helper()
		at++
		if err := apply([]applied{{at: s.now, event: e, addr: journal.Address{Position: at}}}, 0); err != nil {
			t.Fatal(err)
		}
	}
	for _, s := range both {
		s.advance(time.Unix(1, 0))
		for _, e := range before {
			do(s, s.apply, e)
		}
	}
	do(fold, fold.apply, rename)
	for _, e := range meanwhile {
		do(fold, fold.apply, e)
	}
	do(pieces, pieces.applyMost, rename)
	for range 2 {
		if !pieces.doPostponed() {
			t.Fatal("all of them were told at once")
		}
	}
	for _, e := range meanwhile {
		do(pieces, pieces.applyMost, e)
	}
	for pieces.doPostponed() {
	}
	if got, want := portrait(pieces), portrait(fold); got != want {
		t.Errorf("in pieces it becomes\n%s\nat once it is\n%s", got, want)
	}
	for _, s := range both {
		known := 0
		for to, g := range s.graves {
			for _, q := range g.from.Values() {
				known++
				if q.def.DeadLetter != to || g.name != to || g.becomes != "" || q.buries != g || q.gone {
					t.Errorf("queue %s, whose dead letters go to %s, is among those of %s", q.name, q.def.DeadLetter, to)
				}
			}
		}
		if known != len(s.queues) {
			t.Errorf("%d queues are known by their dead letters, there are %d", known, len(s.queues))
		}
		for _, id := range []uint32{2, many, many + 1} {
			if d := s.queues[id].def.DeadLetter; d != holdsName("tomb").String() {
				t.Errorf("dead letters of %s go to %s", s.queues[id].name, d)
			}
		}
	}
}
