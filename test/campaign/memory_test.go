package campaign

import (
	"context"
	"runtime"
	"slices"
	"sync"
	"testing"

	"github.com/hikyaku/hikyaku/internal/component"
	"github.com/hikyaku/hikyaku/internal/journal"
	"github.com/hikyaku/hikyaku/internal/message"
	"github.com/hikyaku/hikyaku/internal/pipeline"
	"github.com/hikyaku/hikyaku/internal/sandbox/push/farend"
)

// rounds is a source that sends so many messages, waits until they are settled, and looks at the memory in use: again
// and again.
type rounds struct {
	n, each int
	after   func()
}

func (r *rounds) Run(ctx context.Context, out component.Out) error {
	for round := range r.n {
		var under sync.WaitGroup
		for i := range r.each {
			m := &message.Message{ID: message.NewID(), Body: []byte(`{"aps":{"alert":"News 42"}}`)}
			m.Attributes.Set("token", message.String(device(round*r.each+i)))
			m.Attributes.Set("collapse_id", message.String("news"))
			under.Add(1)
			if err := out.Send(ctx,
				component.Delivery{Message: m, Settle: func(component.Outcome) { under.Done() }}); err != nil {
				return err
			}
		}
		under.Wait()
		r.after()
	}
	return nil
}

func (*rounds) Close() error { return nil }

// TestALongCampaignTakesNoMoreMemoryThanAShortOne pushes round after round through the same sink, with requests that
// are refused and answers that are lost. What the store takes is its own tests' business: here messages come from a
// source that keeps nothing.
func TestALongCampaignTakesNoMoreMemoryThanAShortOne(t *testing.T) {
	tr := newTrial(t, journal.OS, farend.Behaviour{
		Latency: farend.Latency{Median: ms(1)},
		Faults: []farend.Fault{
			{Do: farend.Refuse, Probability: 0.005, Reason: "InternalServerError"},
			{Do: farend.ResetStream, Probability: 0.005, Processed: true},
			{Do: farend.GoAway, Every: 7000, Unprocessed: 0.5},
		},
	})
	var inUse []uint64
	source := &rounds{n: 12, each: 4000, after: func() {
		tr.far.Forget() // what the far end remembers is not ours
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		inUse = append(inUse, m.HeapAlloc>>10)
	}}
	nodes, _ := tr.nodes(t)
	nodes[0] = pipeline.Node{Name: "waiting", Source: source}
	p, err := pipeline.New(nodes, pipeline.Options{Store: tr.store})
	if err != nil {
		t.Fatal(err)
	}
	r, err := p.Run(t.Context())
	if err != nil || r.Delivered != uint64(source.n*source.each) {
		t.Errorf("%+v, %v", r, err)
	}
	early, late := slices.Max(inUse[2:5]), slices.Min(inUse[9:])
	if late > early+1<<10 {
		t.Errorf("KiB in use after each round: %d", inUse)
	}
	t.Logf("KiB in use after each round: %d; %d retries, %v", inUse, r.Retried, tr.counts)
}
