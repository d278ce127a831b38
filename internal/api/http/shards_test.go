package http_test

import (
	"strings"
	"testing"

	door "github.com/hikyaku/hikyaku/internal/api/http"
	"github.com/hikyaku/hikyaku/internal/journal"
	"github.com/hikyaku/hikyaku/internal/journal/memory"
	"github.com/hikyaku/hikyaku/internal/queue"
	"github.com/hikyaku/hikyaku/internal/shard"
)

func TestReadinessNamesTheShardsThatTakeNothing(t *testing.T) {
	var js []*memory.Journal
	var all []journal.Journal
	for range 3 {
		j, err := memory.New().Open(memory.Options{Durability: journal.Fsync})
		if err != nil {
			t.Fatal(err)
		}
		js, all = append(js, j), append(all, j)
	}
	s, err := shard.Open(t.Context(), shard.Options{Journals: all, Store: queue.Options{OnDemand: true}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
		for _, j := range js {
			if err := j.Close(); err != nil {
				t.Error(err)
			}
		}
	})
	r := start(t, settings{wrap: func(door.Store) door.Store { return s }})
	r.want(200, "GET", "/readyz", "")
	js[1].Fill(true)
	p := r.refused("not-ready", "GET", "/readyz", "")
	if p.Reason != "no-room" || !strings.HasPrefix(p.Detail, "shard 1: ") {
		t.Errorf("with a full disk of shard 1 it says %+v", p)
	}
	js[2].Fill(true)
	if p := r.refused("not-ready", "GET", "/readyz", ""); !strings.HasPrefix(p.Detail, "shards 1, 2: ") {
		t.Errorf("with full disks of shards 1 and 2 it says %+v", p)
	}
	js[1].Fill(false)
	js[2].Fill(false)
	r.want(200, "GET", "/readyz", "")
}
