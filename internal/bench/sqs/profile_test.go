package sqs

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"testing"
	"time"

	"github.com/hikyaku/hikyaku/internal/bench/benchtest"
	"github.com/hikyaku/hikyaku/internal/bench/harness"
	"github.com/hikyaku/hikyaku/internal/bench/harness/sqsclient"
	"github.com/hikyaku/hikyaku/internal/measure"
)

// BenchmarkSQS sends, receives and deletes as the bench does, with the server in this process, for go test's profiles.
func BenchmarkSQS(b *testing.B) {
	for _, batch := range []int{1, sqsclient.Most} {
		for _, groups := range []int{0, 100} {
			b.Run(fmt.Sprintf("%s/batch=%d", queueKind(groups), batch),
				func(b *testing.B) { benchSQS(b, groups, batch) })
		}
	}
}

func benchSQS(b *testing.B, groups, batch int) {
	s := &session{extent: whole, payload: string(harness.MakeBody(harness.BodyBytes))}
	p := servedSQS(b)
	q, err := p.NewQueue(groups)
	if err != nil {
		b.Fatal(err)
	}
	c, err := s.light(b.Context(), q, s.many, batch)
	if err != nil {
		b.Fatal(err)
	}
	b.ResetTimer()
	for range b.N {
		if err := c.round(b.Context(), benchtest.Part, 0); err != nil {
			b.Fatal(err)
		}
	}
	b.StopTimer()
	for name, got := range map[string][]harness.Sample{"sent/s": c.sent, "received/s": c.taken} {
		sum := harness.Total{Calls: measure.NewHistogram()}
		for _, one := range got {
			sum.Add(one)
		}
		b.ReportMetric(float64(sum.N)/sum.Elapsed.Seconds(), name)
	}
	if err := c.Close(); err != nil {
		b.Error(err)
	}
}

// servedSQS is our server, in this process.
func servedSQS(tb testing.TB) *sqsclient.Post {
	tb.Helper()
	dir := tb.TempDir()
	in, tell := io.Pipe()
	hear, out := net.Pipe()
	ended := make(chan error, 1)
	go func() { ended <- serveSQS(context.WithoutCancel(tb.Context()), dir, in, out) }()
	child := &harness.Child{Out: bufio.NewReader(hear)}
	said, err := child.Hear()
	if err != nil {
		tb.Fatal(err)
	}
	p, err := sqsclient.OpenPost(tb.Context(), harness.CaseOurs, said.Addr, nil)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		_ = p.Close()
		_ = tell.Close()
		select {
		case err := <-ended:
			if err != nil {
				tb.Error(err)
			}
		case <-time.After(time.Minute):
			tb.Error("the server does not end")
		}
	})
	return p
}
