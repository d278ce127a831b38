package bench

import (
	"context"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/hikyaku/hikyaku/internal/function"
	"github.com/hikyaku/hikyaku/internal/function/bill"
	placement "github.com/hikyaku/hikyaku/internal/function/place"
	"github.com/hikyaku/hikyaku/internal/measure"
)

// pids calls a function that prints who it is, under two policies.
func (s *functionSession) pids(ctx context.Context) error {
	for _, policy := range []placement.Kind{placement.Spread, placement.Warm} {
		d := s.first().definition(workPid)
		d.Policy = policy
		err := s.with(func(p *functionPool) error { return s.twelve(ctx, p, string(policy)) }, d)
		if err != nil {
			return err
		}
		s.step()
	}
	return nil
}

func (s *functionSession) twelve(ctx context.Context, p *functionPool, policy string) error {
	var seen []string
	cold, lateCold := 0, 0
	for n := range s.calls {
		c, err := p.call(ctx, workPid, "{}")
		if err != nil {
			return err
		}
		name, why := c.last("Name"), "the instance that was used last serves it"
		known := 0
		for i, other := range seen {
			if other == name {
				known = i + 1
			}
		}
		switch {
		case known == 0:
			seen = append(seen, name)
			why = fmt.Sprintf("no instance was there: number %d starts for it", len(seen))
			if policy == string(placement.Spread) {
				why = fmt.Sprintf("machine %d has no instance yet: it starts one, whatever the other has", len(seen))
			}
			cold++
			if n > 0 {
				lateCold++
			}
		case policy == string(placement.Spread):
			why = fmt.Sprintf("it is the turn of machine %d, which is warm", known)
		}
		r := s.report.Row(policy, workPid).Set("client", s.first().name).Set("call", n+1).Set("name", name)
		c.set(r, "count", "Count")
		c.bills(r).Set("because", why)
	}
	r := s.report.Row(policy, workPid).Set("client", s.first().name).Set("n", s.calls).Set("cold_starts", cold).Set("cold_later", lateCold)
	if policy == string(placement.Warm) {
		judge(r, s.Quick, atMost("cold_later", 0))
	}
	return nil
}

// stacks shows what runs inside an instance.
func (s *functionSession) stacks(ctx context.Context) error {
	for _, l := range s.runtimes {
		err := s.with(func(p *functionPool) error {
			c, err := p.call(ctx, workStackTrace, "{}")
			if err != nil {
				return err
			}
			threads, frames, outermost := readStacks(c)
			stats, err := p.Stats(workStackTrace, "")
			if err != nil {
				return err
			}
			r := s.report.Row(l.name, workStackTrace).Set("threads", threads).Set("frames", frames)
			if len(stats.Instances) > 0 {
				tasks, _ := filepath.Glob("/proc/" + strconv.Itoa(stats.Instances[0].Pid) + "/task/*") // the pattern is right
				if len(tasks) > 0 {
					r.Set("tasks", len(tasks))
				}
			}
			why := "a client of the Runtime API that asks, calls the handler and answers, and no container around it"
			if outermost != "" {
				why += ": below the handler lies " + outermost
			}
			c.bills(r).Set("because", why)
			return nil
		}, l.definition(workStackTrace))
		if err != nil {
			return err
		}
	}
	s.step()
	return nil
}

// readStacks reads what the functions print about themselves: how many threads they have, how many frames the handler's has, and the last of these.
func readStacks(c *invoked) (threads, frames int, outermost string) {
	var lines []string
	for _, l := range c.lines {
		if !l.Ours {
			lines = append(lines, strings.Split(l.Text, "\r")...) // Node.js writes the lines of one message so
		}
	}
	for _, line := range lines {
		text := strings.TrimSpace(line)
		switch {
		case text == "":
		case strings.HasPrefix(text, "goroutine "), strings.HasPrefix(text, `"`):
			threads++
		case strings.HasPrefix(text, "at ") && threads == 0, strings.HasPrefix(text, `File "`) && threads == 1:
			frames++
			outermost = frameName(text, outermost)
		case strings.HasSuffix(text, ")") && strings.HasPrefix(line, "main.") && threads == 1:
			frames++
			outermost = frameName(text, outermost)
		}
	}
	return max(threads, 1), frames, outermost
}

// frameName shortens a frame. Python writes the outermost first.
func frameName(text, before string) string {
	if rest, ok := strings.CutPrefix(text, `File "`); ok {
		if before != "" {
			return before
		}
		file, rest, _ := strings.Cut(rest, `"`)
		_, in, _ := strings.Cut(rest, ", in ")
		return filepath.Base(file) + " " + in
	}
	name, _, _ := strings.Cut(strings.TrimPrefix(text, "at "), "(")
	return strings.TrimSpace(name)
}

