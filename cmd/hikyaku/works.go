package main

import (
	"context"
	"log/slog"
	"maps"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/hikyaku/hikyaku/internal/pipeline"
	"github.com/hikyaku/hikyaku/internal/push/dead"
	"github.com/hikyaku/hikyaku/internal/push/figure"
	"github.com/hikyaku/hikyaku/internal/transform/campaign"
)

// works are the pipelines of a house with the components in them.
type works struct {
	*pipeline.Runner
	log *slog.Logger
}

// deadDevices is what the sinks that push remember, by the names of the sinks.
func (w *works) deadDevices() map[string]*dead.Registry {
	all := map[string]*dead.Registry{}
	for _, n := range w.Nodes() {
		if k, ok := n.Sink.(dead.Keeper); ok {
			all[n.Name] = k.DeadDevices()
		}
	}
	return all
}

// pushers are the sinks that push, and gates what has a cap, by their names.
func (w *works) pushers() map[string]figure.Teller {
	all := map[string]figure.Teller{}
	for _, n := range w.Nodes() {
		if t, ok := n.Sink.(figure.Teller); ok {
			all[n.Name] = t
		}
	}
	return all
}

func (w *works) gates() map[string]campaign.Capper {
	all := map[string]campaign.Capper{}
	for _, n := range w.Nodes() {
		if c, ok := n.Group.(campaign.Capper); ok {
			all[n.Name] = c
		}
	}
	return all
}

// collectors show the metrics of the pipelines, of their sinks that push, and of their gates with a cap.
func (w *works) collectors() []prometheus.Collector {
	return []prometheus.Collector{pipeline.NewCollector(w.Runner), figure.NewCollector(w.pushers),
		campaign.NewCollector(w.gates)}
}

// noticeEvery is how often components are asked whether they have noticed something.
const noticeEvery = time.Second

// run runs the pipelines and logs what its components notice on the way: a torn line, a file that cannot be read.
func (w *works) run(ctx context.Context) (pipeline.Result, error) {
	seen := map[any]int{}
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

// notices logs what is new since the last call. A component's list only grows, or drops its oldest. seen is by
// component, and forgets those that are there no more.
func (w *works) notices(seen map[any]int) {
	nodes := w.Nodes()
	there := make(map[any]bool, len(nodes))
	defer func() {
		maps.DeleteFunc(seen, func(component any, _ int) bool { return !there[component] })
	}()
	for i := range nodes {
		component, ok := noticing(&nodes[i])
		if !ok {
			continue
		}
		all := component.Notices()
		for _, text := range all[min(seen[component], len(all)):] {
			w.log.Warn("notice", "component", nodes[i].Name, "text", text)
		}
		seen[component], there[component] = len(all), true
	}
}
