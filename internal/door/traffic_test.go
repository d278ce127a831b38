package door

import (
	"fmt"
	"sync"
	"testing"

	"github.com/hikyaku/hikyaku/internal/metricstest"
)

func TestRequestsAreCountedByCallAndCodeAlsoPastTheCountersThatAreKept(t *testing.T) {
	const goroutines, each = 4, 5
	traffic := NewTraffic("sqs")
	var work sync.WaitGroup
	for range goroutines {
		work.Go(func() {
			for range each {
				for i := range keptOutcomes + 10 {
					traffic.Ended("call", fmt.Sprint(i))
				}
			}
		})
	}
	work.Wait()
	got := metricstest.Of(t, traffic)
	for i := range keptOutcomes + 10 {
		if n := got[fmt.Sprintf("hikyaku_door_requests_total call %d sqs", i)]; n != goroutines*each {
			t.Errorf("%d: %v are counted, not %d", i, n, goroutines*each)
		}
	}
	if n := len(*traffic.counters.Load()); n != keptOutcomes {
		t.Errorf("%d counters are kept, not %d", n, keptOutcomes)
	}
}

func BenchmarkEnded(b *testing.B) {
	t := NewTraffic("sqs")
	b.ReportAllocs()
	for b.Loop() {
		t.Ended("SendMessage", "200")
	}
}

func BenchmarkEndedParallel(b *testing.B) {
	t := NewTraffic("sqs")
	b.ReportAllocs()
	b.RunParallel(func(p *testing.PB) {
		for p.Next() {
			t.Ended("SendMessage", "200")
		}
	})
}
