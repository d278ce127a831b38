package sink

import (
	"context"
	"math"
	"time"

	"github.com/hikyaku/hikyaku/internal/bench/harness"
	"github.com/hikyaku/hikyaku/internal/measure"
)

// asFast is ours with as many lines as it takes.
func (s *session) asFast(work string, schema *sinkSchema, events int) *sinkRun {
	return &sinkRun{work: work, way: harness.CaseOurs, schema: schema, events: events}
}

// transactions are the kinds of transaction of the target that can be chosen; "" where there is nothing to choose.
func (s *session) transactions() []string {
	if s.To == toTsurugi {
		return []string{"occ", "ltx"}
	}
	return []string{""}
}

// matrixes combines batches, transactions and requests at a time; and then, where conflicts can be had, their share and
// what is done about them.
func (s *session) matrixes(ctx context.Context) error {
	one := func(r *sinkRun, more func(row *measure.Row)) error {
		f := &sinkFound{run: r}
		if err := s.again(ctx, f); err != nil {
			return err
		}
		more(s.sinkRow(f))
		s.Step()
		return nil
	}
	for _, transaction := range s.transactions() {
		for _, batch := range s.matrix.batches {
			for _, inFlight := range s.matrix.inFlight {
				r := s.asFast(partMatrix, doubleSchema(10), s.matrix.events)
				r.inFlight, r.batch = inFlight, "max_events: "+batch
				if transaction != "" {
					r.sink = "    transaction_type: " + transaction + "\n"
				}
				if err := one(r, func(row *measure.Row) {
					row.Set("batch_limit", batch).Set("transaction",
						transaction)
				}); err != nil {
					return err
				}
			}
		}
	}
	if s.target.fake == nil {
		s.Report.Note("what retries do was not measured: commits conflict in our TsurugiDB server for tests only, " +
			"when it is told so (--to tsurugi)")
		return nil
	}
	for _, conflicts := range []string{"10", "100", "700"} {
		for _, wait := range s.matrix.retries {
			r := s.asFast(partMatrix, doubleSchema(10), s.matrix.events)
			r.conflict, r.inFlight, r.request = conflicts, "4", "retry_attempts: 10, retry_initial_backoff_secs: "+wait
			if err := one(r, func(row *measure.Row) {
				row.Set("batch_limit", "1000").Set("transaction", "occ").Set("conflicts",
					conflicts+" of 1,000").Set("retry_s", wait)
			}); err != nil {
				return err
			}
		}
	}
	return nil
}

// types compares columns of all types with columns of DOUBLE.
func (s *session) types(ctx context.Context) error {
	columns := []int{10, 100}
	var runs []*sinkRun
	for _, n := range columns {
		events := s.eventsOf(n)
		runs = append(runs, s.asFast(partTypes, doubleSchema(n), events), s.asFast(partTypes, mixedSchema(n), events))
	}
	found, err := s.inTurns(ctx, s.rounds, runs...)
	if err != nil {
		return err
	}
	for i, r := range s.sinkRows(found) {
		if i%2 == 0 {
			r.Set("types", "DOUBLE")
		} else {
			r.Set("types", "all").Set("rate_doubles", harness.Hundredths(found[i].ratio(found[i-1])))
		}
	}
	return nil
}

// splits shares the lines out among couriers.
func (s *session) splits(ctx context.Context) error {
	var runs []*sinkRun
	for _, n := range s.split {
		r := s.asFast(partSplit, doubleSchema(10), s.bare)
		r.couriers = n
		runs = append(runs, r)
	}
	found, err := s.inTurns(ctx, s.rounds, runs...)
	if err != nil {
		return err
	}
	for i, r := range s.sinkRows(found) {
		r.Set("couriers", found[i].run.couriers)
		if i > 0 {
			r.Set("rate_one", harness.Hundredths(found[i].ratio(found[0])))
		}
	}
	return nil
}

// mostWindows is how many moments of a long run are reported while lines are offered. Where fewer were taken than
// offered, the run goes on until all are; of that, later moments are left out for each that is reported, whose delays
// are its own.
const (
	mostWindows = 60
	later       = 10
)

// forLong offers many lines for long, and looks from time to time.
func (s *session) forLong(ctx context.Context) error {
	every := max(s.every, s.long/mostWindows).Round(time.Millisecond)
	run := s.asFast(partLong, doubleSchema(10), int(float64(s.flood)*s.long.Seconds()))
	run.offered, run.every = s.flood, every
	var before, worst sinkWindow
	var rows []*measure.Row
	run.window = func(w sinkWindow) {
		elapsed := float64(w.AtUS-before.AtUS) / 1e6
		if elapsed <= 0 {
			return
		}
		worst.unread, worst.RSS = max(worst.unread, w.unread), max(worst.RSS, w.RSS)
		if len(rows) >= mostWindows && elapsed < later*every.Seconds() {
			return // the flood is over, and what waits is still taken
		}
		row := new(measure.Row).Set("case", harness.CaseOurs).Set("work", partLong).Set("server", s.To).Set("columns",
			10).Set("offered_per_s", s.flood)
		row.Set("at_s", math.Round(float64(w.AtUS)/1e3)/1e3).Set("per_s",
			math.Round(float64(w.Settled-before.Settled)/elapsed))
		row.Set("mean_ms", w.MeanMS).Set("p99_ms", w.P99MS)
		row.Set("cpu_pct", math.Round(float64(w.CPUUS-before.CPUUS)/elapsed/1e4)).Set("rss_mb",
			harness.Megabytes(w.RSS)).Set("unread", w.unread)
		rows = append(rows, row)
		before = w
		s.Step()
	}
	f := &sinkFound{run: run}
	took, err := s.runAsked(ctx, f)
	if err != nil {
		return err
	}
	f.tooks = append(f.tooks, took)
	s.Report.Rows = append(s.Report.Rows, rows...)
	r := s.sinkRow(f).Set("at_s", "all").Set("rss_mb", harness.Megabytes(max(worst.RSS, took.RSS))).Set("unread",
		worst.unread)
	r.Set("cpu_pct", math.Round(100*float64(took.CPUUS)/float64(took.elapsed.Microseconds())))
	return nil
}
