package queue

import (
	"fmt"
	"testing"

	"github.com/hikyaku/hikyaku/internal/bench/benchtest"
	"github.com/hikyaku/hikyaku/internal/bench/harness"
	"github.com/hikyaku/hikyaku/internal/condition"
	"github.com/hikyaku/hikyaku/internal/measure"
	"github.com/hikyaku/hikyaku/internal/message"
	"github.com/hikyaku/hikyaku/internal/queue"
)

// The benchmarks here do what the bench does, one work at a time, for go test's profiles. Their figures depend on the
// disk.

func benchRig(b *testing.B, d queue.Definition) *harness.Rig {
	b.Helper()
	r, err := harness.NewRig(b.Context(), b.TempDir(), d, harness.Setting{})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		if err := r.Remove(); err != nil {
			b.Error(err)
		}
	})
	return r
}

// report runs a side for b.N parts of a tenth of a second and tells its rate.
func report(b *testing.B, s harness.Side) {
	b.Helper()
	sum := harness.Total{Calls: measure.NewHistogram()}
	b.ResetTimer()
	for range b.N {
		got, err := s.Run(b.Context(), benchtest.Part)
		if err != nil {
			b.Fatal(err)
		}
		sum.Add(got)
	}
	b.StopTimer()
	b.ReportMetric(float64(sum.N)/sum.Elapsed.Seconds(), "messages/s")
	b.ReportMetric(measure.Milliseconds(sum.Calls.Quantile(0.5)), "p50-ms")
	b.ReportMetric(measure.Milliseconds(sum.Calls.Quantile(0.99)), "p99-ms")
}

func BenchmarkPut(b *testing.B) {
	for _, writers := range []int{1, 16, 64, 256} {
		b.Run(fmt.Sprintf("writers=%d", writers), func(b *testing.B) {
			p := &putter{rig: benchRig(b, queue.Definition{}), writers: writers, group: 1,
				body: harness.MakeBody(harness.BodyBytes)}
			report(b, p)
			b.ReportMetric(p.log.perSync(), "messages/sync")
		})
	}
}

func BenchmarkPutGroup(b *testing.B) {
	p := &putter{rig: benchRig(b, queue.Definition{}), writers: 1, group: 100,
		body: harness.MakeBody(harness.BodyBytes)}
	report(b, p)
}

func BenchmarkPutPipelined(b *testing.B) {
	p := &putter{rig: benchRig(b, queue.Definition{}), writers: 16, group: groupMessages,
		body: harness.MakeBody(harness.BodyBytes)}
	report(b, p)
	b.ReportMetric(p.log.perSync(), "messages/sync")
}

func BenchmarkClaim(b *testing.B) {
	for _, readers := range []int{1, 16} {
		b.Run(fmt.Sprintf("readers=%d", readers), func(b *testing.B) {
			r := benchRig(b, queue.Definition{})
			body := harness.MakeBody(harness.BodyBytes)
			if err := r.Fill(b.Context(), harness.Measured, 6000,
				func() message.Message { return message.Message{Body: body} }); err != nil {
				b.Fatal(err)
			}
			where := func() (*condition.Expr, error) { return nil, nil }
			c := &claimer{rig: r, readers: readers, burst: 1500, where: where, claims: measure.NewHistogram()}
			report(b, c)
			b.ReportMetric(c.log.perSync(), "messages/sync")
		})
	}
}

func BenchmarkClaimDeep(b *testing.B) {
	for _, share := range shares {
		b.Run(fmt.Sprintf("share=%d", share), func(b *testing.B) {
			s := &session{Session: harness.Session{Temp: b.TempDir()}}
			d, err := s.openDeep(b.Context(), 100_000, share, 50)
			if err != nil {
				b.Fatal(err)
			}
			b.Cleanup(func() {
				if err := d.rig.Remove(); err != nil {
					b.Error(err)
				}
			})
			if _, err := d.Run(b.Context(), benchtest.Part); err != nil { // builds
				b.Fatal(err)
			}
			d.looks.times.Reset()
			report(b, d)
			b.ReportMetric(harness.Microseconds(d.looks.times.Quantile(0.99)), "look-p99-us")
		})
	}
}

func BenchmarkHandOver(b *testing.B) {
	for _, others := range []int{0, 1000} {
		b.Run(fmt.Sprintf("others=%d", others), func(b *testing.B) {
			h, err := openHall(b.Context(), b.TempDir(), others)
			if err != nil {
				b.Fatal(err)
			}
			b.Cleanup(func() {
				if err := h.Close(); err != nil {
					b.Error(err)
				}
			})
			report(b, h)
		})
	}
}

func BenchmarkRestart(b *testing.B) {
	for _, how := range []string{startClean, startKilled} {
		b.Run(how, func(b *testing.B) {
			const depth = 100_000
			s := &session{Session: harness.Session{Temp: b.TempDir()}}
			home, err := s.leave(b.Context(), depth, how)
			if err != nil {
				b.Fatal(err)
			}
			o := &opener{home: home, copies: how == startKilled, depth: depth}
			report(b, o)
			b.ReportMetric(float64(o.heap)/depth, "heap-bytes/message")
		})
	}
}
