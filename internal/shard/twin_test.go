package shard

import (
	"math/rand/v2"
	"testing"

	"github.com/hikyaku/hikyaku/internal/journal/memory"
	"github.com/hikyaku/hikyaku/internal/queue"
	"github.com/hikyaku/hikyaku/internal/queue/twintest"
)

func TestARouterDoesWhatASingleStoreDoes(t *testing.T) {
	rounds, steps := 12, 150
	if testing.Short() {
		rounds = 3
	}
	for range rounds {
		many := newWorld(t, 3, onDemand)
		j, err := memory.New().Open(memory.Options{})
		must(t, err)
		one, err := queue.Open(t.Context(), queue.Options{Journal: j, OnDemand: true})
		must(t, err)
		w := twintest.Twins{Tested: many, Plain: one, Quiet: many.quiet}
		w.Run(t, rand.Uint64(), steps)
		must(t, one.Close())
		must(t, many.Close())
	}
}
