package push

import (
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"strconv"
	"time"

	"github.com/hikyaku/hikyaku/internal/bench/harness"
	"github.com/hikyaku/hikyaku/internal/measure"
	"github.com/hikyaku/hikyaku/internal/sandbox/push/farend"
)

// pipelineProcess is a pipeline in a process of its own.
type pipelineProcess struct{ *harness.Talker }

// startPipeline starts one that pushes to a far end.
func (s *session) startPipeline(ctx context.Context, far *farEnd, kind string, connections int,
	more ...string) (*pipelineProcess, error) {
	dir := filepath.Join(s.Temp, fmt.Sprintf("pipeline-%d", s.pipelines))
	s.pipelines++
	args := append([]string{"--kind", kind, "--dir", dir, "--addr", far.addr, "--ca", far.ca, "--signer", far.signer,
		"--connections", strconv.Itoa(connections)}, more...)
	t, err := harness.StartTalker(ctx, kind, s.pushCommand(args...)...)
	if err != nil {
		return nil, err
	}
	return &pipelineProcess{t}, nil
}

func (p *pipelineProcess) trial(t pushTrial) (took pushed, err error) {
	line, err := json.Marshal(t)
	if err == nil {
		err = p.Ask(string(line), &took)
	}
	return took, err
}

// durably claims, pushes and settles.
func (s *session) durably(ctx context.Context) (err error) {
	var ends []func() error
	defer func() { err = harness.JoinCleanup(err, closeThem(ends...)) }()
	far, err := startSandbox(ctx, s.Push, filepath.Join(s.Temp, "durable"), farend.Behaviour{})
	if err != nil {
		return err
	}
	ends = append(ends, far.close)
	p, err := s.startPipeline(ctx, far, kindDirect, 1)
	if err != nil {
		return err
	}
	ends = append(ends, p.Close)
	if _, err := p.trial(pushTrial{Messages: s.warm, Users: 1}); err != nil {
		return err
	}
	var sum pushed
	for range s.rounds {
		took, err := p.trial(pushTrial{Messages: s.durable, Users: 1})
		if err != nil {
			return err
		}
		if took.Failed > 0 {
			return fmt.Errorf("%d of %d pushes failed", took.Failed, took.N)
		}
		if err := took.checkSettled(harness.CaseOurs); err != nil {
			return err
		}
		sum.N, sum.ElapsedUS, sum.CPUUS = sum.N+took.N, sum.ElapsedUS+took.ElapsedUS, sum.CPUUS+took.CPUUS
		sum.Syncs += took.Syncs
		s.Step()
	}
	r := s.Report.Row(harness.CaseOurs, workDurable).Set("messages", s.durable).Set("n", sum.N).Rate(int64(sum.N),
		sum.elapsed())
	r.Set("cpu_us", harness.Hundredths(float64(sum.CPUUS)/float64(sum.N))).Set("syncs", int64(sum.Syncs))
	harness.Judge(r, s.Quick, harness.AtLeast("per_s", 30_000))
	return nil
}

// tails compares how long pushes take to devices beside slow ones with how long they take where there are none.
func (s *session) tails(ctx context.Context) (err error) {
	var ends []func() error
	defer func() { err = harness.JoinCleanup(err, closeThem(ends...)) }()
	// Every answer takes the same, so that chance makes no tail of its own.
	even := farend.Behaviour{Latency: farend.Latency{Fixed: farend.Duration(40 * time.Millisecond)}}
	uneven := even
	late := farend.Latency{Fixed: farend.Duration(s.late)}
	var slow []string
	for user := oneIn; user <= s.tail; user += oneIn {
		slow = append(slow, deviceToken(user))
	}
	uneven.Devices = []farend.Device{{Tokens: slow, Latency: &late}}
	far, err := startSandbox(ctx, s.Push, filepath.Join(s.Temp, "tail"), even)
	if err != nil {
		return err
	}
	ends = append(ends, far.close)
	p, err := s.startPipeline(ctx, far, kindPipeline, 1)
	if err != nil {
		return err
	}
	ends = append(ends, p.Close)
	if _, err := p.trial(pushTrial{Messages: s.warm, Users: usersOfMessage}); err != nil {
		return err
	}
	with, without := measure.NewHistogram(), measure.NewHistogram()
	var ratios []float64
	for round := range s.rounds {
		var p99 [2]time.Duration
		for turn := range 2 {
			i := (round + turn) % 2 // whichever is first has no advantage
			if err := far.behave([]farend.Behaviour{uneven, even}[i]); err != nil {
				return err
			}
			took, err := p.trial(pushTrial{Messages: s.tail / usersOfMessage, Users: usersOfMessage})
			if err != nil {
				return err
			}
			times := measure.NewHistogram()
			for j, us := range took.TimesUS {
				if (j+1)%oneIn != 0 {
					times.Record(time.Duration(us) * time.Microsecond)
				}
			}
			p99[i] = times.Quantile(0.99)
			[]*measure.Histogram{with, without}[i].Merge(times)
		}
		ratios = append(ratios, over(p99[0], p99[1]))
		s.Step()
	}
	r := s.Report.Row(harness.CaseOurs, workTail).Set("slow", true).Set("messages", s.tail/usersOfMessage).Times(with)
	r.Set("p99_even", harness.Hundredths(harness.Quantile(harness.Sorted(ratios), 0.5)))
	harness.Judge(r, s.Quick, harness.AtMost("p99_even", 1.05))
	s.Report.Row(harness.CaseOurs, workTail).Set("slow", false).Set("messages", s.tail/usersOfMessage).Times(without)
	return nil
}

// oneIn is how many devices there are for each slow one.
const oneIn = 1000
