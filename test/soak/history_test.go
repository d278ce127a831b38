package soak

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/hikyaku/hikyaku/internal/journal"
	"github.com/hikyaku/hikyaku/internal/journal/file"
	"github.com/hikyaku/hikyaku/internal/journal/file/faultfs"
	"github.com/hikyaku/hikyaku/internal/message"
	"github.com/hikyaku/hikyaku/internal/queue"
)

// history is what several clients do to one store, through crashes.
type history struct {
	random *rand.Rand
	mutate func(journal.Journal) journal.Journal // nil: none
	disk   *faultfs.Disk
	clock  atomic.Int64
	claims atomic.Int64
	puts   atomic.Int64

	mu      sync.Mutex
	events  []event
	unheard []unheard // puts without an answer
	seqs    map[message.ID]uint64
	held    []claimed // by nobody who works on it
	pending bool
}

// unheard is a put without an answer. Which place it got is known when its message is seen.
type unheard struct {
	id message.ID
	e  event
}

// claimed is a claim that some client will end.
type claimed struct {
	token queue.Token
	key   string
	seq   uint64
	claim int
}

// work is the queue of histories.
var work = queue.Name{Namespace: queue.DefaultNamespace, Name: "work"}

// lease is longer than any history: claims end by settling.
const lease = time.Hour

func (h *history) now() int64 { return h.clock.Add(1) }

func (h *history) note(es ...event) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.events = append(h.events, es...)
}

// write does a history of some rounds, each ended by a crash, and looks at what is there in the end.
func (h *history) write(rounds int) error {
	for round := range rounds {
		power := h.random.IntN(3) > 0
		h.disk.CutAfter(30 + h.random.IntN(400))
		if err := h.round(); err != nil {
			return fmt.Errorf("round %d: %w", round, err)
		}
		crash := event{kind: eventCrash, power: power, pending: h.pending, from: h.now()}
		crash.til = crash.from
		h.note(crash)
		h.pending = false
		if power {
			h.disk = h.disk.AfterPowerCut(h.random)
		} else {
			h.disk = h.disk.AfterKill()
		}
	}
	return h.look()
}

func (h *history) open() (*queue.Store, journal.Journal, error) {
	f, err := file.Open(context.Background(),
		file.Options{Dir: dir, FS: h.disk, SegmentBytes: 16 << 10, MaxGroupBytes: 64 << 10})
	if err != nil {
		return nil, nil, err
	}
	var j journal.Journal = f
	if h.mutate != nil {
		j = h.mutate(f)
	}
	s, err := queue.Open(context.Background(), queue.Options{Journal: j, CheckpointBytes: 8 << 10, OnDemand: true})
	if err != nil {
		return nil, nil, errors.Join(err, j.Close())
	}
	return s, j, nil
}

// round lets clients work until the disk is cut.
func (h *history) round() error {
	s, j, err := h.open()
	if errors.Is(err, faultfs.ErrCut) {
		return nil
	}
	if err != nil {
		return err
	}
	errs := make([]error, 4)
	var clients sync.WaitGroup
	for i := range errs {
		seed := h.random.Uint64()
		clients.Go(func() {
			c := &client{history: h, s: s, random: rand.New(rand.NewPCG(seed, 1))}
			for n := 0; n < 60 && errs[i] == nil; n++ {
				errs[i] = c.act()
			}
		})
	}
	clients.Wait()
	h.disk.Cut()
	s.Close() //nolint:errcheck // the power is off
	j.Close() //nolint:errcheck // the power is off
	for _, err := range errs {
		if err != nil && !errors.Is(err, faultfs.ErrCut) && !errors.Is(err, queue.ErrUnavailable) {
			return err
		}
	}
	return nil
}

// client does one thing after the other.
type client struct {
	*history
	s      *queue.Store
	random *rand.Rand
}

func (c *client) act() error {
	switch c.random.IntN(5) {
	case 0, 1:
		return c.put()
	case 2, 3:
		return c.take()
	}
	return c.end()
}

func (c *client) put() error {
	var ms []message.Message
	var es []event
	from := c.now()
	for range 1 + c.random.IntN(2) {
		m := message.Message{ID: message.NewID(), Body: make([]byte, c.random.IntN(600))}
		key := fmt.Sprint("m", c.puts.Add(1))
		if c.random.IntN(3) == 0 {
			m.Key = fmt.Sprint("k", c.random.IntN(12))
			key = m.Key
		}
		ms, es = append(ms, m), append(es, event{kind: eventPut, key: key, from: from})
	}
	rs, err := c.s.Put(context.Background(), work, ms)
	til := c.now()
	c.mu.Lock()
	defer c.mu.Unlock()
	for i := range es {
		es[i].til = til
		if err != nil {
			es[i].answer = silence
			c.unheard = append(c.unheard, unheard{ms[i].ID, es[i]})
			continue
		}
		es[i].seq = rs[i].Sequence
		c.events = append(c.events, es[i])
	}
	return err
}

