package bench

import (
	"math"

	"github.com/hikyaku/hikyaku/internal/measure"
)

// about says what a pair of rows is about. Zero fields that do not apply are left out of the rows.
type about struct {
	work      string
	writers   int // callers at once
	depth     int // messages waiting when a call begins
	condition string
	start     string

	claims   *measure.Histogram // of claim works: the claims alone
	rss      int64              // bytes; 0: as it is now
	heapEach float64            // bytes of heap a waiting message
	read     int64              // bytes that the limit of a start read
}

// rows adds the two rows of a contest: ours, with the ratio, and the limit's. Times are of calls, rates of messages. log is nil where
// nothing was written.
func (s *session) rows(c contest, a about, log *logged) {
	rss := a.rss
	if rss == 0 {
		rss = residentBytes()
	}
	for _, variant := range []string{caseOurs, caseLimit} {
		t := &c.ours
		if variant == caseLimit {
			t = &c.limit
		}
		r := s.report.Row(variant, a.work)
		if a.writers > 0 {
			r.Set("writers", a.writers)
		}
		r.Set("depth", a.depth).Set("bytes", bodyBytes)
		if a.condition != "" {
			r.Set("condition", a.condition)
		}
		if a.start != "" {
			r.Set("start", a.start)
		}
		r.Times(t.calls).Rate(t.n, t.elapsed)
		switch {
		case variant == caseLimit && log != nil:
			r.Set("per_sync", s.raw.carries)
		case variant == caseLimit:
			r.Set("read_mb", megabytes(a.read))
		default:
			s.ourFigures(r, c, a, log)
			r.Set("rss_mb", megabytes(rss))
		}
	}
}

func (s *session) ourFigures(r *measure.Row, c contest, a about, log *logged) {
	r.Set("ratio", hundredths(quantile(c.ratios, 0.5))).
		Set("ratio_q1", hundredths(quantile(c.ratios, 0.25))).Set("ratio_q3", hundredths(quantile(c.ratios, 0.75)))
	if a.claims != nil {
		sum := a.claims.Summary()
		r.Set("claim_p50_ms", measure.Milliseconds(sum.P50)).Set("claim_p99_ms", measure.Milliseconds(sum.P99))
	}
	if log != nil {
		r.Set("per_sync", hundredths(log.perSync())).Set("log_bytes", math.Round(log.bytesEach()))
	}
	if a.heapEach > 0 {
		r.Set("message_bytes", math.Round(a.heapEach))
	}
}

// hundredths drops the digits that are noise.
func hundredths(f float64) float64 {
	if math.Abs(f) < 0.1 {
		return math.Round(f*10000) / 10000
	}
	return math.Round(f*100) / 100
}

// shown are the columns of the table for people, in their order, and what they are called there.
var shown = [...]struct{ name, heading string }{
	{"work", "work"}, {"case", "case"}, {"writers", "at once"}, {"depth", "depth"}, {"condition", "condition"}, {"start", "after"},
	{"n", "calls"}, {"p50_ms", "p50 ms"}, {"p99_ms", "p99 ms"}, {"max_ms", "max ms"}, {"per_s", "messages/s"},
	{"ratio", "ratio"}, {"ratio_q1", "q1"}, {"ratio_q3", "q3"}, {"claim_p50_ms", "claim p50 ms"}, {"per_sync", "per sync"}, {"rss_mb", "RSS MiB"},
}

// table is the report for people: fewer columns, with headings.
func table(b *measure.BenchReport) *measure.Table {
	short := &measure.BenchReport{Bench: b.Bench, Machine: b.Machine}
	headings := map[string]string{}
	for _, s := range shown {
		headings[s.name] = s.heading
	}
	for _, r := range b.Rows {
		line := new(measure.Row)
		for _, s := range shown {
			if v := r.Get(s.name); v != nil {
				line.Set(s.name, v)
			} else {
				line.Set(s.name, "")
			}
		}
		short.Rows = append(short.Rows, line)
	}
	return short.Table(func(name string) string { return headings[name] })
}
