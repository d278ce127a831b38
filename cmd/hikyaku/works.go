package main

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/hikyaku/hikyaku/internal/pipeline"
	"github.com/hikyaku/hikyaku/internal/push/dead"
	"github.com/hikyaku/hikyaku/internal/push/figure"
	"github.com/hikyaku/hikyaku/internal/transform/campaign"
)

// works is a pipeline with the components in it.
type works struct {
	*pipeline.Pipeline
	nodes []pipeline.Node
	log   *slog.Logger
}

// deadDevices is what the sinks that push remember, by the names of the sinks.
func (w *works) deadDevices() map[string]*dead.Registry {
	all := map[string]*dead.Registry{}
	for _, n := range w.nodes {
		if k, ok := n.Sink.(dead.Keeper); ok {
			all[n.Name] = k.DeadDevices()
		}
	}
	return all
}

// collectors show the metrics of the pipeline, of its sinks that push, and of its gates with a cap.
func (w *works) collectors() []prometheus.Collector {
	push := map[string]figure.Teller{}
	gates := map[string]campaign.Capper{}
	for _, n := range w.nodes {
		if c, ok := n.Group.(campaign.Capper); ok {
			gates[n.Name] = c
		}
		if t, ok := n.Sink.(figure.Teller); ok {
			push[n.Name] = t
		}
	}
	return []prometheus.Collector{pipeline.NewCollector(w.Pipeline), figure.NewCollector(push),
		campaign.NewCollector(gates)}
}

// noticeEvery is how often components are asked whether they have noticed something.
const noticeEvery = time.Second

// run runs the pipeline and logs what its components notice on the way: a torn line, a file that cannot be read.
func (w *works) run(ctx context.Context) (pipeline.Result, error) {
	seen := map[string]int{}
	done := make(chan struct{})
	var watching sync.WaitGroup
	watching.Go(func() {
		tick := time.NewTicker(noticeEvery)
		defer tick.Stop()
		for {
			select {
			case <-done:
				return
			case <-tick.C:
				w.notices(seen)
			}
		}
	})
	result, err := w.Run(ctx)
	close(done)
	watching.Wait()
	w.notices(seen)
	return result, err
}

// notices logs what is new since the last call. A component's list only grows, or drops its oldest.
func (w *works) notices(seen map[string]int) {
	for _, n := range w.nodes {
		var component any
		switch {
		case n.Source != nil:
			component = n.Source
		case n.Transform != nil:
			component = n.Transform
		default:
			component = n.Sink
		}
		noticing, ok := component.(interface{ Notices() []string })
		if !ok {
			continue
		}
		all := noticing.Notices()
		for _, text := range all[min(seen[n.Name], len(all)):] {
			w.log.Warn("notice", "component", n.Name, "text", text)
		}
		seen[n.Name] = len(all)
	}
}
