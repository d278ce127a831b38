package push

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"github.com/hikyaku/hikyaku/internal/bench/harness"
	"github.com/hikyaku/hikyaku/internal/measure"
	"github.com/hikyaku/hikyaku/internal/sandbox/push/farend"
)

// seedSender is one of the four.
type seedSender struct {
	name  string
	trial func(messages int) (pushed, error)
	close func() error
}

// reported are the means, in milliseconds, that the field report gives for a thousand messages, and for other numbers
// where it does.
var reported = map[string]map[int]float64{
	caseFirst: {100: 1886, 500: 5084, 1000: 8625, 2000: 16_000},
	caseFix1:  {100: 1693, 500: 2991, 1000: 4092, 2000: 7245},
	caseFix2:  {1000: 2853},
}

// seedConnections is how many connections ours may have. pushy has one a client, and in its second fix, one.
const seedConnections = 8

// seed lets the four senders work through queues of several lengths.
func (s *session) seed(ctx context.Context) (err error) {
	var ends []func() error
	defer func() { err = harness.JoinCleanup(err, closeThem(ends...)) }()
	far, err := startSandbox(ctx, s.Push, filepath.Join(s.Temp, "seed"), farend.Behaviour{})
	if err != nil {
		return err
	}
	ends = append(ends, far.close)
	capacity, err := s.capacity(ctx, far)
	if err != nil {
		return err
	}
	if err := far.behave(seedBehaviour()); err != nil {
		return err
	}
	senders, err := s.seedSenders(ctx, far)
	for _, c := range slices.Backward(senders) { // ours, from which the others receive, ends last
		ends = append(ends, c.close)
	}
	if err != nil {
		return err
	}
	for _, c := range senders {
		warm := s.warm
		if c.name == caseFirst || c.name == caseFix1 {
			warm /= 10
		}
		if _, err := c.trial(warm); err != nil {
			return err
		}
	}
	for _, messages := range s.messages {
		if err := s.seedOf(ctx, far, senders, messages, capacity); err != nil {
			return err
		}
	}
	return nil
}

// capacity is how many pushes a second the sandbox takes through as many connections as ours may have, with a row that
// says so; 0 when h2load is not here.
func (s *session) capacity(ctx context.Context, far *farEnd) (float64, error) {
	if !harness.Has("h2load") {
		return 0, nil
	}
	l, err := h2load(ctx, far, s.Temp, s.pushes, seedConnections)
	if err != nil {
		return 0, err
	}
	if l.failed > 0 {
		return 0, fmt.Errorf("the sandbox refused %d of %d pushes of h2load", l.failed, s.pushes)
	}
	s.Report.Row(harness.CaseLimit, workSeed).Set("server", farSandbox).Set("n", s.pushes).Rate(int64(s.pushes),
		time.Duration(float64(s.pushes)/l.perSecond*float64(time.Second))).
		Set("cpu_us", harness.Hundredths(float64(l.cpu.Microseconds())/float64(s.pushes)))
	return l.perSecond, nil
}

// seedSenders starts the senders, ours last, as the report's tables go. All receive from the SQS door of our pipeline's
// process, each from a queue of its own.
func (s *session) seedSenders(ctx context.Context, far *farEnd) (senders []*seedSender, err error) {
	p, err := s.startPipeline(ctx, far, kindPosted, seedConnections)
	if err != nil {
		return nil, err
	}
	var at harness.Served
	if err := p.Hear(&at); err != nil {
		return nil, err
	}
	from, err := newCollector(ctx, at.Addr)
	if err != nil {
		return nil, harness.JoinCleanup(err, p.Close())
	}
	ours := &seedSender{harness.CaseOurs, nil, func() error { return errors.Join(from.Close(), p.Close()) }}
	url, err := from.url(harness.Measured.Name)
	if err != nil {
		return []*seedSender{ours}, err
	}
	ours.trial = func(messages int) (pushed, error) {
		return from.trial(ctx, seedProgram{p.Talker, url, seedLine}, messages)
	}
	if !s.hasClients() {
		return []*seedSender{ours}, nil
	}
	for _, version := range []string{caseFirst, caseFix1, caseFix2} {
		q, err := from.post.NewQueue(0)
		if err != nil {
			return append(senders, ours), err
		}
		t, err := harness.StartTalker(ctx, version,
			s.java("Seed", append(far.flags(), "--version", version, "--queue", q.URL)...)...)
		if err != nil {
			return append(senders, ours), err
		}
		senders = append(senders, &seedSender{version, func(messages int) (pushed, error) {
			return from.trial(ctx, seedProgram{t, q.URL, strconv.Itoa}, messages)
		}, t.Close})
	}
	return append(senders, ours), nil
}

