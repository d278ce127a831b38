package campaign

import (
	"syscall"
	"testing"
	"time"

	"github.com/hikyaku/hikyaku/internal/journal"
	"github.com/hikyaku/hikyaku/internal/sandbox/push/farend"
)

// BenchmarkDurablePath is the whole way of a push: claimed from a durable queue, pushed to a sandbox in this process
// over TLS, settled durably. cpu-µs/op is what both sides spend together; a profile tells them apart.
func BenchmarkDurablePath(b *testing.B) {
	for name, behaviour := range map[string]farend.Behaviour{
		"at once":  {},
		"in 40 ms": {Latency: farend.Latency{Median: ms(40), Sigma: 0.5}},
	} {
		b.Run(name, func(b *testing.B) {
			tr := newTrial(b, journal.Fsync, behaviour)
			tr.put(b, b.N, nil)
			b.ReportAllocs()
			b.ResetTimer()
			began := spent(b)
			r := tr.run(b)
			b.ReportMetric(float64(spent(b)-began)/float64(b.N)/1000, "cpu-µs/op")
			b.StopTimer()
			if r.Delivered != uint64(b.N) {
				b.Errorf("%+v", r)
			}
		})
	}
}

// spent is the time that this process has had on all processors.
func spent(b *testing.B) time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
