package main

import (
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/hikyaku/hikyaku/internal/cluster"
	"github.com/hikyaku/hikyaku/internal/measure"
)

// demoBook is the ledger of the cluster's demo: what was acknowledged to writers, and what readers were given.
type demoBook struct {
	mu        sync.Mutex
	doors     map[string]*demoCount
	last      time.Time // somebody was acknowledged something
	ended     time.Time // the writers did; zero: they go on
	takeovers []*takeover
}

// demoCount is what there was at one door. Messages are known by their bodies.
type demoCount struct {
	put, errors  int
	acked, taken map[string]bool
	last         time.Time // something was acknowledged
	silence      time.Duration
}

// takeover is a kill and what came of it.
type takeover struct {
	killed, by string
	at         time.Time // of the kill
	term       uint64
	silence    time.Duration // 0: nothing has been acknowledged since
}

func newDemoBook() *demoBook { return &demoBook{doors: map[string]*demoCount{}} }

// begin says when the clients begin.
func (b *demoBook) begin(at time.Time) { b.last = at }

// end says that the writers have ended.
func (b *demoBook) end(at time.Time) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.ended = at
}

// of has to be called with the lock.
func (b *demoBook) of(door string) *demoCount {
	c := b.doors[door]
	if c == nil {
		c = &demoCount{acked: map[string]bool{}, taken: map[string]bool{}, last: b.last}
		b.doors[door] = c
	}
	return c
}

// fresh names a message that is about to be put.
func (b *demoBook) fresh(door string) string {
	b.mu.Lock()
	defer b.mu.Unlock()
	c := b.of(door)
	c.put++
	return fmt.Sprintf("%s-%d", door, c.put)
}

func (b *demoBook) failed(door string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.of(door).errors++
}

func (b *demoBook) acknowledged(door, body string, at time.Time) {
	b.mu.Lock()
	defer b.mu.Unlock()
	c := b.of(door)
	c.acked[body] = true
	c.silence = max(c.silence, at.Sub(c.last))
	if n := len(b.takeovers); n > 0 { // an answer that was on its way at the kill ends nothing
		t := b.takeovers[n-1]
		t.silence = max(t.silence, at.Sub(b.last))
	}
	c.last, b.last = at, at
}

func (b *demoBook) took(door, body string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.of(door).taken[body] = true
}

// killed is told that a node is about to be killed.
func (b *demoBook) killed(node string, at time.Time) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.takeovers = append(b.takeovers, &takeover{killed: node, at: at})
}

// owned is told who owns the shard. It returns a line when that ends a takeover.
func (b *demoBook) owned(o cluster.Owner) string {
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.takeovers) == 0 {
		return ""
	}
	t := b.takeovers[len(b.takeovers)-1]
	if t.by != "" || o.Node == "" || !o.Since.After(t.at) || !b.last.After(o.Since) {
		return ""
	}
	t.by, t.term = o.Node, o.Term
	return t.String()
}

// waits tells whether the last kill's takeover is not over.
func (b *demoBook) waits() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	n := len(b.takeovers)
	return n > 0 && b.takeovers[n-1].by == ""
}

func (t *takeover) String() string {
	return fmt.Sprintf("node %s was killed, node %s took over in term %d; nothing was acknowledged for %s", t.killed,
		t.by, t.term, measure.Duration(t.silence))
}

// sum counts what was acknowledged, and what of it no reader was given.
func (b *demoBook) sum() (acknowledged, lost int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, c := range b.doors {
		for body := range c.acked {
			acknowledged++
			if !c.taken[body] {
				lost++
			}
		}
	}
	return acknowledged, lost
}

// table shows each door.
func (b *demoBook) table(doors []*demoDoor) *measure.Table {
	b.mu.Lock()
	defer b.mu.Unlock()
	t := measure.NewTable(measure.Column{Name: "door"}, right("put"), right("acknowledged"), right("taken"),
		right("errors"), right("longest silence"))
	until := b.ended
	if until.IsZero() {
		until = time.Now()
	}
	for _, d := range doors {
		c := b.of(d.name)
		count := func(n int) string { return measure.Count(int64(n)) }
		t.Row(d.name, count(c.put), count(len(c.acked)), count(len(c.taken)), count(c.errors),
			measure.Duration(max(c.silence, until.Sub(c.last))))
	}
	return t
}

// account writes the ledger's line. What is lost is an error.
func (b *demoBook) account(w io.Writer) error {
	acknowledged, lost := b.sum()
	count := func(n int) string { return measure.Count(int64(n)) }
	if _, err := fmt.Fprintf(w, "\n%d takeovers: acknowledged %s, taken %s, %s lost\n", len(b.takeovers),
		count(acknowledged), count(acknowledged-lost), count(lost)); err != nil {
		return err
	}
	if lost > 0 {
		return fmt.Errorf("of %s messages that were acknowledged, %s are lost", count(acknowledged), count(lost))
	}
	return nil
}
