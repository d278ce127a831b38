package pipeline

import (
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hikyaku/hikyaku/internal/component"
	"github.com/hikyaku/hikyaku/internal/message"
)

// journey is one delivery and everything made from it. It is settled when its last part ends.
type journey struct {
	p        *Pipeline
	entry    *entry
	delivery component.Delivery
	root     *message.Message // the delivery's message, or a copy with what it lacked; it is not changed
	size     int
	only     *node // the step it was replayed for; nil: every step
	above    *node // the transform that sent it, now or before a replay; nil: none
	left     atomic.Int64

	mu     sync.Mutex
	buried []*node // the nodes it already is a dead letter of
	back   error   // not nil: it has to be given back
	waived bool    // a sink dropped it, or some of it, as nobody wants it any more
	seen   *part   // for the observer, the last one first
}

// part is a message on its way through one stage.
type part struct {
	j     *journey
	msg   *message.Message
	own   bool // msg is this part's alone and may be changed
	size  int
	extra int // 1 if it counts against the pipeline's bound besides its journey
	bytes int // that it counts besides its journey
	tries int
	way   uint64  // from the source to here: what was made of what, by which steps
	fatal *burial // in a graveyard: whose dead letter it is

	entered time.Time // when it came into the stage, if that has a delay
	due     time.Time // while it sleeps
	order   uint64    // among those that are due at the same time

	outcome component.Outcome
	node    *node
	next    *part // in journey.seen
}

// burial is what a graveyard has to know of a dead letter.
type burial struct {
	node *node
	part *part // what was given up
}

// allows tells whether the journey's message is meant for n.
func (j *journey) allows(n *node) bool { return j.only == nil || j.only.lineage.has(n.index) }

// end takes a part out of its journey. o is what became of the message at n; n is nil for parts that have become others.
func (q *part) end(n *node, o component.Outcome) {
	j := q.j
	if q.extra+q.bytes > 0 {
		j.p.budget.give(j.entry.account, q.extra, q.bytes)
	}
	q.outcome, q.node = o, n
	observed := j.p.options.Observe != nil && n != nil
	if observed || o.Verdict == component.Retry || o.Verdict == component.Dropped {
		j.mu.Lock()
		if observed {
			q.next, j.seen = j.seen, q
		}
		if o.Verdict == component.Retry && j.back == nil {
			j.back = o.Reason
		}
		j.waived = j.waived || o.Verdict == component.Dropped
		j.mu.Unlock()
	}
	j.drop(1)
}

var errStopped = errors.New("the pipeline stopped before it was finished")

// lose ends a part that was not finished when the pipeline stopped: its delivery has to be sent again. A message whose dead letter is
// lost is not a dead letter after all.
func (q *part) lose(n *node) {
	if q.fatal != nil {
		n, q = q.fatal.node, q.fatal.part
	}
	n.givenBack.Add(1)
	q.end(n, component.Again(0, errStopped))
}

func (j *journey) drop(n int64) {
	if j.left.Add(-n) == 0 {
		j.settle()
	}
}

// settle tells the source. Nothing of the journey is under way any more.
func (j *journey) settle() {
	o := component.OK(time.Time{})
	switch {
	case j.back != nil:
		o = component.Again(0, j.back)
		j.p.givenBack.Add(1)
	case len(j.buried) > 0:
		j.p.buried.Add(1)
	case j.waived:
		j.p.dropped.Add(1)
	default:
		j.p.delivered.Add(1)
	}
	n := j.entry.node
	if o.Verdict == component.Delivered {
		n.delivered.Add(1)
	} else {
		n.givenBack.Add(1)
	}
	j.show()
	j.tell(o)
	j.entry.settled(j)
}

// show lets the observer see what became of the journey's messages.
func (j *journey) show() {
	if j.seen == nil {
		return
	}
	now := j.p.options.Clock()
	for q := j.seen; q != nil; q = q.next {
		m, asItCame := q.msg, q.msg == j.root
		if !q.own {
			c := *m
			m = &c
		}
		if asItCame || q.outcome.Verdict == component.Delivered || q.outcome.Verdict == component.Dropped {
			m.Hops.Mark(message.Settled, now)
		}
		j.p.observe(m, q.node, q.outcome)
	}
}

// tell calls the source's function, whatever it does.
func (j *journey) tell(o component.Outcome) {
	if j.delivery.Settle == nil {
		return
	}
	defer j.p.recovered(j.entry.node, "settle", nil)
	j.delivery.Settle(o)
}
