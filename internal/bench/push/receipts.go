package push

import (
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"

	"github.com/hikyaku/hikyaku/internal/bench/harness"
	"github.com/hikyaku/hikyaku/internal/queue"
	"github.com/hikyaku/hikyaku/internal/sandbox/push/farend"
)

// receiptQueue is where the pipelines that are measured put their receipts.
var receiptQueue = queue.Name{Namespace: queue.DefaultNamespace, Name: "receipts"}

// forgetReceipts looks whether there is a receipt of each push of a trial, and takes them away.
func (h *pushHouse) forgetReceipts(ctx context.Context, t pushTrial) error {
	n, err := h.rig.Store.Purge(ctx, receiptQueue)
	if err == nil && int(n) != t.Messages*t.Users {
		err = fmt.Errorf("there were %d receipts of %d pushes", n, t.Messages*t.Users)
	}
	return err
}

// receipted compares pipelines whose sink writes receipts with the same ones without.
func (s *session) receipted(ctx context.Context) error {
	direct := pushTrial{Messages: s.durable, Users: 1}
	if err := s.withReceipts(ctx, kindDirect, direct, farend.Behaviour{}, 1); err != nil {
		return err
	}
	users := filepath.Join(s.Temp, "some-users.db")
	if err := makeUsers(ctx, users, s.some); err != nil {
		return err
	}
	latency := farend.Behaviour{Latency: seedLatency, OneUntilTrusted: true}
	return s.withReceipts(ctx, kindCampaign, pushTrial{Messages: 1, Users: s.some}, latency, seedConnections, "--users",
		users)
}

// withReceipts lets two pipelines of a kind take turns, the first one with receipts.
func (s *session) withReceipts(
	ctx context.Context, kind string, t pushTrial, b farend.Behaviour, connections int, more ...string,
) (err error) {
	var ends []func() error
	defer func() { err = harness.JoinCleanup(err, closeThem(ends...)) }()
	far, err := startSandbox(ctx, s.Push, filepath.Join(s.Temp, "receipts-"+kind), b)
	if err != nil {
		return err
	}
	ends = append(ends, far.close)
	var sides [2]*pipelineProcess
	for i := range sides {
		flags := more
		if i == 0 {
			flags = append(flags[:len(flags):len(flags)], "--receipts")
		}
		if sides[i], err = s.startPipeline(ctx, far, kind, connections, flags...); err != nil {
			return err
		}
		ends = append(ends, sides[i].Close)
	}
	var sums [2]pushed
	var ratios, costs []float64
	for round := range s.receipts + 1 {
		var took [2]pushed
		for turn := range 2 {
			i := (round + turn) % 2 // whichever is first has no advantage
			if took[i], err = sides[i].receipted(t); err != nil {
				return err
			}
			if kind == kindDirect {
				if err := took[i].checkSettled(harness.CaseOurs); err != nil {
					return err
				}
			}
		}
		if round == 0 {
			continue // both are warm now
		}
		for i := range took {
			sums[i].N, sums[i].ElapsedUS = sums[i].N+took[i].N, sums[i].ElapsedUS+took[i].ElapsedUS
			sums[i].CPUUS += took[i].CPUUS
		}
		ratios = append(ratios, took[0].perSecond()/took[1].perSecond())
		costs = append(costs, float64(took[0].CPUUS)/float64(took[1].CPUUS))
		s.Step()
	}
	for i, with := range []bool{true, false} {
		r := s.Report.Row(harness.CaseOurs, workReceipts).Set("kind", kind).Set("receipts", with).Set("messages",
			t.Messages*t.Users)
		r.Set("n", sums[i].N).Rate(int64(sums[i].N), sums[i].elapsed()).Set("cpu_us",
			harness.Hundredths(float64(sums[i].CPUUS)/float64(sums[i].N)))
		if with {
			r.Set("rate_without", harness.Hundredths(harness.Quantile(harness.Sorted(ratios), 0.5)))
			r.Set("cpu_without", harness.Hundredths(harness.Quantile(harness.Sorted(costs), 0.5)))
			if kind == kindCampaign {
				harness.Judge(r, s.Quick, harness.AtLeast("rate_without", 0.85))
			}
		}
	}
	return nil
}

// receipted is a trial of either kind: what a campaign tells besides is left out.
func (p *pipelineProcess) receipted(t pushTrial) (took pushed, err error) {
	line, err := json.Marshal(t)
	if err == nil {
		err = p.Ask(string(line), &took)
	}
	if err == nil && took.Failed > 0 {
		err = fmt.Errorf("%d of %d pushes failed", took.Failed, took.N)
	}
	return took, err
}
