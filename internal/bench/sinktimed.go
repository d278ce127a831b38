package bench

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/hikyaku/hikyaku/internal/component"
	"github.com/hikyaku/hikyaku/internal/measure"
)

// timedSource notes when each of its messages was read and when it was settled, which is when what was made from it is committed.
type timedSource struct {
	component.Source

	ready   func() error // called when lines are about to be read
	begun   atomic.Bool
	events  int  // how many there will be
	windows bool // a histogram of the moment is kept, and not the times of all

	next    int     // the next one's number; Run sends from one goroutine
	read    []int64 // nanoseconds since 1970
	done    []int64
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
	s, i, settle := t.source, t.source.next, d.Settle
	if i >= s.events {
		return fmt.Errorf("more than %d lines came", s.events)
	}
	s.next++
	now := time.Now()
	if !s.windows {
		s.read[i] = now.UnixNano()
	}
	d.Settle = func(o component.Outcome) {
		if o.Verdict == component.Delivered {
			if s.windows {
				s.times.Record(time.Since(now))
			} else {
				s.done[i] = time.Now().UnixNano()
			}
			s.settled.Add(1)
		}
		settle(o)
	}
	return t.out.Send(ctx, d)
}
