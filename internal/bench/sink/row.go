package sink

import (
	"fmt"
	"math"

	"github.com/hikyaku/hikyaku/internal/bench/harness"
	"github.com/hikyaku/hikyaku/internal/measure"
)

// sinkRow tells what came of a run.
func (s *session) sinkRow(f *sinkFound) *measure.Row {
	r := s.Report.Row(f.run.way, f.run.work).Set("server", s.To).Set("columns", len(f.run.schema.columns))
	if f.run.offered > 0 {
		r.Set("offered_per_s", f.run.offered)
	}
	in := f.run.inFlight
	if in == "" {
		in = "default"
	}
	r.Set("in_flight", in)
	commit, due := measure.NewHistogram(), measure.NewHistogram()
	var sum sinkSaid
	events := 0
	for _, t := range f.tooks {
		commit.Merge(t.commit)
		if t.due != nil {
			due.Merge(t.due)
		}
		events += t.events
		sum.CPUUS += t.CPUUS
		sum.Requests += t.Requests
		sum.Retries += t.Retries
		sum.Largest = max(sum.Largest, t.Largest)
		sum.RSS = max(sum.RSS, t.RSS)
		if t.Failure != "" {
			s.Report.Note(fmt.Sprintf("%s, %s: something was tried again: %s", f.run.work, f.run.way, t.Failure))
		}
	}
	r.Set("events", f.run.events)
	if commit.Count() > 0 {
		r.Times(commit).Set("p95_ms", measure.Milliseconds(commit.Quantile(0.95)))
	}
	if due.Count() > 0 {
		r.Set("due_p99_ms", measure.Milliseconds(due.Quantile(0.99)))
	}
	r.Set("per_s", math.Round(f.rate())).Set("cells_per_s", math.Round(f.rate()*float64(len(f.run.schema.columns))))
	r.Set("cpu_us", harness.Hundredths(float64(sum.CPUUS)/float64(events))).Set("rss_mb", harness.Megabytes(sum.RSS))
	r.Set("requests", sum.Requests).Set("batch",
		harness.Hundredths(float64(events)/float64(max(1, sum.Requests)))).Set("batch_max", sum.Largest).Set("retries",
		sum.Retries)
	if f.run.way != wayNothing {
		r.Set("rows_in_table", f.run.events) // else the run had failed
	}
	if s.target.fake != nil && f.run.way != wayNothing {
		a := f.asked.Stats
		r.Set("per_statement", harness.Hundredths(float64(a.Rows)/float64(max(1, a.Statements)))).
			Set("bytes_row", harness.Hundredths(float64(a.BytesIn)/float64(events))).
			Set("waits_row", harness.Hundredths(float64(a.Waits)/float64(events)))
	}
	return r
}
