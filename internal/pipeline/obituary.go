package pipeline

import (
	"sync"
	"time"
)

const (
	// obituaryEvery is the least time between two lines of the log about one step's dead letters.
	obituaryEvery = 10 * time.Second
	// obituaryReason bounds the reason in such a line, in bytes.
	obituaryReason = 500
)

// obituaries are what the log is told of the dead letters of one step: the first at once, then a line each obituaryEvery at most, with
// how many there were since. The bodies of messages are never among it.
type obituaries struct {
	mu     sync.Mutex
	next   time.Time // no line before
	untold uint64
	reason error // of the last one
}

// died counts a dead letter and returns how many a line should tell of now; 0: none.
func (o *obituaries) died(reason error, now time.Time) (tell uint64) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.untold++
	o.reason = reason
	if now.Before(o.next) {
		return 0
	}
	o.next = now.Add(obituaryEvery)
	tell, o.untold = o.untold, 0
	return tell
}

// rest returns those that no line told of, and the reason of the last of them.
func (o *obituaries) rest() (tell uint64, reason error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	tell, o.untold = o.untold, 0
	return tell, o.reason
}

// announce logs that n gave a message up, now that its dead letter is durable.
func (p *Pipeline) announce(n *node, reason error) {
	if tell := n.obituaries.died(reason, p.options.Clock()); tell > 0 {
		p.logDeaths(n, tell, reason)
	}
}

// announceRest logs the dead letters that no line told of, at the end of a run.
func (p *Pipeline) announceRest() {
	for _, n := range p.graph.nodes {
		if tell, reason := n.obituaries.rest(); tell > 0 {
			p.logDeaths(n, tell, reason)
		}
	}
}

func (p *Pipeline) logDeaths(n *node, count uint64, reason error) {
	p.options.Logger.Warn("gave messages up: they are dead letters now",
		"step", n.Name, "count", count, "queue", n.deadQueue.Short(), "reason", cut(reasonText(reason), obituaryReason))
}
