package remote_test

import (
	"testing"
	"time"

	"github.com/hikyaku/hikyaku/internal/message"
	"github.com/hikyaku/hikyaku/internal/queue"
)

var jobs = queue.Name{Namespace: "app", Name: "jobs"}

// BenchmarkPut is one put after another of 1,000 bytes into a store of the other end of a loopback connection, whose
// journal is in memory: what the way there and back costs.
func BenchmarkPut(b *testing.B) {
	w := newWorld(b)
	body := make([]byte, 1000)
	for b.Loop() {
		_, err := w.Put(b.Context(), jobs, []message.Message{{Body: body}})
		must(b, err)
	}
}

// BenchmarkClaims is one claim and settlement after another.
func BenchmarkClaims(b *testing.B) {
	w := newWorld(b)
	msgs := make([]message.Message, 1000)
	for b.Loop() {
		if st, err := w.store.Stats(b.Context(), jobs); err != nil || st.Ready == 0 {
			_, err := w.store.Put(b.Context(), jobs, msgs)
			must(b, err)
		}
		cs, err := w.Claim(b.Context(), queue.ClaimRequest{From: []queue.From{{Queue: jobs}}, Lease: time.Minute})
		must(b, err)
		_, err = w.Settle(b.Context(), []queue.Settlement{{Token: cs[0].Token}})
		must(b, err)
	}
}

// BenchmarkManyPuts is 64 callers at once, each with 10 messages of 100 bytes.
func BenchmarkManyPuts(b *testing.B) {
	w := newWorld(b)
	b.SetParallelism(32)
	b.RunParallel(func(p *testing.PB) {
		msgs := make([]message.Message, 10)
		for i := range msgs {
			msgs[i].Body = make([]byte, 100)
		}
		for p.Next() {
			if _, err := w.Put(b.Context(), jobs, msgs); err != nil {
				b.Error(err)
				return
			}
		}
	})
}
