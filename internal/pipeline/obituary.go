package pipeline

import (
	"strings"
	"sync"
	"time"
	"unicode/utf8"
)

const (
	// obituaryEvery is the least time between two lines of the log about one step's dead letters of one kind.
	obituaryEvery = 10 * time.Second
	// obituaryReason bounds the reason in such a line, in bytes.
	obituaryReason = 500
	// mostKinds bounds the kinds of reasons that a step tells apart; those beyond share one more.
	mostKinds = 16
	// kindBytes bounds what of a reason tells its kind.
	kindBytes = 200
)

// obituaries are what the log is told of the dead letters of one step: the first of each kind of reason at once, then a
// line each obituaryEvery at most, with how many of the kind there were since. The bodies of messages are never among
// it.
type obituaries struct {
	mu    sync.Mutex
	kinds map[string]*obituary
	order []*obituary // in the order of their first dead letters; the last one may be of all further kinds
	timer *time.Timer // of later, while something is untold; nil: none runs
	over  bool        // rest has told the last ones
}

// An obituary is what the log is told of one kind.
type obituary struct {
	next   time.Time // no line before
	untold uint64
	reason error // of the last one
}

// others is the kind of those that are not told apart any more.
const others = ""

// died counts a dead letter and returns how many of its kind a line should tell of now; 0: none.
func (o *obituaries) died(reason error, now time.Time) (tell uint64) {
	kind := kindOf(reasonText(reason))
	o.mu.Lock()
	defer o.mu.Unlock()
	one := o.kinds[kind]
	if one == nil && len(o.kinds) >= mostKinds {
		kind = others
		one = o.kinds[kind]
	}
	if one == nil {
		if o.kinds == nil {
			o.kinds = make(map[string]*obituary)
		}
		one = new(obituary)
		o.kinds[kind], o.order = one, append(o.order, one)
	}
	one.untold++
	one.reason = reason
	if now.Before(one.next) {
		return 0
	}
	one.next = now.Add(obituaryEvery)
	tell, one.untold = one.untold, 0
	return tell
}

// later gives tell those that no line told of, kind by kind, as soon as each kind may have a line again: also when none
// of it dies any more. tell is called under the lock, so that none comes after rest. now and died's are time.Now's.
func (o *obituaries) later(now time.Time, tell func(count uint64, reason error)) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.wait(now, tell)
}

// wait runs the timer for the first kind that may have a line again.
func (o *obituaries) wait(now time.Time, tell func(count uint64, reason error)) {
	if o.timer != nil || o.over {
		return
	}
	var first *obituary
	for _, one := range o.order {
		if one.untold > 0 && (first == nil || one.next.Before(first.next)) {
			first = one
		}
	}
	if first != nil {
		o.timer = time.AfterFunc(first.next.Sub(now), func() { o.due(tell) })
	}
}

// due is what the timer does.
func (o *obituaries) due(tell func(count uint64, reason error)) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.over {
		return
	}
	o.timer = nil
	now := time.Now()
	for _, one := range o.order {
		if one.untold > 0 && !now.Before(one.next) {
			tell(one.untold, one.reason)
			one.untold, one.next = 0, now.Add(obituaryEvery)
		}
	}
	o.wait(now, tell)
}

// rest gives tell those that no line told of, kind by kind, with the reason of the last of each, and ends the timer.
func (o *obituaries) rest(tell func(count uint64, reason error)) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.over = true
	if o.timer != nil {
		o.timer.Stop()
		o.timer = nil
	}
	for _, one := range o.order {
		if one.untold > 0 {
			tell(one.untold, one.reason)
			one.untold = 0
		}
	}
}

// kindOf is a reason without what differs from message to message: what stands in quotes, and digits.
func kindOf(reason string) string {
	var b strings.Builder
	for i := 0; i < len(reason) && b.Len() < kindBytes; {
		c, size := utf8.DecodeRuneInString(reason[i:])
		switch {
		case c == '"' || c == '`' || c == '\'' && (i == 0 || !letter(reason[i-1])): // not the one of "doesn't"
			b.WriteByte('"')
			i += size + quoted(reason[i+size:], byte(c))
			continue
		case c >= '0' && c <= '9':
			if s := b.String(); !strings.HasSuffix(s, "0") {
				b.WriteByte('0')
			}
		default:
			b.WriteString(reason[i : i+size])
		}
		i += size
	}
	return b.String()
}

// quoted is the length of a text up to and with the quote that ends it; a backslash takes the next byte along.
func quoted(s string, quote byte) int {
	for i := 0; i < len(s); i++ {
		switch s[i] {
		case '\\':
			i++
		case quote:
			return i + 1
		}
	}
	return len(s)
}

func letter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' }

// announce logs that n gave a message up, now that its dead letter is durable: at once, or within obituaryEvery.
func (p *Pipeline) announce(n *node, reason error) {
	now := time.Now()
	if tell := n.obituaries.died(reason, now); tell > 0 {
		p.logDeaths(n, tell, reason)
		return
	}
	n.obituaries.later(now, func(count uint64, reason error) { p.logDeaths(n, count, reason) })
}

// announceRest logs the dead letters that no line told of, at the end of a run.
func (p *Pipeline) announceRest() {
	for _, n := range p.graph.nodes {
		n.obituaries.rest(func(count uint64, reason error) { p.logDeaths(n, count, reason) })
	}
}

func (p *Pipeline) logDeaths(n *node, count uint64, reason error) {
	p.options.Logger.Warn("gave messages up: they are dead letters now",
		"step", n.Name, "count", count, "queue", n.deadQueue.Short(), "reason", cut(reasonText(reason), obituaryReason))
}
