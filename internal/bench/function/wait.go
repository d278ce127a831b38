package function

import (
	"context"
	"fmt"
	"strconv"
	"sync"
	"time"

	"github.com/hikyaku/hikyaku/internal/bench/harness"
	"github.com/hikyaku/hikyaku/internal/function"
	"github.com/hikyaku/hikyaku/internal/function/bill"
	"github.com/hikyaku/hikyaku/internal/measure"
)

// waiting is one of the report's classes that rest.
type waiting struct {
	work     string
	rests    time.Duration
	machines []int // which of two machines serves each call, as in the report
	takes    time.Duration
	billed   []float64 // in the report, in ms
	watched  []float64 // what its watch said, in ms; a second stands for "less than that"
}

func (s *session) waitings() []waiting {
	all := []waiting{
		{workWait1, s.long, []int{1, 2, 1, 2}, 4 * s.long, []float64{10100, 10100, 10100, 10100},
			[]float64{10000, 10000, 10000, 10000}},
		{workWait2, s.long, []int{1, 1, 2, 2}, 2 * (s.limit + s.long), []float64{14800, 100, 14800, 100},
			[]float64{25000, 1000, 25000, 1000}},
		{workWait3, s.short, []int{1, 1, 1}, s.short, []float64{100, 100, 100}, []float64{3000, 1000, 1000}},
	}
	for i := range all {
		all[i].machines = all[i].machines[:min(len(all[i].machines), s.waits)]
	}
	return all
}

// waits3 measures one of them in every runtime at the same time: they rest more than they work.
func (s *session) waits3(ctx context.Context, w waiting) error {
	runtimes := s.some()
	var all sync.WaitGroup
	calls, errs := make([][]*invoked, len(runtimes)), make([]error, len(runtimes))
	for i, l := range runtimes {
		var machines []function.Definition
		for _, name := range []string{"wait1", "wait2"} {
			d := l.definition(w.work)
			d.Name, d.MemoryMB, d.InitTimeout = name, 128, s.limit
			d.Environment["WAIT_MS"] = strconv.FormatInt(w.rests.Milliseconds(), 10)
			machines = append(machines, d)
		}
		all.Go(func() {
			errs[i] = s.with(func(p *functionPool) error {
				for _, machine := range w.machines {
					c, err := p.call(ctx, fmt.Sprint("wait", machine), "{}")
					if err != nil {
						return err
					}
					calls[i] = append(calls[i], c)
				}
				return nil
			}, machines...)
		})
	}
	all.Wait()
	for i, l := range runtimes {
		if errs[i] != nil {
			return errs[i]
		}
		for n, c := range calls[i] {
			s.waitRow(l.name, w, n, c)
		}
	}
	s.Step()
	return nil
}

// waitRow is what became of call n, from 0.
func (s *session) waitRow(name string, w waiting, n int, c *invoked) {
	r := s.Report.Row(name, w.work).Set("call", n+1).Set("machine", w.machines[n])
	c.set(r, "before_ms", "Before wait")
	c.set(r, "after_ms", "After wait")
	c.set(r, "called_ms", "Called")
	c.bills(r)
	if name == caseJava && !s.Quick {
		r.Set("report_ms", w.billed[n]).Set("report_total_ms", w.watched[n])
	}
	r.Set("because", because(s.waitBecause(w, c), slowBetween(r)))
}

func (s *session) waitBecause(w waiting, c *invoked) string {
	then := bill.Old.Charge(c.Usage).Billed
	switch {
	case w.work == workWait1 && c.Cold:
		return "the handler rests, and what it rests is billed; its start is apart from that"
	case w.work == workWait1:
		return "the instance is warm, the handler rests again, and that is billed"
	case c.Cold && c.Usage.Init == 0: // a start beside the invocation takes a while
		return fmt.Sprintf("its start was stopped at the limit of %s and done again inside the invocation, which "+
			"pays for it: a watch says both, the bill once (%s then)", measure.Duration(s.limit),
			measure.Duration(then))
	case c.Cold:
		return "its start took less than " + measure.Duration(s.limit) +
			": it is apart from the invocation, on the bill today and free then"
	}
	return "the instance is warm: its constructor does not run again"
}

// slowBetween explains what the report wondered about: time that passes between the end of a constructor and the
// handler.
func slowBetween(r *measure.Row) string {
	after, ok := r.Number("after_ms")
	called, also := r.Number("called_ms")
	if !ok || !also || called-after < 100 {
		return ""
	}
	return fmt.Sprintf("the %.0f ms from its end to the handler are what the runtime does in between", called-after)
}

// drawBilled draws the report's language and the quickest: all of them would be too many.
func drawBilled(p *measure.Plot, r *measure.Row) {
	if name := r.Get("case"); name != caseJava && name != caseGo {
		return
	}
	harness.AddPoint(p, fmt.Sprintf("%v %v, billed then", r.Get("work"), r.Get("case")), measure.LineMarks,
		harness.Number(r, "call"),
		harness.Number(r, "billed_then_ms"))
}
