package function

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/hikyaku/hikyaku/internal/bench/harness"
	"github.com/hikyaku/hikyaku/internal/function"
	placement "github.com/hikyaku/hikyaku/internal/function/place"
	"github.com/hikyaku/hikyaku/internal/measure"
)

// caseProvisioned is warm with instances that are started before anybody asks.
const caseProvisioned = "provisioned"

// napping is how long a call of a burst or a stream rests in its function, in ms.
const napping = "40"

// arrivals is what became of calls that came by a plan.
type arrivals struct {
	times *measure.Histogram
	mu    sync.Mutex
	cold  int
	err   error
	calls sync.WaitGroup
}

func newArrivals() *arrivals { return &arrivals{times: measure.NewHistogram()} }

// arrive lets a call come, on its own.
func (a *arrivals) arrive(ctx context.Context, p *functionPool, name string) {
	began := time.Now()
	a.calls.Go(func() {
		r, err := p.invokeWell(ctx, name, napping)
		took := time.Since(began)
		a.mu.Lock()
		defer a.mu.Unlock()
		switch {
		case err != nil:
			a.err = errors.Join(a.err, err)
		case r.Cold:
			a.cold++
			fallthrough
		default:
			a.times.Record(took)
		}
	})
}

// all waits for the calls.
func (a *arrivals) all() error {
	a.calls.Wait()
	return a.err
}

// napper is the function of bursts and streams under a policy.
func (s *session) napper(name, policy string) function.Definition {
	d := s.first().definition("nap")
	d.Name, d.MemoryMB, d.Policy, d.Idle = name, 128, placement.Kind(policy), s.idle
	d.Environment["INIT_MS"] = strconv.FormatInt(s.startup.Milliseconds(), 10)
	if policy == caseProvisioned {
		d.Policy, d.Provisioned = placement.Warm, s.burst
	}
	return d
}

// bursts lets many calls come at the same moment, under each policy.
func (s *session) bursts(ctx context.Context) error {
	for _, policy := range []string{string(placement.Spread), string(placement.Warm), string(placement.Ahead),
		caseProvisioned} {
		err := s.with(func(p *functionPool) error {
			if policy == caseProvisioned {
				if err := p.until(ctx, func(c placement.Counts) bool { return c.Idle >= s.burst }); err != nil {
					return err
				}
			}
			for n := 1; n <= 2; n++ {
				if err := s.burstRow(ctx, p, policy, n); err != nil {
					return err
				}
			}
			return nil
		}, s.napper("nap", policy))
		if err != nil {
			return err
		}
		s.Step()
	}
	return nil
}

func (s *session) burstRow(ctx context.Context, p *functionPool, policy string, n int) error {
	before, err := p.Stats("nap", "")
	if err != nil {
		return err
	}
	a := newArrivals()
	for range s.burst {
		a.arrive(ctx, p, "nap")
	}
	if err := a.all(); err != nil {
		return err
	}
	after, err := p.Stats("nap", "")
	if err != nil {
		return err
	}
	s.Report.Row(policy, workHundred).Set("client", s.first().name).Set("call", n).Set("cold_starts",
		after.ColdStarts-before.ColdStarts).Set("cold_calls", a.cold).
		Times(a.times).Set("because", burstBecause(policy, n, before.Counts.Idle))
	if n == 2 {
		return nil
	}
	// The second burst comes when instances that nobody keeps are gone.
	return s.rest(ctx, 3*s.idle)
}

func burstBecause(policy string, n, idle int) string {
	found := fmt.Sprintf("%d instances were warm", idle)
	if idle == 0 {
		found = "no instance was warm"
	}
	switch {
	case policy == caseProvisioned:
		return found + ": they are kept whether somebody calls or not"
	case n == 1:
		return found + ": each call waits for an instance that starts, or for one that becomes free meanwhile"
	case policy == string(placement.Ahead):
		return found + ": it knows no sign that comes before a burst of its own, so it keeps what the last minutes " +
			"needed at once"
	case idle == 0:
		return found + ": those of the first burst were idle for too long"
	}
	return found
}

// rest waits.
func (s *session) rest(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-t.C:
		return nil
	}
}

// until waits for a condition of a function's instances.
func (p *functionPool) until(ctx context.Context, condition func(placement.Counts) bool) error {
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for {
		stats, err := p.Stats("nap", "")
		if err != nil || condition(stats.Counts) {
			return err
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-tick.C:
		}
	}
}

// plan is when the calls of a stream come: at random, and now and then a dozen within 100 ms.
func (s *session) plan() (at []time.Duration) {
	r := rand.New(rand.NewPCG(1, 2))
	for t := time.Duration(0); t < s.traffic; t += time.Duration(r.ExpFloat64() * float64(s.gap)) {
		at = append(at, t)
		if r.IntN(60) == 0 {
			for range 10 + r.IntN(5) {
				at = append(at, t+time.Duration(r.Int64N(int64(100*time.Millisecond))))
			}
		}
	}
	slices.Sort(at)
	return at
}

// streams lets the same stream come to a function under each policy, all at the same time.
func (s *session) streams(ctx context.Context) error {
	policies := []string{string(placement.Spread), string(placement.Warm), string(placement.Ahead)}
	var functions []function.Definition
	found := make([]*arrivals, len(policies))
	for i, policy := range policies {
		functions = append(functions, s.napper(policy, policy))
		found[i] = newArrivals()
	}
	return s.with(func(p *functionPool) error {
		began := time.Now()
		err := func() error {
			for _, at := range s.plan() {
				if err := s.rest(ctx, time.Until(began.Add(at))); err != nil {
					return err
				}
				for i, policy := range policies {
					found[i].arrive(ctx, p, policy)
				}
			}
			return nil
		}()
		for _, a := range found {
			err = errors.Join(err, a.all())
		}
		if err != nil {
			return err
		}
		for i, policy := range policies {
			s.streamRow(policy, found[i], found[0])
		}
		s.Step()
		return nil
	}, functions...)
}

func (s *session) streamRow(policy string, a, spread *arrivals) {
	share := float64(a.cold) / float64(a.times.Count())
	r := s.Report.Row(policy, workTraffic).Set("client", s.first().name).Set("cold_calls", a.cold).Set("cold_pct",
		harness.Hundredths(100*share)).Times(a.times)
	if spread.cold > 0 {
		r.Set("ratio_spread", harness.Hundredths(float64(a.cold)/float64(spread.cold)))
	}
	why := "the used ones are used again, so that few are needed; a burst finds too few and starts more"
	if policy != string(placement.Spread) {
		harness.Judge(r, s.Quick, harness.AtMost("ratio_spread", 0.1))
	}
	switch policy {
	case string(placement.Spread):
		why = "each of two machines needs an instance of its own for whatever comes at once, and half of the calls " +
			"keep it warm"
	case string(placement.Ahead):
		why = "what a burst needed is there when the calls reach the number at which it was needed before"
	}
	r.Set("because", why)
}
