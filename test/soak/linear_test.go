package soak

import (
	"slices"
	"strconv"
	"strings"
	"testing"
)

// event is what one client asked for and was told, about one message; or, of no client, a crash or the look at the end.
// The messages of a key, and each message without one, have a history of their own: whoever claims knows only that what
// he got was there.
type event struct {
	kind      eventKind
	key       string
	seq       uint64 // of the message in the queue
	claim     int    // names the claim that is made, or ended
	answer    answer
	power     bool     // of a crash: what was not synced may be gone
	pending   bool     // of a crash: some claim was asked for and not answered
	there     []uint64 // of a look
	from, til int64    // asked, and answered: moments of one clock
}

type eventKind uint8

const (
	eventPut eventKind = iota
	eventTake
	eventDone
	eventBack
	eventCrash
	eventLook
)

type answer uint8

const (
	yes answer = iota
	stale
	silence // nobody knows whether it happened
)

// held is a message that is there. by is the claim that holds it: 0 none, -1 one that nobody was told of.
type held struct {
	seq uint64
	by  int
}

// keyState are the messages of a key that are there, in their order.
type keyState []held

func (s keyState) text() string {
	var b strings.Builder
	for _, h := range s {
		b.WriteString(strconv.FormatUint(h.seq, 10) + ":" + strconv.Itoa(h.by) + " ")
	}
	return b.String()
}

func (s keyState) find(seq uint64) int {
	return slices.IndexFunc(s, func(h held) bool { return h.seq == seq })
}

func (s keyState) with(i, by int) keyState {
	c := slices.Clone(s)
	c[i].by = by
	return c
}

// step are the states that may follow when e happens in s; none: it cannot have happened there.
func (s keyState) step(e *event) (next []keyState) {
	i := s.find(e.seq)
	if e.answer == silence && e.kind != eventCrash {
		next = append(next, s)
	}
	switch e.kind {
	case eventPut:
		if i < 0 {
			c := append(slices.Clone(s), held{e.seq, 0})
			slices.SortFunc(c, func(a, b held) int { return int(a.seq) - int(b.seq) })
			next = append(next, c)
		}
	case eventTake: // the oldest of its key, and held by nobody
		if i == 0 && s[0].by == 0 {
			next = append(next, s.with(0, e.claim))
		}
	case eventDone, eventBack:
		holds := i >= 0 && s[i].by == e.claim
		switch {
		case e.answer == stale && !holds:
			next = append(next, s)
		case e.answer == stale || !holds:
		case e.kind == eventDone:
			next = append(next, slices.Delete(slices.Clone(s), i, i+1))
		default:
			next = append(next, s.with(i, 0))
		}
	case eventCrash:
		next = append(next, s)
		if e.power {
			for i, h := range s {
				if h.by != 0 {
					next = append(next, s.with(i, 0)) // the claim was not synced
				}
			}
		}
		if e.pending && len(s) > 0 && s[0].by == 0 {
			next = append(next, s.with(0, -1)) // claimed by somebody who was not told
		}
	case eventLook:
		if slices.EqualFunc(s, e.there, func(h held, seq uint64) bool { return h.seq == seq }) {
			next = append(next, s)
		}
	}
	return next
}

// maxLook bounds how many combinations are looked at.
const maxLook = 2_000_000

// linear tells whether the events of one key can have happened one after the other, each at some moment between its
// question and its answer.
func linear(es []event) bool {
	done := make([]byte, len(es))
	seen := map[string]bool{}
	var search func(s keyState, left int) bool
	search = func(s keyState, left int) bool {
		if left == 0 {
			return true
		}
		name := string(done) + s.text()
		if seen[name] || len(seen) > maxLook {
			return false
		}
		seen[name] = true
		first := int64(1<<63 - 1) // whatever was asked after this answer comes later
		for i := range es {
			if done[i] == 0 {
				first = min(first, es[i].til)
			}
		}
		for i := range es {
			if done[i] != 0 || es[i].from > first {
				continue
			}
			done[i] = 1
			for _, next := range s.step(&es[i]) {
				if search(next, left-1) {
					return true
				}
			}
			done[i] = 0
		}
		return false
	}
	return search(nil, len(es))
}

// notLinear returns the keys whose events cannot have happened.
func notLinear(es []event) (bad []string) {
	keys := map[string][]event{}
	var all []event // those that concern everybody
	for _, e := range es {
		switch e.kind {
		case eventCrash:
			all = append(all, e)
		default:
			keys[e.key] = append(keys[e.key], e)
		}
	}
	for k, own := range keys {
		own = append(own, all...)
		slices.SortFunc(own, func(a, b event) int { return int(a.from - b.from) })
		if !linear(own) {
			bad = append(bad, k)
		}
	}
	slices.Sort(bad)
	return bad
}

