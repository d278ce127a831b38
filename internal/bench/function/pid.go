package function

import (
	"context"
	"fmt"
	"slices"

	"github.com/hikyaku/hikyaku/internal/bench/harness"
	"github.com/hikyaku/hikyaku/internal/function"
	placement "github.com/hikyaku/hikyaku/internal/function/place"
	"github.com/hikyaku/hikyaku/internal/measure"
)

// caseReported deals the calls to two machines in the order that the report saw.
const caseReported = "reported"

// reportedOrder is which of two machines served each of the report's twelve calls.
var reportedOrder = []int{1, 1, 2, 2, 1, 1, 1, 2, 2, 2, 2, 2}

// pids calls a function that prints who it is, dealt out as was published, and under the policies.
func (s *session) pids(ctx context.Context) error {
	for i, l := range s.runtimes {
		hows := []string{caseReported, string(placement.Spread), string(placement.Warm), string(placement.Ahead)}
		switch {
		case l.name == caseJava: // the report's
			hows = []string{caseReported, string(placement.Warm)}
		case i > 0:
			continue
		}
		for _, how := range hows {
			if err := s.with(func(p *functionPool) error { return s.twelve(ctx, p, l.name, how) },
				identities(l, how)...); err != nil {
				return err
			}
			s.Step()
		}
	}
	return nil
}

// identities are the function that prints who it is; two of it, as two machines, for the report's order.
func identities(l *functionRuntime, how string) (all []function.Definition) {
	for _, name := range []string{"pid1", "pid2"} {
		d := l.definition(workPid)
		d.Name, d.Policy = name, placement.Kind(how)
		if how != caseReported {
			return append(all, d)
		}
		d.Policy = placement.Warm
		all = append(all, d)
	}
	return all
}

// twelve makes the calls and says of each why it took what it took.
func (s *session) twelve(ctx context.Context, p *functionPool, runtime, how string) error {
	var seen []string
	cold, lateCold := 0, 0
	for n := range s.calls {
		machine := 1
		if how == caseReported {
			machine = reportedOrder[n%len(reportedOrder)]
		}
		c, err := p.call(ctx, fmt.Sprint("pid", machine), "{}")
		if err != nil {
			return err
		}
		known := slices.Index(seen, c.last("Name")) + 1
		if known == 0 {
			seen = append(seen, c.last("Name"))
			cold++
			if n > 0 {
				lateCold++
			}
		}
		r := s.Report.Row(how, workPid).Set("client", runtime).Set("call", n+1).Set("name", c.last("Name"))
		c.set(r, "count", "Count")
		c.bills(r).Set("because", dealtBecause(how, known, len(seen)))
	}
	r := s.Report.Row(how, workPid).Set("client", runtime).Set("n", s.calls).Set("cold_starts", cold).Set("cold_later",
		lateCold)
	r.Set("because", dealingBecause(how))
	if how == string(placement.Warm) || how == string(placement.Ahead) {
		harness.Judge(r, s.Quick, harness.AtMost("cold_later", 0))
	}
	return nil
}

// dealtBecause explains a call that was served by the instance known (0: by one that nobody knew) of so many.
func dealtBecause(how string, known, all int) string {
	switch {
	case how == caseReported && known == 0:
		return fmt.Sprintf("it is sent to machine %d, which has no instance yet: it starts one, whatever the other has",
			all)
	case how == caseReported:
		return fmt.Sprintf("it is sent to machine %d, which is warm", known)
	case how == string(placement.Spread) && known == 0:
		return fmt.Sprintf("machine %d has no instance yet: it starts one, whatever the other has", all)
	case how == string(placement.Spread):
		return fmt.Sprintf("it is the turn of machine %d, which is warm", known)
	case known == 0:
		return fmt.Sprintf("no instance was there: number %d starts for it", all)
	}
	return "the instance that was used last serves it"
}

// dealingBecause sums up a way to deal calls out.
func dealingBecause(how string) string {
	switch how {
	case caseReported:
		return "two machines, each cold once: the first call and the third are slow, as was published"
	case string(placement.Spread):
		return "two machines in turns, each cold once: the first call and the second are slow, as was published " +
			"at other times"
	}
	return "calls that do not overlap need one instance, and the first call alone is slow"
}

func drawCalls(p *measure.Plot, r *measure.Row) {
	if n := harness.Number(r, "call"); n > 0 {
		harness.AddPoint(p, fmt.Sprintf("%v, %v", r.Get("client"), r.Get("case")), measure.LineMarks, n,
			harness.Number(r, "total_ms"))
	}
}
