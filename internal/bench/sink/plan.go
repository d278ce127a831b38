package sink

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/hikyaku/hikyaku/internal/bench/harness"
	"github.com/hikyaku/hikyaku/internal/measure"
)

// The field report's names for its scenarios.
func scenarioBaseline() string { return "baseline_cols1_p1_r10k" }
func scenarioRate(inFlight string, rate int) string {
	return fmt.Sprintf("rate_scaling_cols10_%s_r%d", short(inFlight), rate)
}
func scenarioParallel(inFlight string) string {
	return fmt.Sprintf("parallel_scaling_cols10_%s_r100000", short(inFlight))
}
func scenarioColumns(n int) string { return fmt.Sprintf("column_scaling_cols%d_p4_r100000", n) }

const scenarioBare = "bare_cols10"

func short(inFlight string) string {
	if _, err := strconv.Atoi(inFlight); err == nil {
		return "p" + inFlight
	}
	return inFlight
}

// sinkScenarios lists the names of a part's scenarios.
func sinkScenarios(part string) (names []string) {
	switch part {
	case partBaseline:
		names = append(names, scenarioBaseline())
	case partRates:
		for _, rate := range sinkRates {
			names = append(names, scenarioRate("4", rate))
		}
		names = append(names, scenarioRate("default", sinkRates[len(sinkRates)-1]))
	case partParallel:
		for _, inFlight := range whole.inFlight {
			names = append(names, scenarioParallel(inFlight))
		}
	case partColumns:
		for _, n := range whole.columns {
			names = append(names, scenarioColumns(n))
		}
	case partBare:
		names = append(names, scenarioBare)
	default:
		names = append(names, part)
	}
	return names
}

var sinkRates = [...]int{100, 1000, 10_000}

// overload is what the report offers where it wants to see how much is taken.
const overload = 100_000

// rated is a run of lines at a rate that a sink should keep up with.
func (s *session) rated(work string, columns, rate int, inFlight string) *sinkRun {
	events := max(1, int(float64(rate)*s.span.Seconds()))
	return &sinkRun{work: work, way: harness.CaseOurs, schema: doubleSchema(columns), offered: rate, events: events,
		inFlight: inFlight}
}

// flooded is one of more lines than a sink is thought to take.
func (s *session) flooded(work string, columns int, inFlight string) *sinkRun {
	return &sinkRun{work: work, way: harness.CaseOurs, schema: doubleSchema(columns), offered: overload,
		events: s.eventsOf(columns), inFlight: inFlight}
}

func (s *session) eventsOf(columns int) int { return max(1, min(s.events, s.cells/columns)) }

// seedWay is the same as r, with an INSERT for each event.
func (s *session) seedWay(r *sinkRun) *sinkRun {
	as := *r
	as.way, as.raw, as.events = caseSeedWay, true, min(r.events, max(1, s.seed*10/max(10, len(r.schema.columns))))
	return &as
}

func (s *session) baseline(ctx context.Context) error {
	r := s.rated(scenarioBaseline(), 1, 10_000, "1")
	found, err := s.inTurns(ctx, 1, r, s.seedWay(r))
	if err != nil {
		return err
	}
	s.sinkRows(found)
	return nil
}

func (s *session) rates(ctx context.Context) error {
	var runs []*sinkRun
	for _, rate := range sinkRates {
		r := s.rated(scenarioRate("4", rate), 10, rate, "4")
		runs = append(runs, r)
		if rate == sinkRates[len(sinkRates)-1] {
			runs = append(runs, s.seedWay(r), s.rated(scenarioRate("default", rate), 10, rate, ""))
		}
	}
	found, err := s.inTurns(ctx, 1, runs...)
	if err != nil {
		return err
	}
	for i, r := range s.sinkRows(found) {
		if runs[i].inFlight == "" {
			// What the last line takes counts too, so that no run has quite the rate that was offered.
			harness.Judge(r, s.Quick, harness.AtLeast("per_s", 0.99*float64(runs[i].offered)),
				harness.AtMost("due_p99_ms", 100))
		}
	}
	return nil
}

func (s *session) parallel(ctx context.Context) error {
	var runs []*sinkRun
	for _, inFlight := range s.inFlight {
		r := s.flooded(scenarioParallel(inFlight), 10, inFlight)
		runs = append(runs, r)
		if inFlight != adaptive {
			runs = append(runs, s.seedWay(r))
		}
	}
	found, err := s.inTurns(ctx, s.rounds, runs...)
	if err != nil {
		return err
	}
	rows := s.sinkRows(found)
	first := found[0]
	var best *sinkFound
	for i, f := range found {
		if f.run.way != harness.CaseOurs {
			continue
		}
		if f.run.inFlight != adaptive && (best == nil || f.rate() > best.rate()) {
			best = f
		}
		switch {
		case i == 0:
		case f.run.inFlight == adaptive:
			rows[i].Set("rate_best", harness.Hundredths(f.ratio(best)))
			harness.Judge(rows[i], s.Quick, harness.AtLeast("rate_best", 0.9))
		default: // a twentieth is noise
			rows[i].Set("rate_four", harness.Hundredths(f.ratio(first)))
			harness.Judge(rows[i], s.Quick, harness.AtLeast("rate_four", 0.95))
		}
	}
	return nil
}

