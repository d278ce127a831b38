package main

import (
	"fmt"
	"sync/atomic"
	"time"

	"github.com/hikyaku/hikyaku/internal/component"
	"github.com/hikyaku/hikyaku/internal/measure"
	"github.com/hikyaku/hikyaku/internal/message"
)

// campaignHops collects the hops of the messages that some sinks delivered.
type campaignHops struct {
	nodes   map[string]bool
	hops    [message.HopCount]*measure.Histogram
	dequeue *measure.Histogram // from the claim to the end
	whole   *measure.Histogram // from the campaign's begin to the end
	start   time.Time
	last    atomic.Int64 // when the last one ended, in nanoseconds since 1970
}

func newCampaignHops(nodes ...string) *campaignHops {
	t := &campaignHops{nodes: map[string]bool{}, dequeue: measure.NewHistogram(), whole: measure.NewHistogram()}
	for _, n := range nodes {
		t.nodes[n] = true
	}
	for i := range t.hops {
		t.hops[i] = measure.NewHistogram()
	}
	return t
}

// begin says when the campaign begins: before the pipeline does.
func (t *campaignHops) begin(at time.Time) { t.start = at }

// Message implements pipeline.Observer.
func (t *campaignHops) Message(m *message.Message, node string, o component.Outcome) {
	if !t.nodes[node] || o.Verdict != component.Delivered {
		return
	}
	for i := range t.hops {
		if d, ok := m.Hops.Since(message.Hop(i)); ok {
			t.hops[i].Record(d)
		}
	}
	claimed, settled := m.Hops[message.Claimed], m.Hops[message.Settled]
	if claimed == 0 || settled == 0 {
		return
	}
	t.dequeue.Record(time.Duration(settled - claimed))
	t.whole.Record(time.Duration(int64(settled) - t.start.UnixNano()))
	for last := t.last.Load(); int64(settled) > last &&
		!t.last.CompareAndSwap(last, int64(settled)); last = t.last.Load() {
	}
}

// took is how long it was from the campaign's begin to its last user.
func (t *campaignHops) took() time.Duration {
	if t.last.Load() == 0 {
		return time.Since(t.start)
	}
	return time.Unix(0, t.last.Load()).Sub(t.start)
}

// done is how many users have been told.
func (t *campaignHops) done() int64 { return t.whole.Count() }

func right(name string) measure.Column { return measure.Column{Name: name, Align: measure.Right} }

// table shows what each hop of a user's push took.
func (t *campaignHops) table(s terminal) *measure.Table {
	columns := []measure.Column{{Name: "hop"}, right("p50"), right("p99"), right("max"), right("messages")}
	if s.narrow() {
		columns = columns[:3]
	}
	table := measure.NewTable(columns...)
	row := func(name string, h *measure.Histogram) {
		cells := []any{name, measure.Duration(h.Quantile(0.5)), measure.Duration(h.Quantile(0.99)),
			measure.Duration(h.Max()), measure.Count(h.Count())}
		table.Row(cells[:len(columns)]...)
	}
	for i := 1; i < message.HopCount; i++ {
		row(fmt.Sprintf("%s → %s", message.Hop(i-1), message.Hop(i)), t.hops[i])
	}
	row("from the news to the end", t.whole)
	return table
}