// waiting is one of the report's classes that rest.
type waiting struct {
	work  string
	rests time.Duration
	calls int
	takes time.Duration
}

func (s *functionSession) waitings() []waiting {
	return []waiting{
		{workWait1, s.long, s.waits, time.Duration(s.waits) * s.long},
		{workWait2, s.long, s.waits, s.limit + s.long},
		{workWait3, s.short, s.waits, s.short},
	}
}

// waits3 measures one of them in every runtime at the same time: they rest more than they work.
func (s *functionSession) waits3(ctx context.Context, w waiting) error {
	runtimes := s.some()
	var all sync.WaitGroup
	calls, errs := make([][]*invoked, len(runtimes)), make([]error, len(runtimes))
	for i, l := range runtimes {
		all.Go(func() {
			d := l.definition(w.work)
			d.MemoryMB, d.InitTimeout = 128, s.limit
			d.Environment["WAIT_MS"] = strconv.FormatInt(w.rests.Milliseconds(), 10)
			errs[i] = s.with(func(p *functionPool) error {
				for range w.calls {
					c, err := p.call(ctx, w.work, "{}")
					if err != nil {
						return err
					}
					calls[i] = append(calls[i], c)
				}
				return nil
			}, d)
		})
	}
	all.Wait()
	for i, l := range runtimes {
		if errs[i] != nil {
			return errs[i]
		}
		for n, c := range calls[i] {
			s.waitRow(l.name, w, n+1, c)
		}
	}
	s.step()
	return nil
}

func (s *functionSession) waitRow(name string, w waiting, n int, c *invoked) {
	r := s.report.Row(name, w.work).Set("call", n)
	c.set(r, "before_ms", "Before wait")
	c.set(r, "after_ms", "After wait")
	c.set(r, "called_ms", "Called")
	c.bills(r)
	begun, then := len(c.said("Before wait")), bill.Old.Charge(c.Usage).Billed
	start := "its start took less than " + measure.Duration(s.limit) + ": it is apart from the invocation, on the bill today and free then"
	var why string
	switch {
	case w.work == workWait1 && c.Usage.Init > 0:
		why = "the handler rests, and what it rests is billed; its start is apart from that"
	case w.work == workWait1:
		why = "the instance is warm, the handler rests again, and that is billed"
	case begun > 1:
		why = fmt.Sprintf("its start was stopped at the limit of %s and done again inside the invocation, which pays for it: a watch says both, the bill once (%s then)", measure.Duration(s.limit), measure.Duration(then))
	case begun == 1:
		why = start
	default:
		why = "the instance is warm: its constructor does not run again"
	}
	r.Set("because", why)
}

// reportFib is what the report measured at 128 MB, in ms.
var reportFib = map[string][]float64{caseJava: {2919, 2678, 2579}, caseNode: {9280, 9302, 9396}, caseGo: {4140, 4141, 4140}}

// fibonacci lets each runtime calculate.
func (s *functionSession) fibonacci(ctx context.Context) error {
	for _, memory := range s.memories {
		for _, l := range s.some() {
			if strings.HasSuffix(l.name, realClient) {
				continue // who asks for the work makes no difference to it
			}
			d, wanted := l.definition(workFib), s.fibs[0]
			if l.name == casePython {
				wanted = s.fibs[1]
			}
			d.MemoryMB = memory
			d.Environment["N"] = strconv.Itoa(wanted)
			err := s.with(func(p *functionPool) error { return s.fibRows(ctx, p, l.name, d, wanted) }, d)
			if err != nil {
				return err
			}
		}
	}
	return nil
}

func (s *functionSession) fibRows(ctx context.Context, p *functionPool, name string, d function.Definition, wanted int) error {
	what := p.Machine().Limits
	for n := range s.fibCalls {
		c, err := p.call(ctx, workFib, "{}")
		if err != nil {
			return err
		}
		r := s.report.Row(name, workFib).Set("number", wanted).Set("memory_mb", d.MemoryMB).Set("call", n+1)
		c.set(r, "took_ms", "Took")
		if then := reportFib[name]; d.MemoryMB == 128 && wanted == 38 && n < len(then) {
			r.Set("report_ms", then[n])
		}
		why := "a whole processor"
		switch {
		case !what.CPU:
			why = "no control group limits the processors here, so that memory makes no difference"
		case d.MemoryMB < 1769:
			why = fmt.Sprintf("%d MB have %d/1769 of a processor", d.MemoryMB, d.MemoryMB)
		}
		c.bills(r).Set("because", because(why, "the bill has the run that warms up, too"))
		s.step()
	}
	return nil
}
