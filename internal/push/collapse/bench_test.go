package collapse_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/hikyaku/hikyaku/internal/message"
	"github.com/hikyaku/hikyaku/internal/push/collapse"
)

// BenchmarkNewer looks into a queue of 100,000 messages, where every other device has one.
func BenchmarkNewer(b *testing.B) {
	store := newStore(b)
	at := time.Now()
	var group []message.Message
	for i := range 100_000 {
		m := *with("token", fmt.Sprintf("%064x", 2*i), "collapse_id", "score")
		m.Time = at.Add(time.Second)
		if group = append(group, m); len(group) == 1000 {
			if _, err := store.Put(b.Context(), outbox, group); err != nil {
				b.Fatal(err)
			}
			group = group[:0]
		}
	}
	backlog := collapse.NewBacklog(store, outbox, "token", "collapse_id", "app")
	if err := backlog.Start(b.Context()); err != nil {
		b.Fatal(err)
	}
	var asked []*message.Message
	for i := range 1000 {
		m := with("token", fmt.Sprintf("%064x", 199*i), "collapse_id", "score")
		m.Time = at
		asked = append(asked, m)
	}
	b.ReportAllocs()
	found, n := 0, 0
	for b.Loop() {
		newer, err := backlog.Newer(asked[n%len(asked)], at.Add(time.Hour))
		if err != nil {
			b.Fatal(err)
		}
		if newer {
			found++
		}
		n++
	}
	if n > 10 && (found < n/3 || found > n) {
		b.Errorf("%d of %d were found", found, n)
	}
}
