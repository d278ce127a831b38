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
	slab     func(int, *message.Message, component.Outcome) // settles one of a slab, in the place of delivery.Settle
	place    int                                            // in the slab
	// the delivery's message, or a copy with what it lacked; it is not changed
	root  *message.Message
	size  int
	only  *node // the step it was replayed for; nil: every step
	above *node // the transform that sent it, now or before a replay; nil: none
	left  atomic.Int64
	first part // the first one that is made of it, which takes no memory of its own

	mu     sync.Mutex
	buried []*node            // the nodes it already is a dead letter of
	back   *component.Outcome // not nil: it has to be given back, as this says
	waived bool               // a sink dropped it, or some of it, as nobody wants it any more
	seen   *part              // for the observer, the last one first
	// receipts are those that the settlement takes along, the last one first; riding is how many they are.
	receipts *component.Receipt
	riding   int
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
	holds int     // times in a row that it was held without a time of the component's
	way   uint64  // from the source to here: what was made of what, by which steps
	fatal *burial // in a graveyard: whose dead letter it is

	entered time.Time // when it came into the stage, if that has a delay
	due     time.Time // while it sleeps
	order   uint64    // among those that are due at the same time

	outcome *component.Outcome // for the observer, or while its dead letter is written
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

// end takes a part out of its journey. o is what became of the message at n; n is nil for parts that have become
// others.
func (q *part) end(n *node, o component.Outcome) {
	if q.ends(n, o) {
		q.j.p.settle(q.j)
	}
}

// ends is end for a caller that settles the journey when it is over, which it tells.
func (q *part) ends(n *node, o component.Outcome) (over bool) {
	j := q.j
	if n != nil && n.receipts != nil && o.Verdict != component.Retry {
		n.receipts.write(q, &o)
	}
	if n != nil && n.overseers != nil && o.Verdict != component.Retry {
		for i, v := range n.overseers {
			v.Heard(j.root, &o, i == 0)
		}
	}
	if q.extra+q.bytes > 0 {
		j.p.budget.give(j.entry.account, q.extra, q.bytes)
	}
	observed := j.p.options.Observe != nil && n != nil
	if observed || o.Verdict == component.Retry || o.Verdict == component.Dropped {
		j.mu.Lock()
		if observed {
			q.node, q.outcome = n, kept(o)
			q.next, j.seen = j.seen, q
		}
		if o.Verdict == component.Retry && j.back == nil {
			j.back = kept(o)
		}
		j.waived = j.waived || o.Verdict == component.Dropped
		j.mu.Unlock()
	}
	return j.left.Add(-1) == 0
}

func kept(o component.Outcome) *component.Outcome { return &o }

var errStopped = errors.New("the pipeline stopped before it was finished")

// lose ends a part that was not finished when the pipeline stopped: its delivery has to be sent again. A message whose
// dead letter is lost is not a dead letter after all.
func (q *part) lose(n *node) {
	if q.fatal != nil {
		n, q = q.fatal.node, q.fatal.part
	}
	n.givenBack.Add(1)
	q.end(n, component.Again(0, errStopped))
}

// drop ends the hold of who made the journey.
func (j *journey) drop() {
	if j.left.Add(-1) == 0 {
		j.p.settle(j)
	}
}

// settle tells sources what became of journeys of which nothing is under way any more. Those that end together share
// what it costs.
func (p *Pipeline) settle(js ...*journey) {
	for len(js) > 0 {
		e := js[0].entry
		var sum sums
		n := 0
		for ; n < len(js) && js[n].entry == e; n++ {
			js[n].settle(&sum)
		}
		js = js[n:]
		p.delivered.Add(sum.delivered)
		p.buried.Add(sum.buried)
		p.dropped.Add(sum.dropped)
		p.givenBack.Add(sum.givenBack)
		e.settled(n, sum)
	}
}

// sums count what became of journeys.
type sums struct {
	delivered, buried, dropped, givenBack uint64
	bytes                                 int
	now                                   time.Time // for the observer; zero: nobody has looked at the clock
}

func (j *journey) settle(sum *sums) {
	o := component.OK(time.Time{})
	switch {
	case j.back != nil:
		o = *j.back
		o.Receipt = nil
		sum.givenBack++
	case len(j.buried) > 0:
		sum.buried++
	case j.waived:
		sum.dropped++
	default:
		sum.delivered++
	}
	sum.bytes += j.size
	o.Receipt = j.receipts
	j.show(sum)
	j.tell(o)
}

// show lets the observer see what became of the journey's messages.
func (j *journey) show(sum *sums) {
	if j.seen == nil {
		return
	}
	if sum.now.IsZero() {
		sum.now = j.p.options.Clock()
	}
	for q := j.seen; q != nil; q = q.next {
		m, asItCame := q.msg, q.msg == j.root
		if !q.own {
			c := *m
			m = &c
		}
		if asItCame || q.outcome.Verdict == component.Delivered || q.outcome.Verdict == component.Dropped {
			m.Hops.Mark(message.Settled, sum.now)
		}
		j.p.observe(m, q.node, *q.outcome)
	}
}

// tell calls the source's function, whatever it does.
func (j *journey) tell(o component.Outcome) {
	if j.delivery.Settle == nil && j.slab == nil {
		return
	}
	defer j.p.recovered(j.entry.node, "settle", nil)
	if j.slab != nil {
		j.slab(j.place, j.delivery.Message, o)
		return
	}
	j.delivery.Settle(o)
}
