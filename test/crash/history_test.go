//go:build linux

package crash

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	httpdoor "github.com/hikyaku/hikyaku/internal/api/http"
	"github.com/hikyaku/hikyaku/internal/queue"
)

// The queues that only clients use whose history is written down.
const (
	historyQueue = "history" // a claim may be lost that was not durable
	exactQueue   = "exact"   // exactly_once: none is
)

// history is what clients of two queues asked for and were told, about each message. Messages are known by their
// bodies.
type history struct {
	t     *testing.T
	began time.Time
	gone  func() []time.Time // when a node began to own the shard, after another one may have lost what was not durable

	mu      sync.Mutex
	asked   int
	claims  int
	parts   map[string][]*op // of each key of a queue, and of each message without one
	puts    map[string]*op   // of each message
	where   map[string]string
	durable []span
	checked int // operations of parts that are over
	refused int // settlements and extensions, as stale
	wrong   int // parts in which something cannot have happened
}

func newHistory(t *testing.T, gone func() []time.Time) *history {
	return &history{t: t, began: time.Now(), gone: gone, parts: map[string][]*op{}, puts: map[string]*op{},
		where: map[string]string{}}
}

func (h *history) now() time.Duration { return time.Since(h.began) }

// ask enters an operation that begins now. As long as nothing else is known it was not answered. h.mu is held.
func (h *history) ask(part string, o op) *op {
	o.call, o.ret, o.answer, o.lost = h.now(), forever, silence, forever
	h.parts[part] = append(h.parts[part], &o)
	h.asked++
	return &o
}

// answered enters what came of an operation. h.mu is held.
func (h *history) answered(o *op, a answer) {
	o.answer = a
	if a != silence {
		o.ret = h.now()
	}
	if a == stale {
		h.refused++
	}
	if a == yes && o.kind != opClaim && o.kind != opExtend {
		h.durable = append(h.durable, span{o.call, o.ret})
	}
}

// putting enters the put of messages of a key, or of one without.
func (h *history) putting(client int, name, key string, bodies []string) []*op {
	h.mu.Lock()
	defer h.mu.Unlock()
	var ops []*op
	for _, b := range bodies {
		part := name + " " + key
		if key == "" {
			part = name + " " + b
		}
		o := h.ask(part, op{kind: opPut, client: client})
		h.puts[b], h.where[b] = o, part
		ops = append(ops, o)
	}
	return ops
}

// put enters the answer.
func (h *history) put(ops []*op, results []httpdoor.PutResult, err error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for i, o := range ops {
		if err == nil {
			h.saw(o, results[i].Sequence)
			h.answered(o, yes)
		}
	}
}

// saw notes the number of a message. h.mu is held.
func (h *history) saw(put *op, seq uint64) {
	if put.seq != 0 && put.seq != seq {
		h.t.Errorf("one message is in the queue twice, as %d and %d", put.seq, seq)
	}
	put.seq = seq
}

// taken is a message that a client was handed.
type taken struct {
	part  string
	op    *op // the claim
	until time.Time
}

// claimed enters what a request for messages has brought.
func (h *history) claimed(client int, asked time.Time, lease time.Duration, claims []httpdoor.Claimed) []*taken {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.claims++
	var all []*taken
	for i := range claims {
		c := &claims[i]
		b, err := c.Bytes()
		put := h.puts[string(b)]
		if err != nil || put == nil {
			h.t.Errorf("a message came that nobody has put: %q (%v)", b, err)
			continue
		}
		h.saw(put, c.Sequence)
		part := h.where[string(b)]
		o := h.ask(part, op{kind: opClaim, client: client, seq: c.Sequence, claim: h.claims, token: c.Token,
			attempt: c.Attempt, lease: lease})
		o.call = asked.Sub(h.began)
		h.answered(o, yes)
		all = append(all, &taken{part: part, op: o, until: asked.Add(lease)})
	}
	return all
}

// asking enters that claims are settled or extended.
func (h *history) asking(kind opKind, client int, lease time.Duration, all []*taken) []*op {
	h.mu.Lock()
	defer h.mu.Unlock()
	var ops []*op
	for _, m := range all {
		ops = append(ops, h.ask(m.part, op{kind: kind, client: client, seq: m.op.seq, claim: m.op.claim,
			token: m.op.token, attempt: m.op.attempt, lease: lease}))
	}
	return ops
}

// told enters the answers.
func (h *history) told(ops []*op, results []httpdoor.TokenResult, err error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for i, o := range ops {
		switch {
		case err != nil:
		case results[i].OK:
			h.answered(o, yes)
		case errors.Is(results[i].Problem, queue.ErrStale):
			h.answered(o, stale)
		}
	}
}

// empty enters that both queues are seen to be empty.
func (h *history) empty() {
	h.mu.Lock()
	defer h.mu.Unlock()
	for part := range h.parts {
		h.answered(h.ask(part, op{kind: opEmpty}), yes)
	}
}

// rest is for how long a part of a history was not touched that nothing comes to any more.
const rest = time.Minute

// check looks whether everything that was answered can have happened, and forgets the parts that are over.
func (h *history) check() {
	h.t.Helper()
	gone := h.gone()
	h.mu.Lock()
	defer h.mu.Unlock()
	var takeovers []time.Duration
	for _, g := range gone {
		takeovers = append(takeovers, g.Sub(h.began))
	}
	d := newDurability(takeovers, h.durable)
	for part, ops := range h.parts {
		exact := strings.HasPrefix(part, exactQueue+" ")
		var known []op
		over := true
		for _, o := range ops {
			if o.kind == opPut && o.seq == 0 {
				over = false
				continue // nobody knows of it
			}
			if !exact && (o.kind == opClaim || o.kind == opExtend) && o.answer == yes {
				o.lost, o.durable = d.lostFrom(o.call, o.ret)
			}
			known = append(known, *o)
			over = over && h.now()-o.call > rest && (o.kind != opPut || wasSettled(ops, o.seq))
		}
		if found := check(known); found != "" {
			if h.wrong++; h.wrong <= 3 {
				h.t.Errorf("%s: %s\nnodes began to own the shard at %v", part, found, d.takeovers)
			}
		}
		if over {
			h.checked += len(ops)
			delete(h.parts, part)
		}
	}
	if h.wrong > 3 {
		h.t.Errorf("%d keys and messages have a history that cannot have happened", h.wrong)
	}
}

// wasSettled tells whether somebody was told that a message is.
func wasSettled(ops []*op, seq uint64) bool {
	for _, o := range ops {
		if o.kind == opDone && o.seq == seq && o.answer == yes {
			return true
		}
	}
	return false
}

func (h *history) String() string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return fmt.Sprintf("history: %d operations on %d messages, %d of them refused as stale; keys and messages with "+
		"what cannot have happened: %d", h.asked, len(h.puts), h.refused, h.wrong)
}
