//go:build linux

package crash

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/anishathalye/porcupine"
)

// op is what a client asked for and was told about one message. Whatever is not known later than at the end of the
// test, as an answer that did not come, is at forever.
type op struct {
	kind    opKind
	client  int
	call    time.Duration // since the history began
	ret     time.Duration // forever: there was no answer, and it may happen until then
	answer  answer
	seq     uint64 // of the message in its queue; 0: nobody has seen it
	claim   int    // names the request that handed it out
	token   string
	attempt int
	lease   time.Duration // that was asked for, of a claim and an extension
	lost    time.Duration // from when on the claim or extension may have been forgotten, being not durable
	durable time.Duration // when it was, at the latest
}

type opKind string

const (
	opPut    opKind = "put"
	opClaim  opKind = "claim"
	opDone   opKind = "done"
	opBack   opKind = "back"
	opExtend opKind = "extend"
	opEmpty  opKind = "empty" // the queue is seen to be empty
)

type answer string

const (
	yes     answer = "ok"
	stale   answer = "stale"
	silence answer = "unknown"
)

const forever = time.Duration(math.MaxInt64)

func (o op) String() string {
	ret := "never"
	if o.ret != forever {
		ret = fmt.Sprintf("%.3f", o.ret.Seconds())
	}
	text := fmt.Sprintf("%10.3f to %10s  client %-2d %-6s %-7s message %d", o.call.Seconds(), ret, o.client, o.kind,
		o.answer, o.seq)
	if o.token != "" {
		text += fmt.Sprintf(" attempt %d, claim %d", o.attempt, o.claim)
	}
	if o.lease > 0 {
		text += fmt.Sprintf(" for %v", o.lease)
	}
	if o.lost != forever && (o.kind == opClaim || o.kind == opExtend) {
		text += fmt.Sprintf(", may be lost from %.3f", o.lost.Seconds())
	}
	if o.durable > 0 && o.durable != forever {
		text += fmt.Sprintf(", durable at %.3f", o.durable.Seconds())
	}
	return text
}

// kept is a message of a key, or the one message of a partition without a key.
type kept struct {
	seq     uint64
	settled bool
	hold
}

// hold is a claim of a message; no token: nobody has it.
type hold struct {
	token   string
	claim   int
	attempt int
	until   time.Duration // it does not end before
	lost    time.Duration // unless it was forgotten, from then on
	// Where only extensions were forgotten it ends then.
	shortFrom, short time.Duration
}

// over tells whether a hold may have ended by then.
func (h *hold) over(at time.Duration) bool {
	return h.token == "" || at >= h.until || at >= h.lost || at >= h.shortFrom && at >= h.short
}

// keyState are the messages of a key that were put, in their order.
type keyState []kept

// free tells whether somebody else may be given a message by then: those that a claim has of a key go back together
// with the first of them.
func (s keyState) free(i int, at time.Duration) bool {
	for j := range s[:i+1] {
		if s[j].claim == s[i].claim && s[j].over(at) {
			return true
		}
	}
	return false
}

// letGo gives back what is held behind a message. That it was handed out does not count then.
func (s keyState) letGo(first int, by func(claim int) bool) {
	for i := first + 1; i < len(s); i++ {
		if s[i].token != "" && !s[i].settled && by(s[i].claim) {
			s[i].token, s[i].claim = "", 0
			s[i].attempt--
		}
	}
}

// step is what follows when an operation happens; false: it cannot happen then.
func (s keyState) step(o *op) (bool, keyState) {
	if o.kind == opEmpty {
		return !slices.ContainsFunc(s, func(k kept) bool { return !k.settled }), s
	}
	if o.kind == opPut {
		if len(s) > 0 && s[len(s)-1].seq >= o.seq {
			return false, s // those of a key are there in the order of their numbers
		}
		return true, append(slices.Clone(s), kept{seq: o.seq})
	}
	i := slices.IndexFunc(s, func(k kept) bool { return k.seq == o.seq })
	if i < 0 {
		return o.answer == silence, s // what was never put is not handed out
	}
	next := slices.Clone(s)
	k := &next[i]
	if o.kind == opClaim {
		if k.settled || !s.free(i, o.ret) || k.attempt >= o.attempt && o.ret < k.lost {
			return false, s
		}
		for j := range s[:i] {
			if !s[j].settled && (s[j].token == "" || s[j].claim != o.claim) {
				return false, s // one of its key has to come first
			}
		}
		next.letGo(i, func(claim int) bool { return claim != o.claim })
		k.hold = hold{token: o.token, claim: o.claim, attempt: o.attempt, until: o.call + o.lease, lost: o.lost,
			shortFrom: forever}
		return true, next
	}
	holds := !k.settled && k.token == o.token
	switch {
	case !holds:
		return o.answer != yes, s
	case o.answer == stale:
		return s.free(i, o.ret), s
	case o.kind == opDone:
		k.settled = true
	case o.kind == opBack:
		claim := k.claim
		next.letGo(i, func(c int) bool { return c == claim })
		k.token, k.claim = "", 0
	case o.answer == yes: // extended; one that was not answered makes it longer at most
		if o.lost < k.shortFrom {
			k.shortFrom, k.short = o.lost, k.until
		}
		k.until = o.call + o.lease
	}
	return true, next
}