func (s *session) byColumns(ctx context.Context) error {
	var runs []*sinkRun
	for _, n := range s.columns {
		r := s.flooded(scenarioColumns(n), n, "4")
		runs = append(runs, r, s.seedWay(r))
	}
	found, err := s.inTurns(ctx, s.rounds, runs...)
	if err != nil {
		return err
	}
	var ten *sinkFound
	for i, r := range s.sinkRows(found) {
		f := found[i]
		switch n := len(f.run.schema.columns); {
		case f.run.way != harness.CaseOurs:
		case n == 10:
			ten = f
		case n == 100:
			r.Set("cells_ten", harness.Hundredths(10*f.ratio(ten)))
			harness.Judge(r, s.Quick, harness.AtLeast("cells_ten", 1))
		}
	}
	return nil
}

// sinkFound is what came of a run that was done several times.
type sinkFound struct {
	run   *sinkRun
	tooks []*sinkTook
	asked fakeSaid // what the server for tests was asked for, in all of them
}

// rate is the median.
func (f *sinkFound) rate() float64 { return harness.Quantile(f.rates(), 0.5) }

func (f *sinkFound) rates() []float64 {
	var rates []float64
	for _, t := range f.tooks {
		rates = append(rates, t.perSecond())
	}
	return harness.Sorted(rates)
}

// ratio is the median of the ratios to another's rates, of neighbouring runs.
func (f *sinkFound) ratio(to *sinkFound) float64 {
	var ratios []float64
	for i, t := range f.tooks {
		ratios = append(ratios, t.perSecond()/to.tooks[i].perSecond())
	}
	return harness.Quantile(harness.Sorted(ratios), 0.5)
}

// cost is the least that an event took of the processors in one of the runs, in microseconds: what is more is others'
// doing.
func (f *sinkFound) cost() float64 {
	least := math.Inf(1)
	for _, t := range f.tooks {
		least = min(least, float64(t.CPUUS)/float64(t.events))
	}
	return least
}

// InTurns does runs, one after the other, so many times, beginning with another each time.
func (s *session) inTurns(ctx context.Context, rounds int, runs ...*sinkRun) ([]*sinkFound, error) {
	found := make([]*sinkFound, len(runs))
	for i, r := range runs {
		found[i] = &sinkFound{run: r}
	}
	for round := range rounds {
		for turn := range found {
			f := found[(round+turn)%len(found)]
			if err := s.again(ctx, f); err != nil {
				return nil, err
			}
			if f.run.way == harness.CaseOurs {
				s.Step()
			}
		}
	}
	return found, nil
}

// again does a run once more.
func (s *session) again(ctx context.Context, f *sinkFound) error {
	took, err := s.runAsked(ctx, f)
	if err == nil {
		f.tooks = append(f.tooks, took)
	}
	return err
}

// runAsked also counts what the server for tests was asked for.
func (s *session) runAsked(ctx context.Context, f *sinkFound) (*sinkTook, error) {
	if s.target.fake == nil {
		return s.Run(ctx, f.run)
	}
	before, err := s.target.asked()
	if err != nil {
		return nil, err
	}
	took, err := s.Run(ctx, f.run)
	if err != nil {
		return nil, err
	}
	after, err := s.target.asked()
	a, b, c := &f.asked.Stats, after.Stats, before.Stats
	a.Requests += b.Requests - c.Requests
	a.Statements += b.Statements - c.Statements
	a.Rows += b.Rows - c.Rows
	a.Commits += b.Commits - c.Commits
	a.Waits += b.Waits - c.Waits
	a.BytesIn += b.BytesIn - c.BytesIn
	return took, err
}

// sinkRows adds a row for each of what was found, and the ratios to insert-each where that was done too.
func (s *session) sinkRows(found []*sinkFound) []*measure.Row {
	rows := make([]*measure.Row, len(found))
	for i, f := range found {
		rows[i] = s.sinkRow(f)
		at := slices.IndexFunc(found, func(o *sinkFound) bool {
			return o.run.way == caseSeedWay &&
				o.run.work == f.run.work
		})
		if f.run.way == harness.CaseOurs && at >= 0 {
			rows[i].Set("seed_per_s", math.Round(found[at].rate())).Set("rate_seed",
				harness.Hundredths(f.ratio(found[at])))
			if s.Tsurugi != "" && s.To == toTsurugi && len(f.run.schema.columns) == 10 && f.run.offered == overload {
				harness.Judge(rows[i], s.Quick, harness.AtLeast("rate_seed", 8))
			}
		}
	}
	return rows
}