func (c *client) take() error {
	wait := time.Duration(c.random.IntN(2)) * time.Millisecond
	from := c.now()
	cs, err := c.s.Claim(context.Background(), queue.ClaimRequest{From: []queue.From{{Queue: work}}, Lease: lease,
		Wait: wait})
	til := c.now()
	c.mu.Lock()
	defer c.mu.Unlock()
	c.pending = c.pending || err != nil
	for i := range cs {
		id := int(c.claims.Add(1))
		m := claimed{cs[i].Token, cs[i].Message.Key, cs[i].Sequence, id}
		c.seqs[cs[i].Message.ID] = m.seq
		c.held = append(c.held, m)
		c.events = append(c.events, event{kind: eventTake, key: m.key, seq: m.seq, claim: id, from: from, til: til})
	}
	return err
}

func (c *client) end() error {
	c.mu.Lock()
	if len(c.held) == 0 {
		c.mu.Unlock()
		return nil
	}
	i := c.random.IntN(len(c.held))
	m := c.held[i]
	c.held = slices.Delete(c.held, i, i+1)
	c.mu.Unlock()
	e := event{kind: eventDone, key: m.key, seq: m.seq, claim: m.claim}
	kind := queue.Done
	if c.random.IntN(3) == 0 {
		e.kind, kind = eventBack, queue.Back
	}
	e.from = c.now()
	errs, err := c.s.Settle(context.Background(), []queue.Settlement{{Token: m.token, Kind: kind}})
	e.til = c.now()
	switch {
	case err != nil:
		e.answer = silence
	case errors.Is(errs[0], queue.ErrStale):
		e.answer = stale
	case errs[0] != nil:
		return errs[0]
	}
	c.note(e)
	return err
}

// look opens the store once more and writes down what is there, and the places of puts that nobody had heard of.
func (h *history) look() error {
	s, j, err := h.open()
	if err != nil {
		return err
	}
	ps, err := s.Peek(context.Background(), work, queue.PeekRequest{Max: 1 << 20})
	if err != nil && !errors.Is(err, queue.ErrNotFound) {
		return err
	}
	for i := range ps {
		h.seqs[ps[i].Message.ID] = ps[i].Sequence
	}
	for _, u := range h.unheard {
		if seq := h.seqs[u.id]; seq != 0 { // else it did not happen, or nothing tells of it
			u.e.seq = seq
			h.events = append(h.events, u.e)
		}
	}
	// Messages without a key have one of the history's own, which their claims do not know.
	keys := map[uint64]string{}
	for _, e := range h.events {
		if e.kind == eventPut {
			keys[e.seq] = e.key
		}
	}
	there := map[string][]uint64{}
	for _, k := range keys {
		there[k] = nil
	}
	for i := range ps {
		k := keys[ps[i].Sequence]
		there[k] = append(there[k], ps[i].Sequence)
	}
	for i := range h.events {
		if e := &h.events[i]; e.kind != eventCrash {
			e.key = keys[e.seq]
		}
	}
	at := h.now()
	for k, seqs := range there {
		h.note(event{kind: eventLook, key: k, there: seqs, from: at, til: at})
	}
	return errors.Join(s.Close(), j.Close())
}

func writeHistory(seed uint64, rounds int, mutate func(journal.Journal) journal.Journal) (events int, err error) {
	h := &history{mutate: mutate, random: rand.New(rand.NewPCG(seed, 2)), disk: faultfs.New(),
		seqs: map[message.ID]uint64{}}
	if err := h.write(rounds); err != nil {
		return 0, fmt.Errorf("history %d: %w", seed, err)
	}
	if bad := notLinear(h.events); len(bad) > 0 {
		var story string
		for _, e := range h.events {
			if e.key == bad[0] || e.kind == eventCrash {
				story += fmt.Sprintf("  %+v\n", e)
			}
		}
		return 0, fmt.Errorf("history %d: what happened to %v cannot have happened:\n%s", seed, bad, story)
	}
	return len(h.events), nil
}

// TestConcurrentClientsSeeOneOrder writes histories of several clients through kills and power cuts and looks for an
// order in which everything can have happened.
func TestConcurrentClientsSeeOneOrder(t *testing.T) {
	n := 0
	histories := uint64(60)
	if raceDetector {
		histories = 10
	}
	for seed := range histories {
		events, err := writeHistory(seed, 5, nil)
		if err != nil {
			t.Fatal(err)
		}
		n += events
	}
	t.Logf("%d events", n)
}

func TestHistoriesOverABrokenJournalAreRefused(t *testing.T) {
	for _, c := range []struct {
		name   string
		broken func(journal.Journal) journal.Journal
	}{
		{"a group is acknowledged before it is durable",
			func(j journal.Journal) journal.Journal { return &early{Journal: j} }},
		{"a settlement that was acknowledged is forgotten", func(j journal.Journal) journal.Journal {
			return &forgetful{Journal: j, life: journal.Passing, every: 9}
		}},
		{"a claim is not written down",
			func(j journal.Journal) journal.Journal { return &forgetful{Journal: j, claims: true, every: 2} }},
	} {
		t.Run(c.name, func(t *testing.T) {
			for seed := range uint64(100) {
				if _, err := writeHistory(seed, 5, c.broken); err != nil {
					what, _, _ := strings.Cut(err.Error(), "\n")
					t.Log(what)
					return
				}
			}
			t.Error("none of 100 histories tells of it")
		})
	}
}
