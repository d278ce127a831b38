package soak

import (
	"bytes"
	"context"
	"io"
	"iter"
	"strings"
	"sync"
	"testing"

	"github.com/hikyaku/hikyaku/internal/journal"
)

// TestBrokenRulesAreFound puts a journal under the store that breaks one rule of its contract, each in its own way, and
// expects some seed to notice.
func TestBrokenRulesAreFound(t *testing.T) {
	oneProcessor(t)
	for _, c := range []struct {
		name   string
		within uint64 // seeds
		broken func(journal.Journal) journal.Journal
	}{
		{"a settlement that was acknowledged is forgotten", 40, func(j journal.Journal) journal.Journal {
			return &forgetful{Journal: j, life: journal.Passing, every: 9}
		}},
		{"a put that was acknowledged is forgotten", 40, func(j journal.Journal) journal.Journal {
			return &forgetful{Journal: j, life: journal.Lasting, every: 9}
		}},
		{"a claim is not written down", 60,
			func(j journal.Journal) journal.Journal { return &forgetful{Journal: j, claims: true, every: 2} }},
		{"half of a group is kept", 40, func(j journal.Journal) journal.Journal { return &halving{Journal: j} }},
		{"a group is acknowledged before it is durable", 60,
			func(j journal.Journal) journal.Journal { return &early{Journal: j} }},
		{"a failed sync is passed over in silence", 300,
			func(j journal.Journal) journal.Journal { return &deaf{Journal: j} }},
		{"a claim is written behind what came after it", 60,
			func(j journal.Journal) journal.Journal { return &swapping{Journal: j} }},
		{"groups before a checkpoint are told again", 40,
			func(j journal.Journal) journal.Journal { return &repeating{Journal: j} }},
		{"a checkpoint claims more than it has", 60,
			func(j journal.Journal) journal.Journal { return &boasting{Journal: j} }},
		{"a body that is needed is released", 200,
			func(j journal.Journal) journal.Journal { return &wasteful{Journal: j} }},
		{"a seek that was acknowledged is forgotten", 60,
			func(j journal.Journal) journal.Journal { return &oblivious{Journal: j, kind: kindSeek} }},
		{"a seek is written down with another time", 60,
			func(j journal.Journal) journal.Journal { return misdirecting{j} }},
		{"a snapshot that was acknowledged is forgotten", 60,
			func(j journal.Journal) journal.Journal { return &oblivious{Journal: j, kind: kindSnapshot} }},
		{"a snapshot is written behind what came after it", 200,
			func(j journal.Journal) journal.Journal { return &tardy{Journal: j} }},
		{"what is kept for a seek is released", 200, func(j journal.Journal) journal.Journal {
			return &hasty{Journal: j, there: map[place]journal.Address{}}
		}},
		{"what has to be synced is not", 100, func(j journal.Journal) journal.Journal { return carefree{j} }},
		{"a body is altered", 10, func(j journal.Journal) journal.Journal { return &altering{Journal: j} }},
	} {
		t.Run(c.name, func(t *testing.T) {
			for seed := uint64(1); seed <= c.within; seed++ {
				if res := run(t, seed, 3, c.broken); res.err != nil {
					what, _, _ := strings.Cut(res.err.Error(), "\n")
					t.Log(what)
					return
				}
			}
			t.Errorf("none of %d seeds has noticed", c.within)
		})
	}
}

// forgetful does not keep some groups, and says that it does.
type forgetful struct {
	journal.Journal
	life   journal.Life // of the group's last record
	claims bool         // those that nobody waits for
	every  int

	mu    sync.Mutex
	n     int
	order chained
}

func (f *forgetful) forgets() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.n++
	return f.n%f.every == 0
}

func (f *forgetful) Append(rs []journal.Record, done journal.Done) error {
	if !f.claims && rs[len(rs)-1].Life == f.life && f.n > 2 && f.forgets() {
		at := f.End()
		f.order.then(func() { done(at, nil, 0) })
		return nil
	}
	f.mu.Lock()
	f.n++
	f.mu.Unlock()
	return f.Journal.Append(rs, f.order.done(done))
}

func (f *forgetful) AppendTurn(rs []journal.Record, done journal.Done) (func(), error) {
	return nil, f.Append(rs, done)
}

func (f *forgetful) Write(rs []journal.Record) error {
	if f.claims && f.forgets() {
		return nil
	}
	return f.Journal.Write(rs)
}

// chained calls functions one after the other, in goroutines.
type chained struct {
	mu   sync.Mutex
	last chan struct{}
}

func (c *chained) then(f func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	before, this := c.last, make(chan struct{})
	c.last = this
	go func() {
		defer close(this)
		if before != nil {
			<-before
		}
		f()
	}()
}

