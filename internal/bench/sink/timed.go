package sink

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/hikyaku/hikyaku/internal/component"
	"github.com/hikyaku/hikyaku/internal/measure"
	"github.com/hikyaku/hikyaku/internal/message"
)

// timedSource notes when each of its messages was read and when it was settled, which is when what was made from it is
// committed.
type timedSource struct {
	component.Source

	ready   func() error // called when lines are about to be read
	begun   atomic.Bool
	events  int  // how many there will be
	windows bool // a histogram of the moment is kept, and not the times of all

	next    int     // the next one's number; Run sends from one goroutine
	read    []int64 // nanoseconds since 1970
	done    []int64 // likewise; 0: it was not looked
	settled atomic.Int64
	times   *measure.Histogram
}

// Start implements component.Starter for a source that does.
func (s *timedSource) Start(ctx context.Context) error {
	if s.windows {
		s.times = measure.NewHistogram()
	} else {
		s.read, s.done = make([]int64, s.events), make([]int64, s.events)
	}
	if starter, ok := s.Source.(component.Starter); ok {
		return starter.Start(ctx)
	}
	return nil
}

// Run implements component.Source.
func (s *timedSource) Run(ctx context.Context, out component.Out) error {
	if err := s.ready(); err != nil {
		return err
	}
	s.begun.Store(true)
	return s.Source.Run(ctx, timedOut{s, out})
}

// window returns the mean and the p99 since it was last asked, in milliseconds.
func (s *timedSource) window() (mean, p99 float64) {
	sum := s.times.Summary()
	s.times.Reset()
	return measure.Milliseconds(sum.Mean), measure.Milliseconds(sum.P99)
}

type timedOut struct {
	source *timedSource
	out    component.Out
}

// Send implements component.Out.
func (t timedOut) Send(ctx context.Context, d component.Delivery) error {
	first, now, err := t.source.sent(1)
	if err != nil {
		return err
	}
	settle := d.Settle
	d.Settle = func(o component.Outcome) {
		t.source.settle(first, now, o)
		settle(o)
	}
	return t.out.Send(ctx, d)
}

// SendSlab implements component.SlabOut.
func (t timedOut) SendSlab(ctx context.Context, slab component.Slab) (taken int, err error) {
	first, now, err := t.source.sent(len(slab.Messages))
	if err != nil {
		return 0, err
	}
	settle := slab.Settle
	slab.Settle = func(i int, m *message.Message, o component.Outcome) {
		t.source.settle(first+i, now, o)
		settle(i, m, o)
	}
	return component.SendSlab(ctx, t.out, slab)
}

// sent notes that the next n messages are sent, and tells the number of the first.
func (s *timedSource) sent(n int) (first int, now time.Time, err error) {
	if s.next+n > s.events {
		return 0, now, fmt.Errorf("more than %d lines came", s.events)
	}
	first, now = s.next, time.Now()
	s.next += n
	if !s.windows {
		for i := range n {
			s.read[first+i] = now.UnixNano()
		}
	}
	return first, now, nil
}

// settle notes that the i-th message is settled.
func (s *timedSource) settle(i int, sent time.Time, o component.Outcome) {
	if o.Verdict != component.Delivered {
		return
	}
	if s.windows {
		s.times.Record(time.Since(sent))
	} else if i%max(1, s.events/timesKept) == 0 || i == s.events-1 {
		s.done[i] = time.Now().UnixNano()
	}
	s.settled.Add(1)
}

// timesKept is of how many messages, about, the times are kept: a look at the clock for each would take as long as some
// of the steps that are measured. Those of a batch are settled together, so that enough of each are among them.
const timesKept = 50_000
