package function

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/hikyaku/hikyaku/internal/bench/harness"
	"github.com/hikyaku/hikyaku/internal/function"
	"github.com/hikyaku/hikyaku/internal/machine"
	"github.com/hikyaku/hikyaku/internal/measure"
)

// doorConnections are how many of them the goal for the door is asked for.
const doorConnections = 16

// concurrent lets more and more callers invoke at once.
func (s *session) concurrent(ctx context.Context) error {
	l := s.first()
	for _, callers := range s.crowds {
		err := s.with(func(p *functionPool) error {
			h, n, took, err := s.together(ctx, callers, func() (func() error, func() error, error) {
				return func() error { _, err := p.invokeWell(ctx, "echo", functionEvent); return err },
					func() error { return nil }, nil
			})
			if err != nil {
				return err
			}
			stats, err := p.Stats("echo", "")
			if err != nil {
				return err
			}
			r := s.Report.Row(l.name, workConcurrent).Set("server", serverPool).Set("connections",
				callers).Set("cold_starts", stats.ColdStarts).Times(h).Rate(n, took)
			r.Set("because", because(fmt.Sprintf("callers: %d; instances that serve them: %d", callers,
				stats.ColdStarts), queued(callers)))
			return nil
		}, l.definition("echo"))
		if err != nil {
			return err
		}
		s.Step()
	}
	for _, r := range s.runtimes {
		if r == l || r.name == l.name+realClient {
			if err := s.throughDoor(ctx, r); err != nil {
				return err
			}
		}
	}
	s.Step()
	return nil
}

func queued(callers int) string {
	if callers <= 2 {
		return ""
	}
	return "they share the processors, so that the time of a call grows with them and the rate does not"
}

// throughDoor lets callers invoke over HTTP.
func (s *session) throughDoor(ctx context.Context, l *functionRuntime) (err error) {
	d, err := s.openFunctionDoor(ctx, []*functionRuntime{l})
	if err != nil {
		return err
	}
	defer func() { err = harness.JoinCleanup(err, d.Close(ctx)) }()
	h, n, took, err := s.together(ctx, doorConnections, func() (func() error, func() error, error) {
		line, err := openFunctionLine(ctx, d.addr, "/2015-03-31/functions/"+d.functions[0]+"/invocations")
		if err != nil {
			return nil, nil, err
		}
		return line.ask, line.Close, nil
	})
	if err != nil {
		return err
	}
	r := s.Report.Row(l.name, workConcurrent).Set("server", serverDoor).Set("connections",
		doorConnections).Times(h).Rate(n, took)
	why := "over HTTP, with those who ask on the same processors"
	if l != s.first() {
		why += "; the provider's own client costs the function more than ours"
	}
	r.Set("because", why)
	if l.name == caseGo {
		harness.Judge(r, s.Quick, harness.AtLeast("per_s", 8000))
	}
	return nil
}

// together lets callers call for a slice, after some calls that are not counted. A caller's way to call is opened for
// it alone.
func (s *session) together(ctx context.Context, callers int,
	open func() (call, end func() error, err error)) (*measure.Histogram, int64, time.Duration, error) {
	var ready, all sync.WaitGroup
	times, errs := make([]*measure.Histogram, callers), make([]error, callers)
	start := make(chan struct{})
	var until time.Time // set before start is closed
	ready.Add(callers)
	for i := range callers {
		times[i] = measure.NewHistogram()
		all.Go(func() {
			errs[i] = func() (err error) {
				call, end, err := open()
				for n := 0; n < 10 && err == nil; n++ {
					err = call()
				}
				ready.Done()
				if err != nil {
					return err
				}
				defer func() { err = errors.Join(err, end()) }()
				<-start
				for time.Now().Before(until) && ctx.Err() == nil {
					began := time.Now()
					if err := call(); err != nil {
						return err
					}
					times[i].Record(time.Since(began))
				}
				return ctx.Err()
			}()
		})
	}
	ready.Wait()
	began := time.Now()
	until = began.Add(s.crowd)
	close(start)
	all.Wait()
	took := time.Since(began)
	if err := errors.Join(errs...); err != nil {
		return nil, 0, 0, err
	}
	h := measure.NewHistogram()
	for _, t := range times {
		h.Merge(t)
	}
	return h, h.Count(), took, nil
}

// many tells what idle instances cost this process.
func (s *session) many(ctx context.Context) error {
	l := s.first()
	return s.with(func(p *functionPool) error {
		harness.SettleMemory()
		before := machine.ResidentBytes()
		d := l.definition("echo")
		d.MemoryMB, d.Provisioned = 128, s.instances
		if _, err := p.Deploy(d); err != nil {
			return err
		}
		theirs, err := settled(ctx, p, s.instances)
		if err != nil {
			return err
		}
		after := machine.ResidentBytes()
		if before == 0 {
			s.Report.Note("the memory of instances was not measured: this machine does not tell what a process has")
			return nil
		}
		r := s.Report.Row(l.name, workInstances).Set("instances", s.instances).Set("rss_mb",
			harness.Hundredths(float64(max(0, after-before))/(1<<20))).Set("theirs_mb", theirs)
		r.Set("because", "an instance is a child, a connection, a pipe and a control group to this process; theirs "+
			"is what the programs have at most, by their own count")
		harness.Judge(r, s.Quick, harness.AtMost("rss_mb", 40))
		s.Step()
		return nil
	})
}

// settled waits until so many instances are idle, and tells what they have in memory, in MB.
func settled(ctx context.Context, p *functionPool, n int) (int, error) {
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for {
		stats, err := p.Stats("echo", "")
		if err != nil {
			return 0, err
		}
		if stats.InitFailures > 0 {
			return 0, fmt.Errorf("%d instances could not start", stats.InitFailures)
		}
		if stats.Counts.Idle >= n {
			return peaks(stats), nil
		}
		select {
		case <-ctx.Done():
			return 0, context.Cause(ctx)
		case <-tick.C:
		}
	}
}

func peaks(stats function.Stats) (mb int) {
	for _, i := range stats.Instances {
		mb += i.PeakMB
	}
	return mb
}