// done calls a done function among those of then.
func (c *chained) done(f journal.Done) journal.Done {
	return func(p journal.Position, err error, _ int) { c.then(func() { f(p, err, 0) }) }
}

// halving keeps the first half of large groups.
type halving struct{ journal.Journal }

func (h *halving) Append(rs []journal.Record, done journal.Done) error {
	if len(rs) >= 3 {
		rs = rs[:len(rs)/2]
	}
	return h.Journal.Append(rs, done)
}

func (h *halving) AppendTurn(rs []journal.Record, done journal.Done) (func(), error) {
	return nil, h.Append(rs, done)
}

// early answers when a group is written.
type early struct {
	journal.Journal
	order chained
}

func (e *early) Append(rs []journal.Record, done journal.Done) error {
	if err := e.Write(rs); err != nil {
		return err
	}
	at := e.End()
	e.order.then(func() { done(at, nil, 0) })
	return nil
}

func (e *early) AppendTurn(rs []journal.Record, done journal.Done) (func(), error) {
	return nil, e.Append(rs, done)
}

// deaf takes a group that failed for one that is durable.
type deaf struct {
	journal.Journal
}

func (d *deaf) Append(rs []journal.Record, done journal.Done) error {
	var at journal.Position
	placed := make(chan struct{})
	err := d.Journal.Append(rs, func(p journal.Position, err error, left int) {
		<-placed
		if err != nil {
			p = at
		}
		done(p, nil, left)
	})
	at = d.End()
	close(placed)
	return err
}

func (d *deaf) AppendTurn(rs []journal.Record, done journal.Done) (func(), error) {
	return nil, d.Append(rs, done)
}

// swapping holds back what is written without waiting until something else has come.
type swapping struct {
	journal.Journal
	mu   sync.Mutex
	held [][]journal.Record
}

func (s *swapping) Write(rs []journal.Record) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	own := make([]journal.Record, len(rs))
	for i, r := range rs {
		r.Head, r.Body = bytes.Clone(r.Head), bytes.Clone(r.Body)
		own[i] = r
	}
	s.held = append(s.held, own)
	return nil
}

func (s *swapping) Append(rs []journal.Record, done journal.Done) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	err := s.Journal.Append(rs, done)
	for _, h := range s.held {
		if s.Journal.Write(h) != nil {
			break // the append has its answer all the same
		}
	}
	s.held = nil
	return err
}

func (s *swapping) AppendTurn(rs []journal.Record, done journal.Done) (func(), error) {
	return nil, s.Append(rs, done)
}

// repeating saves checkpoints as if they were older than they are.
type repeating struct {
	journal.Journal
	mu     sync.Mutex
	before journal.Position
}

func (r *repeating) SaveCheckpoint(ctx context.Context, at journal.Position, write func(io.Writer) error) error {
	r.mu.Lock()
	older := r.before
	r.before = at
	r.mu.Unlock()
	return r.Journal.SaveCheckpoint(ctx, older, write)
}

// boasting says of a checkpoint that nothing came after it.
type boasting struct{ journal.Journal }

func (b *boasting) LoadCheckpoint(ctx context.Context) (journal.Position, io.ReadCloser, []error, error) {
	_, r, skipped, err := b.Journal.LoadCheckpoint(ctx)
	return b.End(), r, skipped, err
}

// wasteful releases every message as soon as it is there, and at a start all there are.
type wasteful struct {
	journal.Journal
}

func (w *wasteful) Append(rs []journal.Record, done journal.Done) error {
	return w.Journal.Append(rs, func(p journal.Position, err error, left int) {
		if err == nil {
			for i, r := range rs {
				if r.Life == journal.Lasting {
					w.Release(journal.Address{Position: p, Index: uint32(i)})
				}
			}
		}
		done(p, err, left)
	})
}

func (w *wasteful) AppendTurn(rs []journal.Record, done journal.Done) (func(), error) {
	return nil, w.Append(rs, done)
}

func (w *wasteful) Keep(iter.Seq[journal.Address]) {
	w.Journal.Keep(func(func(journal.Address) bool) {})
}

// altering changes a byte of what it reads.
type altering struct {
	journal.Journal
}

func (a *altering) Read(ctx context.Context, addrs []journal.Address, each func(int, journal.Record, error)) error {
	return a.Journal.Read(ctx, addrs, func(i int, r journal.Record, err error) {
		if n := len(r.Body); n > 0 {
			r.Body = bytes.Clone(r.Body)
			r.Body[n-1] ^= 1
		}
		each(i, r, err)
	})
}
