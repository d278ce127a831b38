package queue

import (
	"bytes"
	"context"
	"io"
	"iter"
	"slices"
	"sync"

	"github.com/hikyaku/hikyaku/internal/journal"
)

// memory is a journal for tests: it keeps groups in memory, calls done from a goroutine of its own, and can be cut off
// as by a power cut (what was not synced is gone) or by the death of the process (everything written stays).
type memory struct {
	mu       sync.Mutex
	groups   []memoryGroup
	synced   int // groups that survive a power cut
	waiting  []func()
	released map[journal.Address]bool
	saved    []savedState
	full     bool // refuse lasting records
	refusing bool // answer done functions with ErrRefused, and keep nothing
	broken   error
	busy     bool // done functions are being called
	held     bool // done functions wait until release
	lent     bool // somebody has the turn to call done functions
	damaged  map[journal.Address]bool
	wake     *sync.Cond
	closed   bool
	finished chan struct{}
	reads    int
	reading  func() // called once, before the next read
}

type memoryGroup struct {
	position journal.Position
	records  []journal.Record
}

type savedState struct {
	at   journal.Position
	data []byte
}

func newMemory() *memory {
	m := &memory{released: map[journal.Address]bool{}, damaged: map[journal.Address]bool{},
		finished: make(chan struct{})}
	m.wake = sync.NewCond(&m.mu)
	go m.run()
	return m
}

// after is the journal that a restart finds: after a power cut, or after the death of the process.
func (m *memory) after(powerCut bool) *memory {
	m.mu.Lock()
	defer m.mu.Unlock()
	n := newMemory()
	n.groups = slices.Clone(m.groups)
	if powerCut {
		n.groups = n.groups[:m.synced]
	}
	n.synced = len(n.groups)
	n.saved = slices.Clone(m.saved)
	for a := range m.released {
		n.released[a] = true
	}
	for a := range m.damaged {
		n.damaged[a] = true
	}
	return n
}

func (m *memory) run() {
	defer close(m.finished)
	m.mu.Lock()
	defer m.mu.Unlock()
	for {
		for m.lent || !m.closed && (m.held || len(m.waiting) == 0) {
			m.wake.Wait()
		}
		if len(m.waiting) == 0 {
			return
		}
		m.answer()
	}
}

// answer calls the done functions of those who wait now. It is called with the lock and gives it up meanwhile.
func (m *memory) answer() {
	ready := m.waiting
	m.waiting = nil
	m.busy = true
	m.synced = len(m.groups)
	m.mu.Unlock()
	for _, f := range ready {
		f()
	}
	m.mu.Lock()
	m.busy = false
}

// AppendTurn leaves the turn to the caller whenever the file's journal would.
func (m *memory) AppendTurn(records []journal.Record, done func(journal.Position, error)) (func(), error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	free := !m.held && !m.lent && !m.busy && !m.closed && len(m.waiting) == 0
	if err := m.append(records, done); err != nil || !free {
		return nil, err
	}
	m.lent = true
	return m.turn, nil
}

func (m *memory) turn() {
	m.mu.Lock()
	defer m.mu.Unlock()
	for m.held && !m.closed {
		m.wake.Wait()
	}
	m.answer()
	m.lent = false
	m.wake.Broadcast()
}

// hold stops done functions (nothing becomes durable) until it is called with false.
func (m *memory) hold(on bool) {
	m.mu.Lock()
	m.held = on
	m.mu.Unlock()
	m.wake.Broadcast()
}

// refuse lets the journal refuse what comes, or no more.
func (m *memory) refuse(on bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.refusing = on
}

func (m *memory) keep(records []journal.Record) journal.Position {
	g := memoryGroup{position: journal.Position(10 * (len(m.groups) + 1))}
	for _, r := range records {
		r.Head, r.Body = bytes.Clone(r.Head), bytes.Clone(r.Body)
		g.records = append(g.records, r)
	}
	m.groups = append(m.groups, g)
	return g.position
}

func (m *memory) Append(records []journal.Record, done func(journal.Position, error)) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.append(records, done)
}

func (m *memory) append(records []journal.Record, done func(journal.Position, error)) error {
	switch {
	case m.closed:
		return journal.ErrClosed
	case m.broken != nil:
		return m.broken
	}
	if m.full {
		for _, r := range records {
			if r.Life == journal.Lasting {
				return journal.ErrFull
			}
		}
	}
	if m.refusing {
		m.waiting = append(m.waiting, func() { done(0, journal.ErrRefused) })
		m.wake.Broadcast()
		return nil
	}
	p := m.keep(records)
	m.waiting = append(m.waiting, func() { done(p, nil) })
	m.wake.Broadcast()
	return nil
}