var queueModel = porcupine.Model{
	Init: func() any { return keyState(nil) },
	Step: func(state, input, _ any) (bool, any) {
		return state.(keyState).step(input.(*op))
	},
	Equal: func(a, b any) bool { return slices.Equal(a.(keyState), b.(keyState)) },
}

// lookFor is how long one order of the operations of one key is looked for.
const lookFor = time.Minute

// check looks for an order in which all operations on the messages of one key can have happened. It returns "" when
// there is one, and otherwise what is wrong.
func check(ops []op) string {
	ordered := slices.SortedStableFunc(slices.Values(ops), func(a, b op) int { return cmp.Compare(a.call, b.call) })
	var history []porcupine.Operation
	for _, o := range bounded(ordered) {
		history = append(history, porcupine.Operation{ClientId: o.client, Input: &o, Call: int64(o.call),
			Return: int64(o.ret)})
	}
	var what string
	switch porcupine.CheckOperationsTimeout(queueModel, history, lookFor) {
	case porcupine.Ok:
		return ""
	case porcupine.Illegal:
		what = "it cannot have happened in any order:"
	default:
		what = fmt.Sprintf("no order was found within %v:", lookFor)
	}
	var b strings.Builder
	b.WriteString(what)
	for _, o := range ordered {
		b.WriteString("\n  " + o.String())
	}
	return b.String()
}

// bounded leaves out what was not answered and makes no difference, and says of the rest until when it may. What may
// happen at any time is looked for at all of them, together with all else that may.
func bounded(ops []op) (all []op) {
	began := map[string]time.Duration{} // when a claim was there, by its token
	for _, o := range ops {
		if o.kind == opClaim {
			began[o.token] = o.ret
		}
	}
	type ending struct {
		token string
		kind  opKind
	}
	seen := map[ending]bool{}
	for _, o := range ops {
		if o.answer == silence && o.kind != opPut {
			e := ending{o.token, o.kind}
			if o.kind == opExtend || seen[e] {
				continue // a lease that is longer than it has to be; another try of what may have happened already
			}
			seen[e] = true
			for i := range ops { // from then on nothing comes of it
				x := &ops[i]
				next := x.kind == opClaim && x.token != o.token && x.call > began[o.token]
				if x.seq == o.seq && x.answer == yes && (next || x.kind == opDone) {
					o.ret = min(o.ret, x.ret)
				}
			}
			if o.ret < o.call {
				continue
			}
		}
		all = append(all, o)
	}
	return all
}

// span is the time of an operation that was durable when it was answered.
type span struct{ call, ret time.Duration }

// durability tells what a takeover may have lost. The log is lost from an end on only: a record that was there before
// another one, which is durable, is durable too.
type durability struct {
	takeovers []time.Duration // when a node began to own the shard, in order
	calls     []time.Duration // of what was durable, in order
	firstOf   []time.Duration // the first answer to those from there on
}

func newDurability(takeovers []time.Duration, durable []span) *durability {
	d := &durability{takeovers: slices.Sorted(slices.Values(takeovers)), firstOf: make([]time.Duration, len(durable))}
	durable = slices.SortedFunc(slices.Values(durable), func(a, b span) int { return cmp.Compare(a.call, b.call) })
	first := forever
	for i := len(durable) - 1; i >= 0; i-- {
		first = min(first, durable[i].ret)
		d.firstOf[i] = first
	}
	for _, s := range durable {
		d.calls = append(d.calls, s.call)
	}
	return d
}

// lostFrom is when what was answered without being durable may have been forgotten: at the next takeover, unless
// something that was asked for later was durable before it. durable is when something was.
func (d *durability) lostFrom(call, ret time.Duration) (lost, durable time.Duration) {
	lost, durable = forever, forever
	if j, _ := slices.BinarySearch(d.calls, ret+1); j < len(d.calls) {
		durable = d.firstOf[j]
	}
	if i, _ := slices.BinarySearch(d.takeovers, call); i < len(d.takeovers) && durable >= d.takeovers[i] {
		lost = d.takeovers[i]
	}
	return lost, durable
}
