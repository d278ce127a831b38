package queue

import (
	"strconv"
	"testing"
	"time"

	"github.com/hikyaku/hikyaku/internal/condition"
	inmemory "github.com/hikyaku/hikyaku/internal/journal/memory"
	"github.com/hikyaku/hikyaku/internal/message"
)

// BenchmarkStore measures what calls of a Store take of the processor, over a journal in memory: for one caller, and
// for 64 at once. A life is a put, a claim and a settlement. What a disk adds is measured by `hikyaku bench queue`.
func BenchmarkStore(b *testing.B) {
	m := message.Message{Body: make([]byte, 1000), Attributes: message.Attributes{
		{Name: "kind", Value: message.String("order")}, {Name: "to", Value: message.Int(7)}}}
	where, err := condition.Parse("kind = 'order' AND `to` > 3")
	if err != nil {
		b.Fatal(err)
	}
	for _, c := range []struct {
		name  string
		where *condition.Expr
		life  bool
	}{{"put", nil, false}, {"life", nil, true}, {"life by condition", where, true}} {
		for _, callers := range []int{1, 64} {
			b.Run(c.name+"/"+strconv.Itoa(callers), func(b *testing.B) {
				j, err := inmemory.New().Open(inmemory.Options{})
				if err != nil {
					b.Fatal(err)
				}
				s, err := Open(b.Context(), Options{Journal: j, OnDemand: true})
				if err != nil {
					b.Fatal(err)
				}
				defer s.Close()
				b.SetParallelism(callers)
				b.ReportAllocs()
				b.RunParallel(func(pb *testing.PB) {
					msgs := make([]message.Message, 1)
					for pb.Next() {
						msgs[0] = m
						if _, err := s.Put(b.Context(), news, msgs); err != nil {
							b.Error(err)
							return
						}
						if !c.life {
							continue
						}
						cs, err := s.Claim(b.Context(),
							ClaimRequest{From: []From{{news, c.where}}, Max: 1, Lease: time.Minute})
						if err != nil {
							b.Error(err)
							return
						}
						if len(cs) != 1 {
							b.Error("a caller finds no message, and has put one")
							return
						}
						if _, err := s.Settle(b.Context(), []Settlement{{Token: cs[0].Token}}); err != nil {
							b.Error(err)
							return
						}
					}
				})
			})
		}
	}
}
