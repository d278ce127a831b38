package function

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/hikyaku/hikyaku/internal/bench/harness"
	"github.com/hikyaku/hikyaku/internal/function"
	"github.com/hikyaku/hikyaku/internal/function/limit"
	"github.com/hikyaku/hikyaku/internal/measure"
)

// reportFib is what the report measured at 128 MB: milliseconds, and what it used, in MB.
var reportFib = map[string]struct {
	ms []float64
	mb int
}{
	caseJava: {[]float64{2919, 2678, 2579}, 12}, caseNode: {[]float64{9280, 9302, 9396}, 9},
	caseGo: {[]float64{4140, 4141, 4140}, 10},
}

// reckoning is a runtime that calculates.
type reckoning struct {
	runtime *functionRuntime
	d       function.Definition
	calls   []*invoked
	warms   bool // the work is done once before it is done by the clock
}

// fibonacci lets each runtime calculate: one after the other with a whole processor, and all at once where their shares
// of the processors leave room.
func (s *session) fibonacci(ctx context.Context) error {
	for _, memory := range s.memories {
		var all []*reckoning
		for _, l := range s.some() {
			if strings.HasSuffix(l.name, realClient) {
				continue // who asks for the work makes no difference to it
			}
			d := l.definition(workFib)
			d.MemoryMB, d.Timeout = memory, 15*time.Minute
			d.Environment["N"] = strconv.Itoa(s.fib)
			k := &reckoning{runtime: l, d: d, warms: l.name != casePython}
			if !k.warms {
				d.Environment["WARM"] = "no"
			}
			all = append(all, k)
		}
		what, err := s.reckon(ctx, all)
		if err != nil {
			return err
		}
		for _, k := range all {
			s.fibRows(k, what)
		}
	}
	return nil
}

// reckon makes the calls, and tells what the pool could limit.
func (s *session) reckon(ctx context.Context, all []*reckoning) (what limit.What, err error) {
	err = s.with(func(p *functionPool) error {
		what = p.Machine().Limits
		for _, k := range all {
			k.d.Name = "fib-" + k.runtime.name
			if _, err := p.Deploy(k.d); err != nil {
				return err
			}
		}
		together := what.CPU && float64(len(all))*limit.CPUs(all[0].d.MemoryMB) < 0.5
		var running sync.WaitGroup
		errs := make([]error, len(all))
		for i, k := range all {
			if !together {
				if err := s.calculate(ctx, p, k); err != nil {
					return err
				}
				continue
			}
			running.Go(func() { errs[i] = s.calculate(ctx, p, k) })
		}
		running.Wait()
		for _, err := range errs {
			if err != nil {
				return err
			}
		}
		return nil
	})
	return what, err
}

// calculate makes the calls of one runtime. One is enough for an interpreter, which takes longest and does not get
// faster.
func (s *session) calculate(ctx context.Context, p *functionPool, k *reckoning) error {
	n := s.fibCalls
	if !k.warms {
		n = 1
	}
	for range n {
		c, err := p.call(ctx, k.d.Name, "{}")
		if err != nil {
			return err
		}
		k.calls = append(k.calls, c)
	}
	s.Step()
	return nil
}

func (s *session) fibRows(k *reckoning, what limit.What) {
	name := k.runtime.name
	for n, c := range k.calls {
		r := s.Report.Row(name, workFib).Set("number", s.fib).Set("memory_mb", k.d.MemoryMB).Set("call", n+1)
		c.set(r, "took_ms", "Took")
		c.bills(r)
		if then := reportFib[name]; k.d.MemoryMB == 128 && s.fib == 38 && n < len(then.ms) {
			r.Set("report_ms", then.ms[n]).Set("report_mb", then.mb)
		}
		share := "a whole processor"
		switch {
		case !what.CPU:
			share = "no control group limits the processors here, so that memory makes no difference"
		case k.d.MemoryMB < 1769:
			share = fmt.Sprintf("%d MB have %d/1769 of a processor", k.d.MemoryMB, k.d.MemoryMB)
		}
		warm := "the bill has the run that warms up, too"
		if !k.warms {
			warm = "an interpreter does not get faster by doing it once more, so that it does it once"
		}
		r.Set("because", because(share, fibBecause[name], warm))
	}
}

// fibBecause says what a runtime makes of a small function that calls itself.
var fibBecause = map[string]string{
	caseGo:     "compiled before, each call is a call",
	caseRust:   "compiled before, and half of the calls made loops of",
	caseJava:   "compiled while it runs, and calls put into their callers",
	caseNode:   "compiled while it runs, and types are checked at each call",
	casePython: "interpreted",
}

func drawFib(p *measure.Plot, r *measure.Row) {
	x, memory := harness.Place(p, fmt.Sprint(r.Get("case"))), fmt.Sprintf("%v MB", r.Get("memory_mb"))
	harness.AddPoint(p, memory, measure.Marks, x, max(0.1, harness.Number(r, "took_ms")))
	if then := harness.Number(r, "report_ms"); then > 0 {
		harness.AddPoint(p, "published, "+memory, measure.Marks, x, then)
	}
}