func (m *memory) Write(records []journal.Record) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.broken != nil {
		return m.broken
	}
	m.keep(records)
	return nil
}

// Sync waits like the file's journal: until the disk answers, or ctx ends.
func (m *memory) Sync(ctx context.Context) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if !m.held {
		m.synced = len(m.groups)
		return m.broken
	}
	synced := make(chan struct{})
	m.waiting = append(m.waiting, func() { close(synced) })
	m.mu.Unlock()
	defer m.mu.Lock()
	select {
	case <-synced:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (m *memory) Read(_ context.Context, addrs []journal.Address, each func(int, journal.Record, error)) error {
	m.mu.Lock()
	hook := m.reading
	m.reading = nil
	m.mu.Unlock()
	if hook != nil {
		hook()
	}
	for i, a := range addrs {
		m.mu.Lock()
		m.reads++
		r, err := m.record(a)
		m.mu.Unlock()
		each(i, r, err)
	}
	return nil
}

func (m *memory) record(a journal.Address) (journal.Record, error) {
	i := int(a.Position)/10 - 1
	if i < 0 || i >= len(m.groups) || int(a.Index) >= len(m.groups[i].records) || m.released[a] {
		return journal.Record{}, journal.ErrReleased
	}
	if m.damaged[a] {
		return journal.Record{}, &journal.DamageError{Where: "memory", What: "a flipped bit", Record: a}
	}
	return m.groups[i].records[a.Index], nil
}

func (m *memory) Scan(_ context.Context, from journal.Position) iter.Seq2[journal.Group, error] {
	m.mu.Lock()
	groups := slices.Clone(m.groups)
	m.mu.Unlock()
	return func(yield func(journal.Group, error) bool) {
		for _, g := range groups {
			if g.position <= from {
				continue
			}
			out := journal.Group{Position: g.position}
			for _, r := range g.records {
				r.Head, r.Body = bytes.Clone(r.Head), nil
				out.Records = append(out.Records, r)
			}
			if !yield(out, nil) {
				return
			}
			for _, r := range out.Records { // the records are valid only until now
				clear(r.Head)
			}
		}
	}
}

func (m *memory) End() journal.Position {
	m.mu.Lock()
	defer m.mu.Unlock()
	return journal.Position(10 * len(m.groups))
}

func (m *memory) Release(addrs ...journal.Address) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, a := range addrs {
		if m.released[a] {
			panic("released twice")
		}
		m.released[a] = true
	}
}

func (m *memory) ReleaseBefore(journal.Position) {}

func (m *memory) Keep(live iter.Seq[journal.Address]) {
	keep := map[journal.Address]bool{}
	for a := range live {
		if keep[a] {
			panic("kept twice")
		}
		keep[a] = true
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	for a := range keep {
		if _, err := m.record(a); m.released[a] && err != nil {
			panic("what was released is needed again")
		}
	}
	for _, g := range m.groups {
		for i, r := range g.records {
			a := journal.Address{Position: g.position, Index: uint32(i)}
			if r.Life == journal.Lasting && !keep[a] {
				m.released[a] = true
			}
		}
	}
}

func (m *memory) SaveCheckpoint(_ context.Context, at journal.Position, write func(io.Writer) error) error {
	var b bytes.Buffer
	if err := write(&b); err != nil {
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if int(at)/10 > m.synced {
		panic("a checkpoint of what is not durable")
	}
	m.saved = append(m.saved, savedState{at, b.Bytes()})
	return nil
}

func (m *memory) LoadCheckpoint(context.Context) (journal.Position, io.ReadCloser, []error, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(m.saved) == 0 {
		return 0, nil, nil, journal.ErrNoCheckpoint
	}
	s := m.saved[len(m.saved)-1]
	return s.at, io.NopCloser(bytes.NewReader(s.data)), nil, nil
}

func (m *memory) Info() journal.Info {
	return journal.Info{Durability: journal.Fsync, Limits: journal.Limits{GroupBytes: 1 << 30, GroupRecords: 1 << 20},
		Where: "memory"}
}

func (m *memory) Failed() <-chan struct{} { return nil }

func (m *memory) Health() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	switch {
	case m.closed:
		return journal.ErrClosed
	case m.broken == nil && m.full:
		return journal.ErrFull
	}
	return m.broken
}

func (m *memory) Stats() journal.Stats {
	m.mu.Lock()
	defer m.mu.Unlock()
	n := uint64(0)
	for _, g := range m.groups {
		for _, r := range g.records {
			n += uint64(r.Size())
		}
	}
	return journal.Stats{Groups: uint64(len(m.groups)), Bytes: n}
}

func (m *memory) Close() error {
	m.mu.Lock()
	m.closed = true
	m.mu.Unlock()
	m.wake.Broadcast()
	<-m.finished
	return nil
}
