package pace

import (
	"context"
	"errors"
	"fmt"
	"math"
	"sync"
	"time"

	"github.com/hikyaku/hikyaku/internal/bench/harness"
	"github.com/hikyaku/hikyaku/internal/measure"
	tempo "github.com/hikyaku/hikyaku/pace"
)

// paced is what a way found out in all of its slices.
type paced struct {
	lates   *measure.Histogram
	own     *measure.Histogram // lateness without what the system overslept
	woken   stalls
	fetched int64 // how often the thread was fetched to another processor
	missed  int64
	drift   float64 // of frames: that of the slice that had most
	cpu     time.Duration
	elapsed time.Duration
}

func newPaced() *paced { return &paced{lates: measure.NewHistogram(), own: measure.NewHistogram()} }

// add adds a slice.
func (p *paced) add(r tempo.Report) {
	for _, record := range r.Records {
		p.lates.Record(record.Late)
		p.own.Record(record.Late - record.Overslept)
	}
	p.woken.add(r.Records)
	if d := r.Drift(tempo.NTSC()); math.Abs(d) > math.Abs(p.drift) {
		p.drift = d
	}
	p.missed += r.Missed + r.Skipped
	p.fetched += r.Fetched
	p.cpu += r.CPU
	p.elapsed += r.Elapsed
}

// lateShares are those of the frames whose lateness is drawn.
var lateShares = [...]float64{0.01, 0.1, 0.25, 0.5, 0.75, 0.9, 0.95, 0.99, 0.995, 0.999, 1}

// row writes what a way found out.
func (s *session) paceRow(name, work string, p *paced) *measure.Row {
	r := s.Report.Row(name, work).Times(p.lates).Set("p999_ms", measure.Milliseconds(p.lates.Quantile(0.999))).
		Set("missed", p.missed).Set("drift_frames", thousandths(p.drift))
	if p.cpu > 0 {
		r.Set("cpu_pct", harness.Hundredths(100*p.cpu.Seconds()/p.elapsed.Seconds()))
	}
	quantiles := make([]float64, len(lateShares))
	for i, share := range lateShares {
		quantiles[i] = harness.Microseconds(p.lates.Quantile(share))
	}
	return r.Set("quantiles_us", quantiles)
}

// thousandths drops the digits that are noise.
func thousandths(f float64) float64 { return math.Round(f*1e4) / 1e4 }

// InTurns measures all ways under a circumstance.
func (s *session) inTurns(ctx context.Context, c circumstance) (err error) {
	beside, err := c.begin(ctx, s.Temp)
	if err != nil {
		return err
	}
	if beside == nil {
		return nil // it cannot be had, as a note says
	}
	found := make([]*paced, len(c.ways))
	for i := range found {
		found[i] = newPaced()
	}
	frames := tempo.NTSC().Frame(s.slice)
	footing := ""
	measureThem := func() error {
		for range s.slices {
			for i, w := range c.ways {
				r, err := w.run(ctx, s.ours, frames)
				if err != nil {
					return err
				}
				found[i].add(r)
				if w.name == harness.CaseOurs {
					footing = r.Footing.String()
				}
				s.Step()
			}
		}
		return nil
	}
	err = measureThem()
	perSecond, e := beside.Close()
	if err = errors.Join(err, e); err != nil {
		return err
	}
	for i, w := range c.ways {
		if c.work == workEngine && w.name != harness.CaseOurs {
			found[i].cpu = 0 // the engine's is in it
		}
		r := s.paceRow(w.name, c.work, found[i])
		if perSecond > 0 {
			r.Set("per_s", math.Round(perSecond))
		}
		if w.name == harness.CaseOurs {
			r.Set("own_p99_ms", measure.Milliseconds(found[i].own.Quantile(0.99)))
			harness.Judge(r, s.Quick, c.goals...)
			s.Report.Note("ours in " + c.work + " stood on " + footing)
			if n := found[i].fetched; n > 0 {
				s.Report.Note(fmt.Sprintf("ours in %s: the thread was not awake in time, and was fetched to another "+
					"processor, %d times in %d frames", c.work, n, found[i].woken.frames))
			}
			if told := found[i].woken.String(); told != "" {
				s.Report.Note("ours in " + c.work + ": " + told)
			}
		}
	}
	return nil
}

// driftSteps are how often a long run shows how far it is.
const driftSteps = 100

// drifting runs ours and the report's way side by side, for long.
func (s *session) drifting(ctx context.Context) error {
	frames := tempo.NTSC().Frame(s.drift)
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var both sync.WaitGroup
	names := [...]string{harness.CaseOurs, caseSleep}
	var reports [2]tempo.Report
	var errs [2]error
	for i, way := range [...]func(context.Context, *tempo.Host, int64) (tempo.Report, error){ourWay, seedWay} {
		both.Go(func() {
			reports[i], errs[i] = way(ctx, s.ours, frames)
			if errs[i] != nil {
				cancel()
			}
		})
	}
	steps := time.NewTicker(max(s.drift/driftSteps, time.Millisecond))
	defer steps.Stop()
	ended := make(chan struct{})
	go func() {
		both.Wait()
		close(ended)
	}()
	for over := false; !over; {
		select {
		case <-steps.C:
			s.Step()
		case <-ended:
			over = true
		}
	}
	if err := errors.Join(errs[:]...); err != nil {
		return err
	}
	for i, name := range names {
		p := newPaced()
		p.add(reports[i])
		p.drift = math.Abs(p.drift)
		r := s.paceRow(name, workDrift, p).Set("minutes", harness.Hundredths(s.drift.Minutes()))
		if name == harness.CaseOurs {
			harness.Judge(r, s.Quick, harness.AtMost("drift_frames", 0.1))
		}
	}
	return nil
}
