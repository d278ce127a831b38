// Package sink measures lines that go into the tables of a database. Run says what is measured; it is hikyaku bench
// sink.
package sink

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/hikyaku/hikyaku/internal/bench/harness"
)

// The parts of the sink bench. Those from matrix on belong to the full plan.
const (
	partBaseline = "baseline"
	partRates    = "rates"
	partParallel = "parallel"
	partColumns  = "columns"
	partBare     = "bare"
	partMatrix   = "matrix"
	partTypes    = "types"
	partLong     = "long"
	partSplit    = "split"
	partLayers   = "layers"
)

// PlanFull is the value of Options.Plan with which the sink bench answers what its field report left open, too.
const PlanFull = "full"

// Run measures the sinks into databases as a field report measured one into TsurugiDB: lines of CSV are written to a
// courier's standard input at a rate, and become rows.
//
//   - baseline: one column, one request at a time, 10,000 lines a second.
//   - rates: ten columns, four requests at a time, 100 to 10,000 lines a second; and 10,000 without any setting.
//   - parallel: ten columns, 100,000 lines a second, 4 to 32 requests at a time, and as many as are found to be good.
//   - columns: four requests at a time, 100,000 lines a second, 1 to 1,000 columns.
//   - bare: ten columns, as fast as they are taken, beside what the database's own means take in.
//
// With the full plan, what the report left open:
//
//   - matrix: batches, kinds of transaction and requests at a time; what retries do where commits conflict.
//   - types: columns of all types.
//   - long: 100,000 lines a second for as long as asked, and how the courier does over time.
//   - split: the lines shared out among two and four couriers.
//   - layers: where the time goes.
//
// The rows have the report's names for its scenarios. Beside ours stands insert-each: the same courier with the
// report's sink, an INSERT in text for each event, each when the one before is answered, in the batch's transaction. It
// takes turns with ours, against the same server. Times are from the reading of a line to its commit; due is from when
// the line was due, so that a courier that keeps the lines waiting gains nothing by that. After each run every row is
// looked for: one that is missing or there twice ends the bench.
func Run(ctx context.Context, o harness.Options) error {
	s := &session{Session: harness.New("sink", o, view()), extent: whole}
	if o.Quick {
		s.extent = quick
	}
	if o.Minutes > 0 {
		s.long = time.Duration(o.Minutes * float64(time.Minute))
	}
	if s.To == "" {
		s.To = toSQLite
	}
	if s.Plan != "" && s.Plan != PlanFull && s.Plan != "seed" {
		return fmt.Errorf("bench sink: there is no plan %q: choose from seed, full", s.Plan)
	}
	if !slices.Contains(sinkTargets(), s.To) {
		return fmt.Errorf("bench sink: there is no sink %q: choose from %s", s.To, strings.Join(sinkTargets(), ", "))
	}
	s.Wants = func(work string) bool {
		if len(o.Only) > 0 {
			return slices.Contains(o.Only, work)
		}
		return o.Plan == PlanFull || !slices.Contains(Works()[5:], work)
	}
	return s.Measure(ctx, s.experiments(), s.openTarget, s.Close)
}

// extent says how much is measured.
type extent struct {
	span     time.Duration // of runs that their rate bounds
	events   int           // of the others
	cells    int           // at most, of a run: with many columns there are fewer events
	seed     int           // events of insert-each, which takes long
	rounds   int
	inFlight []string
	columns  []int
	bare     int // events beside the bare means
	bares    int // rounds of them
	matrix   sinkMatrix
	long     time.Duration
	every    time.Duration // between two looks of a long run
	flood    int           // events a second of it
	split    []int
}

// sinkMatrix is what is combined.
type sinkMatrix struct {
	batches, inFlight []string
	retries           []string
	events            int
}

var (
	whole = extent{
		span: 10 * time.Second, events: 100_000, cells: 2_000_000, seed: 10_000, rounds: 3,
		inFlight: []string{"4", "8", "16", "32", adaptive}, columns: []int{1, 10, 100, 1000}, bare: 1_000_000, bares: 5,
		matrix: sinkMatrix{[]string{"100", "1000", "5000"}, []string{"1", "4", "16", adaptive}, []string{"0.01", "0.5"},
			100_000},
		long: time.Minute, every: time.Second, flood: 100_000, split: []int{1, 2, 4},
	}
	quick = extent{
		span: 20 * time.Millisecond, events: 300, cells: 20_000, seed: 50, rounds: 1,
		inFlight: []string{"4", adaptive}, columns: []int{10, 100}, bare: 500, bares: 1,
		matrix: sinkMatrix{[]string{"100"}, []string{"4"}, []string{"0.01"}, 300},
		long:   300 * time.Millisecond, every: 50 * time.Millisecond, flood: 1000, split: []int{1, 2},
	}
)

// adaptive is the setting with which the courier finds out how many requests at a time are good.
const adaptive = "adaptive"

// session is one run.
type session struct {
	harness.Session
	extent
	target   *sinkTarget
	couriers int // started so far
}

// Close closes the database, if it was opened.
func (s *session) Close(ctx context.Context) error {
	if s.target == nil {
		return nil
	}
	return s.target.Close(ctx)
}

// experiments lists what can be measured, in the order of the report. How long they take is guessed: it is the
// database's.
func (s *session) experiments() (es []harness.Experiment) {
	const each = 3 * time.Second // of a run as fast as it goes, with its start
	add := func(work string, steps int, takes time.Duration, run func(ctx context.Context) error) {
		es = append(es, harness.Experiment{Work: work, Steps: steps, Takes: takes, Disk: 0, Run: run})
	}
	add(partBaseline, 2, 2*s.span, s.baseline)
	add(partRates, 5, 5*s.span, s.rates)
	add(partParallel, s.rounds*len(s.inFlight), time.Duration(2*s.rounds*len(s.inFlight))*each, s.parallel)
	add(partColumns, s.rounds*len(s.columns), time.Duration(2*s.rounds*len(s.columns))*each, s.byColumns)
	add(partBare, s.bares, time.Duration(2*s.bares)*each, s.bareMeans)
	cells := len(s.matrix.batches) * len(s.matrix.inFlight) * len(s.transactions())
	add(partMatrix, cells, time.Duration(cells)*each, s.matrixes)
	add(partTypes, s.rounds, time.Duration(3*s.rounds)*each, s.types)
	add(partLong, min(int(s.long/s.every), mostWindows), s.long, s.forLong)
	add(partSplit, s.rounds*len(s.split), time.Duration(s.rounds*len(s.split))*each, s.splits)
	add(partLayers, 3, 3*each, s.layers)
	return es
}

// Works lists the names of the parts.
func Works() []string {
	return []string{partBaseline, partRates, partParallel, partColumns, partBare, partMatrix, partTypes, partLong,
		partSplit, partLayers}
}