// seedLine asks our pipeline for a trial.
func seedLine(messages int) string {
	return fmt.Sprintf(`{"messages": %d, "users": %d}`, messages, usersOfMessage)
}

// seedSum is what a sender did with queues of one length.
type seedSum struct {
	times       *measure.Histogram // of each user, from the dequeue of the user's own message
	first       *measure.Histogram // likewise, from the first dequeue of the trial
	failed      int
	cpu         int64 // µs
	turned      int64 // connections turned away
	connections int64 // that it made
}

// seedOf lets the senders take turns with queues of one length.
func (s *session) seedOf(ctx context.Context, far *farEnd, senders []*seedSender, messages int,
	capacity float64) error {
	sums := make([]seedSum, len(senders))
	for i := range sums {
		sums[i].times, sums[i].first = measure.NewHistogram(), measure.NewHistogram()
	}
	for range s.trials {
		for i, c := range senders {
			if _, err := far.counts(); err != nil {
				return err
			}
			took, err := c.trial(messages)
			if err != nil {
				return err
			}
			if err := ctx.Err(); err != nil {
				return err
			}
			seen, err := far.counts()
			if err != nil {
				return err
			}
			sums[i].add(took, seen)
		}
		s.Step()
	}
	s.seedRows(senders, sums, messages, capacity)
	return nil
}

func (t *seedSum) add(p pushed, seen farend.Counts) {
	for _, us := range p.OwnUS {
		t.times.Record(time.Duration(us) * time.Microsecond)
	}
	for _, us := range p.TimesUS {
		t.first.Record(time.Duration(us) * time.Microsecond)
	}
	t.failed += p.Failed
	t.cpu += p.CPUUS
	t.turned += seen.TurnedAway
	t.connections += seen.Connections
}

// seedRows adds the report's table for queues of one length: ours with its ratios to the second fix, and to the bound.
func (s *session) seedRows(senders []*seedSender, sums []seedSum, messages int, capacity float64) {
	var fix2 *seedSum
	for i, c := range senders {
		t := &sums[i]
		if c.name == caseFix2 {
			fix2 = t
		}
		r := s.Report.Row(c.name, workSeed).Set("messages", messages).Times(t.times)
		r.Set("cpu_us", harness.Hundredths(float64(t.cpu)/float64(t.times.Count()))).Set("connections",
			t.connections/int64(s.trials))
		r.Set("turned_away", t.turned/int64(s.trials)).Set("failed", t.failed/s.trials)
		r.Set("first_mean_ms", measure.Milliseconds(t.first.Mean())).Set("first_p99_ms",
			measure.Milliseconds(t.first.Quantile(0.99)))
		if ms, ok := reported[c.name][messages]; ok {
			r.Set("report_ms", ms)
		}
		if c.name != harness.CaseOurs {
			continue
		}
		var goals []harness.Goal
		if fix2 != nil {
			r.Set("mean_fix2", harness.Hundredths(over(t.times.Mean(), fix2.times.Mean()))).Set("p99_fix2",
				harness.Hundredths(over(t.times.Quantile(0.99), fix2.times.Quantile(0.99))))
			r.Set("first_mean_fix2", harness.Hundredths(over(t.first.Mean(), fix2.first.Mean()))).Set("first_p99_fix2",
				harness.Hundredths(over(t.first.Quantile(0.99), fix2.first.Quantile(0.99))))
			if messages == 1000 {
				goals = append(goals, harness.AtMost("mean_fix2", 0.5), harness.AtMost("p99_fix2", 0.5))
			}
		}
		if capacity > 0 {
			b := boundOf(seedLatency, messages*usersOfMessage, seedConnections*pushStreams, capacity)
			r.Set("bound_mean_ms", measure.Milliseconds(b.mean)).Set("bound_p99_ms", measure.Milliseconds(b.p99))
			// it, too, is of all that come at once
			r.Set("mean_bound", harness.Hundredths(over(t.first.Mean(), b.mean))).Set("p99_bound",
				harness.Hundredths(over(t.first.Quantile(0.99), b.p99)))
			if messages == 1000 {
				goals = append(goals, harness.AtMost("mean_bound", 1.3), harness.AtMost("p99_bound", 1.3))
			}
		}
		harness.Judge(r, s.Quick, goals...)
	}
}

func over(a, b time.Duration) float64 { return float64(a) / float64(b) }
