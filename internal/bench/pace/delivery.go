package pace

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/hikyaku/hikyaku/internal/bench/harness"
	"github.com/hikyaku/hikyaku/internal/component"
	"github.com/hikyaku/hikyaku/internal/config"
	"github.com/hikyaku/hikyaku/internal/message"
	"github.com/hikyaku/hikyaku/internal/pipeline"
	"github.com/hikyaku/hikyaku/internal/queue"
	tempo "github.com/hikyaku/hikyaku/pace"
)

// pacedConfigs deliver a queue at the bench's rate.
func pacedConfigs() []struct{ name, text string } {
	const graph = `
queues:
  measured: { max_attempts: 0 }
sources:
  waiting: { type: queue, queue: measured }
sinks:
  out: { type: stdout, inputs: [waiting], `
	return []struct{ name, text string }{
		{harness.CaseOurs, graph + "pace: 60000/1001/s }\n"},
		{caseLimited, graph + "batch: { max_events: 1 }, request: { concurrency: 1, rate_limit_num: 60000, " +
			"rate_limit_duration_secs: 1001 } }\n"},
	}
}

// clockedSink notes when each message is sent.
type clockedSink struct {
	component.Sink
	at []time.Time
}

// Send notes the time. The pipeline sends one at a time.
func (c *clockedSink) Send(_ context.Context, batch []*message.Message) ([]component.Outcome, error) {
	c.at = append(c.at, time.Now())
	return make([]component.Outcome, len(batch)), nil
}

// pacedSink measures sinks that are given a rate.
func (s *session) pacedSink(ctx context.Context) error {
	for _, c := range pacedConfigs() {
		r, err := s.sendAll(ctx, c.text, int(tempo.NTSC().Frame(s.others)))
		if err != nil {
			return err
		}
		p := newPaced()
		p.add(r)
		s.paceRow(c.name, workPacedSink, p)
		s.Step()
	}
	return nil
}

// sendAll puts n messages, lets a pipeline send them, and compares that with the rate.
func (s *session) sendAll(ctx context.Context, text string, n int) (report tempo.Report, err error) {
	f, err := config.Parse("paced.yaml", []byte(text), func(string) (string, bool) { return "", false })
	if err != nil {
		return report, err
	}
	r, err := harness.NewRig(ctx, s.Temp, queue.Definition{}, harness.Setting{})
	if err != nil {
		return report, err
	}
	defer func() { err = harness.JoinCleanup(err, r.Remove()) }()
	body := harness.MakeBody(engineBytes)
	if err := r.Fill(ctx, harness.Measured, n,
		func() message.Message { return message.Message{Body: body} }); err != nil {
		return report, err
	}
	built, err := f.Build(r.Store, component.Env{})
	if err != nil {
		return report, err
	}
	sink := new(clockedSink)
	for i := range built.Nodes {
		if built.Nodes[i].Sink != nil {
			sink.Sink, built.Nodes[i].Sink = built.Nodes[i].Sink, sink
		}
	}
	p, err := pipeline.New(built.Nodes, pipeline.Options{Store: r.Store, Finite: true})
	if err != nil {
		return report, err
	}
	if _, err := p.Run(ctx); err != nil {
		return report, err
	}
	if len(sink.at) < n {
		return report, fmt.Errorf("%d messages were sent, %d were put", len(sink.at), n)
	}
	start := gridOf(sink.at)
	return onGrid(sink.at, func(i int64) time.Time { return start.Add(tempo.NTSC().Deadline(i)) }), nil
}

// gridOf is when the first one was due, if none was early.
func gridOf(at []time.Time) time.Time {
	start := at[0]
	for i, t := range at {
		if s := t.Add(-tempo.NTSC().Deadline(int64(i))); s.Before(start) {
			start = s
		}
	}
	return start
}

// onGrid compares moments with those at which they were due.
func onGrid(at []time.Time, due func(i int64) time.Time) (r tempo.Report) {
	for i, t := range at {
		late := max(0, t.Sub(due(int64(i))))
		if late >= tempo.NTSC().Interval() {
			r.Missed++
		}
		r.Records = append(r.Records, tempo.Record{Frame: int64(i), Late: late})
	}
	return r
}

// notBefore measures when messages that sleep come to a reader that waits.
func (s *session) notBefore(ctx context.Context) (err error) {
	r, err := harness.NewRig(ctx, s.Temp, queue.Definition{}, harness.Setting{})
	if err != nil {
		return err
	}
	defer func() { err = harness.JoinCleanup(err, r.Remove()) }()
	n := tempo.NTSC().Frame(s.others)
	start := time.Now().Add(time.Duration(n)*2*time.Microsecond + 100*time.Millisecond).Truncate(time.Microsecond)
	due := func(i int64) time.Time { return start.Add(tempo.NTSC().Deadline(i).Truncate(time.Microsecond)) }
	body, i := harness.MakeBody(engineBytes), int64(-1)
	if err := r.Fill(ctx, harness.Measured, int(n), func() message.Message {
		i++
		return message.Message{Body: body, NotBefore: due(i)}
	}); err != nil {
		return err
	}
	at := make([]time.Time, 0, n)
	for int64(len(at)) < n {
		claims, err := r.Store.Claim(ctx, queue.ClaimRequest{From: []queue.From{{Queue: harness.Measured}},
			Wait: time.Minute})
		if err != nil {
			return err
		}
		if len(claims) == 0 {
			return errors.New("a message that sleeps did not wake")
		}
		at = append(at, time.Now())
	}
	p := newPaced()
	p.add(onGrid(at, due))
	s.paceRow(harness.CaseOurs, workNotBefore, p)
	s.Step()
	return nil
}
