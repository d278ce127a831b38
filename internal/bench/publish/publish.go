// Package publish measures Pub/Sub messages that are published, by the publisher and the door behind it, beside
// Google's publisher and the raw call. Run says what is measured; it is hikyaku bench publish.
package publish

import (
	"context"
	"errors"
	"path/filepath"
	"time"

	"github.com/hikyaku/hikyaku/internal/bench/harness"
)

// The works of the publish bench.
const (
	workLone    = "lone"
	workBurst   = "burst"
	workPoisson = "poisson"
	workFlatOut = "flat-out"
	workStream  = "stream"
)

// The cases of the publish bench, besides ours.
const (
	caseDefault = "sdk-default"
	caseCount   = "sdk-count"
	caseRaw     = "raw"
)

// Run measures the publisher, and the door behind it, as a field report measured Google's:
//
//   - lone: a message published and its result waited for, by a publisher made for it, as in the field report, and by
//     one that is kept. Beside the durable one: the unary call to a server that only answers, followed by one fdatasync
//     (limit).
//   - burst: so many messages published in a row; the time is that of the last result.
//   - poisson: a stream of messages that come by chance, each timed from Publish to its result.
//   - flat-out: 200,000 messages of 1,000 bytes by one caller as fast as it can.
//   - stream: as many received by Google's client and acknowledged.
//
// The variants are Google's publisher with its default settings (sdk-default), the same with CountThreshold set to what
// is at hand or, in a stream, with several settings (sdk-count), ours (hikyaku), and the unary call that all of them
// come down to (raw). They take turns in slices, A B C D A B C D, the first of them another from round to round, and
// ratios are medians of those of neighbouring slices. Each has a connection of its own.
//
// The servers are processes of their own: one that only answers (instant), Google's for tests, in memory (pstest), and
// our door over a store with every default, durable (hikyaku). Topics of the durable one have a subscription, for what
// nobody subscribes to is not kept, and its syncs are counted: a run whose rows would say durable and had too few
// fails. Each lone message and each burst wants one; where more than one call is on its way at a time, which may share
// a sync, as many are wanted as there were calls that did not overlap. A round-trip time of more than 0 is that of a
// link in this process between them.
func Run(ctx context.Context, o harness.Options) error {
	s := &session{Session: harness.New("publish", o, view()),
		extent: whole, servers: map[string]*harness.Child{}}
	if o.Quick {
		s.extent = quick
	}
	return s.Measure(ctx, s.experiments(), s.OpenRaw, s.Close)
}

// extent says how much is measured.
type extent struct {
	trips  []time.Duration // round trips
	lone   pace            // by round trip
	burst  pace
	bursts []int
	rates  []int         // messages a second
	rounds int           // slices of a stream
	slice  time.Duration // the length of one
	flat   int           // messages
	flats  int           // rounds
	stream int           // messages received from our door
	ticks  int           // and from Google's test server, which hands over one or two of those that wait every 10 ms
}

// pace is how many rounds there are, and calls in each; over a link fewer.
type pace struct{ rounds, calls, far int }

var (
	whole = extent{
		trips: []time.Duration{0, 5 * time.Millisecond, 25 * time.Millisecond}, lone: pace{20, 20, 2},
		burst: pace{20, 5, 1}, bursts: []int{2, 10, 100, 1000},
		rates: []int{100, 1000, 10_000, 50_000}, rounds: 3, slice: 250 * time.Millisecond, flat: 200_000, flats: 3,
		stream: 200_000, ticks: 100,
	}
	quick = extent{
		trips: []time.Duration{0, 5 * time.Millisecond}, lone: pace{2, 2, 1}, burst: pace{2, 1, 1},
		bursts: []int{2, 100},
		rates:  []int{1000}, rounds: 2, slice: 30 * time.Millisecond, flat: 2000, flats: 2, stream: 2000, ticks: 5,
	}
)

// session is one run.
type session struct {
	harness.Session
	extent
	servers map[string]*harness.Child // by kind; started when they are needed
	topics  int                       // made so far
}

// server returns the server of a kind.
func (s *session) server(ctx context.Context, kind string) (*harness.Child, error) {
	if c := s.servers[kind]; c != nil {
		return c, nil
	}
	c, err := harness.StartChild(ctx, s.PubSub, "--kind", kind, "--dir", filepath.Join(s.Temp, kind))
	if err != nil {
		return nil, err
	}
	s.servers[kind] = c
	return c, nil
}

func (s *session) Close(ctx context.Context) error {
	var errs []error
	for _, c := range s.servers {
		errs = append(errs, c.Close())
	}
	return errors.Join(append(errs, s.CloseRaw(ctx))...)
}

// experiments lists what can be measured, in the order of the report.
func (s *session) experiments() (es []harness.Experiment) {
	add := func(work string, rounds int, takes time.Duration, disk int, run func(ctx context.Context) error) {
		es = append(es, harness.Experiment{Work: work, Steps: rounds, Takes: takes,
			Disk: int64(disk)*harness.BytesLogged + harness.Slack, Run: run})
	}
	const window = 11 * time.Millisecond // what the default settings wait
	for _, trip := range s.trips {
		for _, kept := range []bool{false, true} {
			calls := s.lone.per(trip)
			takes := time.Duration(s.lone.rounds*calls) * (window + 4*(trip+time.Millisecond/5))
			add(workLone, s.lone.rounds, takes, 0,
				func(ctx context.Context) error { return s.alone(ctx, serverInstant, trip, kept) })
		}
	}
	add(workLone, s.lone.rounds, time.Duration(s.lone.rounds*s.lone.calls)*2*window, 0,
		func(ctx context.Context) error { return s.alone(ctx, serverDurable, 0, true) })
	for _, trip := range s.trips {
		for _, n := range s.bursts {
			takes := time.Duration(s.burst.rounds*s.burst.per(trip)) * (window +
				4*(trip+time.Duration(n)*2*time.Microsecond))
			add(workBurst, s.burst.rounds, takes, 0,
				func(ctx context.Context) error { return s.bursting(ctx, serverInstant, trip, n) })
		}
	}
	for _, n := range s.bursts {
		bursts := s.burst.rounds * s.burst.calls
		add(workBurst, s.burst.rounds, time.Duration(bursts)*2*window, 4*bursts*n,
			func(ctx context.Context) error { return s.bursting(ctx, serverDurable, 0, n) })
	}
	slices := s.rounds * (1 + len(sdkSettings))
	for _, trip := range s.trips {
		for _, rate := range s.rates {
			add(workPoisson, s.rounds, time.Duration(slices)*(s.slice+trip), 0,
				func(ctx context.Context) error { return s.streaming(ctx, serverInstant, trip, rate) })
		}
	}
	for _, rate := range s.rates {
		add(workPoisson, s.rounds, time.Duration(slices)*s.slice, slices*int(float64(rate)*s.slice.Seconds()),
			func(ctx context.Context) error { return s.streaming(ctx, serverDurable, 0, rate) })
	}
	flat := time.Duration(4*s.flats) * harness.Filling(s.flat)
	for _, kind := range []string{serverInstant, serverGoogle, serverDurable} {
		add(workFlatOut, s.flats, flat, 2*s.flat, func(ctx context.Context) error { return s.flatOut(ctx, kind) })
	}
	add(workStream, s.flats, 4*flat, 2*s.stream, s.received)
	return es
}

// per is how many calls a slice has.
func (p pace) per(trip time.Duration) int {
	if trip > 0 {
		return p.far
	}
	return p.calls
}

// Works lists the names of the works.
func Works() []string {
	return []string{workLone, workBurst, workPoisson, workFlatOut, workStream}
}
