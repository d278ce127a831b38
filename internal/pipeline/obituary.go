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

// rest gives tell those that no line told of, kind by kind, with the reason of the last of each.
func (o *obituaries) rest(tell func(count uint64, reason error)) {
	o.mu.Lock()
	defer o.mu.Unlock()
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

// announce logs that n gave a message up, now that its dead letter is durable.
func (p *Pipeline) announce(n *node, reason error) {
	if tell := n.obituaries.died(reason, p.options.Clock()); tell > 0 {
		p.logDeaths(n, tell, reason)
	}
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
