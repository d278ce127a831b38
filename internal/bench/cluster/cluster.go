// Package cluster measures a cluster of three nodes that share this machine, beside what it stands on. Run says what is
// measured; it is hikyaku bench cluster. It is no test: no speed is right or wrong here.
package cluster

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/hikyaku/hikyaku/internal/bench/harness"
)

// The works of the cluster bench.
const (
	workPut = "put"
)

// Run measures a cluster of three nodes, all of them on this machine's processors and its disk, which each of them
// syncs:
//
//   - put: durable puts of one message by each of some writers, into a store over a log on three nodes, in this
//     process. Its peers are raw appends to such a log, of as many records of as many bytes at once (appends), of one
//     after the other (lone); the same store over files on this machine alone (alone); and one write and fdatasync of a
//     record (sync). For one writer the ratios are of the p50, and less is better. For more they are of rates: of
//     messages and of groups, which are the same, as each put is a group of its own.
//
// Where a number is asked for, the row says which, in asked, and whether it was met. The error is that of a message
// that was acknowledged and is missing, too.
func Run(ctx context.Context, o harness.Options) error {
	s := &session{Session: harness.New("cluster", o, view()), extent: whole}
	if o.Quick {
		s.extent = quick
	}
	return s.Measure(ctx, s.experiments(), nil, s.close)
}

// extent says how much is measured.
type extent struct {
	harness.Pacing
	warmUp  time.Duration // before each comparison, uncounted
	writers []int         // who put at once
}

// The whole takes some ten minutes, the quick one some seconds.
var (
	whole = extent{
		Pacing: harness.Pacing{Pairs: 15, Slice: 500 * time.Millisecond}, warmUp: 300 * time.Millisecond,
		writers: []int{1, 16, 64},
	}
	quick = extent{
		Pacing: harness.Pacing{Pairs: 2, Slice: 30 * time.Millisecond}, warmUp: 20 * time.Millisecond,
		writers: []int{1, 64},
	}
)

// session is one run.
type session struct {
	harness.Session
	extent
	sides   *putSides // nil before the first of the puts
	cleanup []func() error
}

// later has something closed when the session ends, the last first.
func (s *session) later(closing func() error) { s.cleanup = append(s.cleanup, closing) }

func (s *session) close(context.Context) error {
	var errs []error
	for _, closing := range slices.Backward(s.cleanup) {
		errs = append(errs, closing())
	}
	return errors.Join(errs...)
}

// opening is how long it takes, about, until a log has an owner.
const opening = 3 * time.Second

// experiments lists what can be measured, in the order of the report.
func (s *session) experiments() (es []harness.Experiment) {
	add := func(work string, steps int, takes time.Duration, disk int64, run func(ctx context.Context) error) {
		es = append(es, harness.Experiment{Work: work, Steps: steps, Takes: takes, Disk: disk, Run: run})
	}
	for i, writers := range s.writers {
		takes := time.Duration(5*s.Pairs) * s.Slice
		if i == 0 {
			takes += opening
		}
		add(workPut, s.Pairs, takes, 4*harness.Slack,
			func(ctx context.Context) error { return s.put(ctx, writers) })
	}
	return es
}

// Works lists the names of the works.
func Works() []string { return harness.WorksOf((&session{extent: quick}).experiments()) }