func TestHistoriesThatCannotBeAreRefused(t *testing.T) {
	put := func(seq uint64, from, til int64) event { return event{kind: eventPut, seq: seq, from: from, til: til} }
	take := func(seq uint64, claim int, from, til int64) event {
		return event{kind: eventTake, seq: seq, claim: claim, from: from, til: til}
	}
	done := func(seq uint64, claim int, a answer, from, til int64) event {
		return event{kind: eventDone, seq: seq, claim: claim, answer: a, from: from, til: til}
	}
	back := func(seq uint64, claim int, from, til int64) event {
		return event{kind: eventBack, seq: seq, claim: claim, from: from, til: til}
	}
	crash := func(power, pending bool, at int64) event {
		return event{kind: eventCrash, power: power, pending: pending, from: at, til: at}
	}
	look := func(at int64, there ...uint64) event { return event{kind: eventLook, there: there, from: at, til: at} }
	silent := func(e event) event { e.answer = silence; return e }
	for _, c := range []struct {
		name string
		ok   bool
		es   []event
	}{
		{"put, claimed, settled", true, []event{put(1, 1, 2), take(1, 7, 3, 4), done(1, 7, yes, 5, 6), look(9)}},
		{"lost", false, []event{put(1, 1, 2), look(9)}},
		{"lost in a power cut", false, []event{put(1, 1, 2), crash(true, true, 5), look(9)}},
		{"never acknowledged, and lost", true, []event{silent(put(1, 1, 5)), crash(true, false, 6), look(9)}},
		{"never acknowledged, and there", true, []event{silent(put(1, 1, 5)), crash(true, false, 6), look(9, 1)}},
		{"delivered before it was put", false, []event{take(1, 7, 1, 2), put(1, 3, 4), look(9, 1)}},
		{"delivered while it was put", true, []event{put(1, 1, 4), take(1, 7, 2, 3), look(9, 1)}},
		{"delivered twice", false, []event{put(1, 1, 2), take(1, 7, 3, 4), take(1, 8, 5, 6), look(9, 1)}},
		{"delivered twice, after it was put back", true, []event{put(1, 1, 2), take(1, 7, 3, 4), back(1, 7, 4, 5),
			take(1, 8, 5, 6), look(9, 1)}},
		{"delivered twice, with a power cut between", true,
			[]event{put(1, 1, 2), take(1, 7, 3, 4), crash(true, false, 5), take(1, 8, 6, 7), look(9, 1)}},
		{"delivered twice, with a kill between", false, []event{put(1, 1, 2), take(1, 7, 3, 4), crash(false, true, 5),
			take(1, 8, 6, 7), look(9, 1)}},
		{"resurrected", false, []event{put(1, 1, 2), take(1, 7, 3, 4), done(1, 7, yes, 5, 6), crash(true, true, 7),
			look(9, 1)}},
		{"resurrected and delivered", false, []event{put(1, 1, 2), take(1, 7, 3, 4), done(1, 7, yes, 5, 6),
			crash(false, false, 7), take(1, 8, 8, 9), look(10, 1)}},
		{"settled without an answer, and there", true,
			[]event{put(1, 1, 2), take(1, 7, 3, 4), silent(done(1, 7, yes, 5, 6)), crash(true, false, 7), look(9, 1)}},
		{"settled without an answer, and gone", true,
			[]event{put(1, 1, 2), take(1, 7, 3, 4), silent(done(1, 7, yes, 5, 6)), crash(true, false, 7), look(9)}},
		{"an old token settles another's claim", false, []event{put(1, 1, 2), take(1, 7, 3, 4), crash(true, false, 5),
			take(1, 8, 6, 7), done(1, 7, yes, 8, 9), look(10)}},
		{"an old token is stale", true, []event{put(1, 1, 2), take(1, 7, 3, 4), crash(true, false, 5), take(1, 8, 6, 7),
			done(1, 7, stale, 8, 9), look(10, 1)}},
		{"a good token is stale", false, []event{put(1, 1, 2), take(1, 7, 3, 4), done(1, 7, stale, 5, 6), look(9, 1)}},
		{"the second of a key first", false, []event{put(1, 1, 2), put(2, 3, 4), take(2, 7, 5, 6), look(9, 1, 2)}},
		{"the second of a key beside the first", false,
			[]event{put(1, 1, 2), put(2, 3, 4), take(1, 7, 5, 6), take(2, 8, 7, 8), look(9, 1, 2)}},
		{"the second of a key behind the first", true,
			[]event{put(1, 1, 2), put(2, 3, 4), take(1, 7, 5, 6), done(1, 7, yes, 7, 8), take(2, 8, 9, 10),
				look(11, 2)}},
	} {
		t.Run(c.name, func(t *testing.T) {
			if bad := notLinear(c.es); (len(bad) == 0) != c.ok {
				t.Errorf("taken for possible: %t", !c.ok)
			}
		})
	}
}
