package queue

import (
	"github.com/hikyaku/hikyaku/internal/condition"
	"github.com/hikyaku/hikyaku/internal/index"
	"github.com/hikyaku/hikyaku/internal/message"
)

// What a condition asks of a message is mostly in memory. Claims ask it under the lock; a walk through a queue takes
// what is in memory along, a piece of the queue at a time, and asks without the lock. A body, or a large column value,
// is in the journal: nobody reads that under the lock. Who finds that a condition asks for it takes what is in memory
// along, reads the rest without the lock, asks again, and comes back to see whether the message is still as it was.

// Bounds of what is done under one hold of the lock, and of what is read without it.
const (
	walkPiece = 1000    // messages that a claim looks at one by one,
	stepPiece = 250     // and that a walk through a queue, which nobody waits for as much, takes along,
	askPiece  = 256     // messages whose bodies are read at once,
	askBytes  = 4 << 20 // unless they are that large
)

// looked is what conditions ask of a message, as it was at one moment.
type looked struct {
	queue    *queueState
	entry    entry
	columns  message.Columns
	at       int64
	size     int64
	attempts uint32
	stored

	meets bool
	key   index.Key
	env   entryEnv // with its body, once that was read
}

// look takes along what conditions ask of e. The lock is held.
func (q *queueState) look(e entry) looked {
	return looked{queue: q, entry: e, columns: q.def.Columns, at: e.at(), size: e.size(), attempts: e.attempts(),
		stored: q.stored(e)}
}

// stillMeets tells whether a message that met a condition when it was looked at still does. One of which it is too much
// to ask that under the lock does so as far as is known. The lock is held.
func (s *state) stillMeets(q *queueState, x *looked, where *condition.Expr) bool {
	e := x.entry
	if where == nil || e.attempts() == x.attempts && sameStart(q.def.Columns, x.columns) {
		return true
	}
	env := s.env(q, e)
	env.body, env.part = x.env.body, x.env.part
	a, _ := env.ask(where)
	return a == isMet || a == tooMuch
}

// sameStart tells whether two definitions have the same columns: not just alike ones.
func sameStart(a, b message.Columns) bool {
	return len(a) == len(b) && (len(a) == 0 || &a[0] == &b[0])
}

// What an environment is asked about: the message as it was when it was looked at, or as it is.

func (v *entryEnv) columns() message.Columns {
	if v.kept != nil {
		return v.kept.columns
	}
	return v.q.def.Columns
}

func (v *entryEnv) layout() *layout {
	if v.kept != nil {
		return v.kept.layout
	}
	return v.q.layoutOf(v.e.seq())
}

func (v *entryEnv) bytes() []byte {
	if v.kept != nil {
		return v.kept.head
	}
	return v.e.head()
}

func (v *entryEnv) acceptedAt() int64 {
	if v.kept != nil {
		return v.kept.at
	}
	return v.e.at()
}

func (v *entryEnv) attempts() uint32 {
	if v.kept != nil {
		return v.kept.attempts
	}
	return v.e.attempts()
}

// stateOf tells where a message stands.
func (s *state) stateOf(q *queueState, e entry) MessageState {
	switch x := e.extra(); {
	case x.claim != nil:
		return Claimed
	case x.wake > s.now:
		return Delayed
	case q.ready.Has(e.seq()):
		return Ready
	}
	return Waiting
}

// peeked is what is known of a message without reading it.
func (s *state) peeked(q *queueState, e entry, st MessageState) Peeked {
	p := Peeked{Sequence: e.seq(), State: st, Attempts: int(e.attempts()), Columns: q.def.Columns}
	p.Message.Hops = e.hops()
	switch st {
	case Delayed:
		p.Until = s.time.shown(e.wake(), s.now)
	case Claimed:
		p.Until = s.time.shown(e.claim().deadline, s.now)
	}
	return p
}

// know takes the body part that was read of the message, or why it could not be.
func (x *looked) know(part []byte, err error, over func() bool) {
	x.env = entryEnv{kept: x, over: over, body: bodyKnown, part: part}
	if err != nil {
		x.env.body = bodyDamaged // or it is gone by now
	}
}
