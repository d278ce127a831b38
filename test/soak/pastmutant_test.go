package soak

import (
	"bytes"
	"context"
	"encoding/binary"
	"slices"
	"sync"

	"github.com/hikyaku/hikyaku/internal/journal"
)

// Kinds of record, which stand first in their heads. They are part of the journal's format.
const (
	kindSettle   = 11
	kindSeek     = 14
	kindSnapshot = 15
)

// oblivious does not keep some of the groups that begin with a record of a kind, and says that it does.
type oblivious struct {
	journal.Journal
	kind byte

	mu    sync.Mutex
	n     int
	order chained
}

func (o *oblivious) Append(rs []journal.Record, done journal.Done) error {
	if rs[0].Head[0] != o.kind {
		return o.Journal.Append(rs, o.order.done(done))
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.n++; o.n%2 == 0 {
		return o.Journal.Append(rs, o.order.done(done))
	}
	at := o.End()
	o.order.then(func() { done(at, nil, 0) })
	return nil
}

func (o *oblivious) AppendTurn(rs []journal.Record, done journal.Done) (func(), error) {
	return nil, o.Append(rs, done)
}

// misdirecting writes down of seeks to a time that they went a second further.
type misdirecting struct{ journal.Journal }

func (m misdirecting) Append(rs []journal.Record, done journal.Done) error {
	if h := rs[0].Head; h[0] == kindSeek {
		at := 1
		_, n := binary.Varint(h[at:])
		at += n
		_, n = binary.Uvarint(h[at:]) // the queue
		at += n
		if to, n := binary.Varint(h[at:]); to > 1 {
			head := binary.AppendVarint(bytes.Clone(h[:at]), to+1_000_000)
			rs = slices.Clone(rs)
			rs[0].Head = append(head, h[at+n:]...)
		}
	}
	return m.Journal.Append(rs, done)
}

func (m misdirecting) AppendTurn(rs []journal.Record, done journal.Done) (func(), error) {
	return nil, m.Append(rs, done)
}

// tardy writes snapshots down behind the group that comes after them.
type tardy struct {
	journal.Journal
	mu    sync.Mutex
	held  [][]journal.Record
	order chained
}

func (t *tardy) Append(rs []journal.Record, done journal.Done) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if rs[0].Head[0] == kindSnapshot {
		own := slices.Clone(rs)
		for i := range own {
			own[i].Head = bytes.Clone(own[i].Head)
		}
		t.held = append(t.held, own)
		at := t.End()
		t.order.then(func() { done(at, nil, 0) })
		return nil
	}
	err := t.Journal.Append(rs, t.order.done(done))
	t.catchUp()
	return err
}

func (t *tardy) AppendTurn(rs []journal.Record, done journal.Done) (func(), error) {
	return nil, t.Append(rs, done)
}

// catchUp writes what was held back. The lock is held.
func (t *tardy) catchUp() {
	for _, rs := range t.held {
		if t.Write(rs) != nil {
			break // those who asked for it have their answer all the same
		}
	}
	t.held = nil
}

func (t *tardy) Close() error {
	t.mu.Lock()
	t.catchUp()
	t.mu.Unlock()
	return t.Journal.Close()
}

// hasty releases a message when it is delivered, whatever keeps it.
type hasty struct {
	journal.Journal
	mu    sync.Mutex
	there map[place]journal.Address
}

// place is where a message is in the store.
type place struct {
	queue uint32
	seq   uint64
}

func (h *hasty) Append(rs []journal.Record, done journal.Done) error {
	own := slices.Clone(rs)
	for i := range own {
		own[i].Head = bytes.Clone(own[i].Head)
	}
	return h.Journal.Append(rs, func(p journal.Position, err error, left int) {
		if err == nil {
			h.kept(own, p)
		}
		done(p, err, left)
	})
}

func (h *hasty) AppendTurn(rs []journal.Record, done journal.Done) (func(), error) {
	return nil, h.Append(rs, done)
}

func (h *hasty) kept(rs []journal.Record, p journal.Position) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for i, r := range rs {
		at := place{r.Queue, r.Sequence}
		switch {
		case r.Life == journal.Lasting:
			h.there[at] = journal.Address{Position: p, Index: uint32(i)}
		case r.Head[0] == kindSettle && delivered(r.Head) && h.there[at] != journal.Address{}:
			h.Release(h.there[at])
		}
	}
}

// delivered tells whether a settlement says that the message was.
func delivered(head []byte) bool {
	at := 1
	_, n := binary.Varint(head[at:])
	at += n
	for range 2 { // queue and sequence
		_, n := binary.Uvarint(head[at:])
		at += n
	}
	return head[at] == 0
}

// carefree does not sync for those who ask for it.
type carefree struct{ journal.Journal }

func (carefree) Sync(context.Context) error { return nil }
