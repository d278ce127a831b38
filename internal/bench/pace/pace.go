// Package pace measures how late frames are, by four ways, and messages that have their time. Run says what is
// measured; it is hikyaku bench pace.
package pace

import (
	"context"
	"time"

	tempo "github.com/hikyaku/hikyaku/pace"

	"github.com/hikyaku/hikyaku/internal/bench/harness"
)

// The works of the pace bench.
const (
	workIdle      = "idle"
	workBusy      = "busy"
	workEngine    = "engine"
	workSpared    = "spared"
	workDrift     = "drift"
	workPacedSink = "sink"
	workNotBefore = "not-before"
)

// The cases of the pace bench, besides ours.
const (
	caseSleep     = "sleep"
	caseNanosleep = "nanosleep"
	caseSpin      = "spin"
	caseLimited   = "rate-limit"
)

// Run measures how late frames are at 60000/1001 a second, which a field report wanted to hand to a console:
//
//   - idle: nothing else is done on the machine, as far as that is up to the bench.
//   - busy: beside two processes that do nothing but calculate.
//   - engine: beside this program's own store and pipeline, putting and delivering as fast as they can. What does not
//     have a process of its own shares theirs.
//   - spared: the same, but the engine leaves one processor free (GOMAXPROCS); ours only.
//   - drift: ours and the report's for Options.Minutes.
//   - sink: a sink with a pace, and one with a rate limit, which gives way to what is late.
//   - not-before: messages that sleep until a time, from that time to the reader that waits.
//
// The cases are the report's way (sleep: time.Sleep until the next deadline), a thread that sleeps by clock_nanosleep
// (nanosleep), the same until 150 µs before the deadline, looking at the clock from then on (spin), and package pace in
// a process of its own (hikyaku). They take turns in slices, A B C D A B C D. A time is from a frame's deadline to its
// beginning.
func Run(ctx context.Context, o harness.Options) error {
	s := &session{Session: harness.New("pace", o, view()), extent: whole}
	if o.Quick {
		s.extent = quick
	}
	if o.Trials > 0 {
		s.slices = o.Trials
	}
	if o.Minutes > 0 {
		s.drift = time.Duration(o.Minutes * float64(time.Minute))
	}
	if s.ours = s.Pacer; s.ours == nil {
		s.ours = tempo.Plain(Players())
		s.Report.Note("ours had no process of its own, because no command was given that plays there")
	}
	return s.Measure(ctx, s.experiments(), nil, nil)
}

// extent says how much is measured.
type extent struct {
	slices int // of each way in each condition
	slice  time.Duration
	drift  time.Duration
	others time.Duration // of the works that have one case, or two
}

var (
	whole = extent{slices: 6, slice: 10 * time.Second, drift: time.Minute, others: 10 * time.Second}
	quick = extent{slices: 1, slice: 200 * time.Millisecond, drift: 200 * time.Millisecond,
		others: 200 * time.Millisecond}
)

// session is one run.
type session struct {
	harness.Session
	extent
	ours *tempo.Host
}

// experiments lists what can be measured, in the order of the report.
func (s *session) experiments() (es []harness.Experiment) {
	all := paceWays()
	ours := all[len(all)-1:]
	for _, c := range []circumstance{
		{workIdle, func(context.Context, string) (load, error) { return noLoad{}, nil }, all,
			[]harness.Goal{harness.AtMost("p99_ms", 0.05), harness.AtMost("p50_ms", 0.005),
				harness.AtMost("cpu_pct", 5)}},
		{workBusy, s.calculate, all, []harness.Goal{harness.AtMost("p99_ms", 0.15), harness.AtMost("cpu_pct", 5)}},
		{workEngine, s.deliver, all, []harness.Goal{harness.AtMost("p99_ms", 1), harness.AtMost("cpu_pct", 5)}},
		{workSpared, s.deliverSparing, ours, []harness.Goal{harness.AtMost("p99_ms", 1), harness.AtMost("cpu_pct", 5)}},
	} {
		takes := time.Duration(s.slices*len(c.ways)) * s.slice
		es = append(es, harness.Experiment{Work: c.work, Steps: s.slices * len(c.ways), Takes: takes,
			Disk: harness.Slack,
			Run:  func(ctx context.Context) error { return s.inTurns(ctx, c) }})
	}
	return append(es,
		harness.Experiment{Work: workDrift, Steps: driftSteps, Takes: s.drift, Disk: 0, Run: s.drifting},
		harness.Experiment{Work: workPacedSink, Steps: 2, Takes: 2 * s.others, Disk: harness.Slack, Run: s.pacedSink},
		harness.Experiment{Work: workNotBefore, Steps: 1, Takes: s.others, Disk: harness.Slack, Run: s.notBefore})
}

// Works lists the names of the works.
func Works() []string {
	return []string{workIdle, workBusy, workEngine, workSpared, workDrift, workPacedSink, workNotBefore}
}

// circumstance is what else goes on, and what is asked of ours then.
type circumstance struct {
	work  string
	begin func(ctx context.Context, dir string) (load, error)
	ways  []paceWay
	goals []harness.Goal
}

// load is what goes on beside.
type load interface {
	// close ends it and returns how many messages a second it delivered; 0: it delivers none.
	Close() (perSecond float64, err error)
}

type noLoad struct{}

func (noLoad) Close() (float64, error) { return 0, nil }
