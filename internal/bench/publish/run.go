package publish

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"time"

	"cloud.google.com/go/pubsub/v2"

	"github.com/hikyaku/hikyaku/internal/bench/harness"
	"github.com/hikyaku/hikyaku/internal/measure"
)

// alone is the field report's experiment: a message, its result, the next message.
func (s *session) alone(ctx context.Context, kind string, trip time.Duration, kept bool) error {
	how := "new"
	if kept {
		how = "kept"
	}
	sides, err := s.shooters(ctx, kind, trip, 1, kept)
	defer func() { err = harness.JoinCleanup(err, harness.CloseAll(sides)) }()
	if err != nil {
		return err
	}
	if kind == serverDurable {
		limit, end, err := s.syncedCalls(ctx)
		if err != nil {
			return err
		}
		defer end()
		sides = append(sides, limit)
	}
	if err = harness.InTurns(ctx, s.lone.rounds, harness.Turn{Calls: s.lone.per(trip)}, sides, s.Step); err != nil {
		return err
	}
	var goals []harness.Goal
	switch {
	case kind == serverDurable:
		goals = append(goals, harness.AtMost("ratio_limit", 1.25), harness.AtMost("ratio_default", 0.0334))
	case trip == 0:
		goals = append(goals, harness.AtMost("ratio_raw", 1.25), harness.AtMost("ratio_default", 0.0334))
	}
	for _, c := range sides {
		// one at a time: a sync for each
		if err := c.Worker.(*shooter).line.kept.Check(c.Name, c.Sum().N, 1); err != nil {
			return err
		}
	}
	s.shots(sides, goals, func(r *measure.Row, c *harness.Contender) {
		r.Set("server", kind).Set("rtt_ms", harness.Milliseconds(trip)).Set("publisher", how)
		c.Worker.(*shooter).line.kept.Tell(r)
	})
	return err
}

// syncedCalls is what nothing durable can be faster than: the unary call to a server that only answers, and then one
// write and one fdatasync.
func (s *session) syncedCalls(ctx context.Context) (c *harness.Contender, end func(), err error) {
	topic, err := s.newTopic(ctx, serverInstant, false)
	if err != nil {
		return nil, nil, err
	}
	l, err := s.line(ctx, topic, 0)
	if err != nil {
		return nil, nil, err
	}
	log, err := harness.NewRawLog(ctx, s.Temp)
	if err != nil {
		return nil, nil, harness.JoinCleanup(err, l.Close())
	}
	writer, err := log.Writer(1, harness.BytesLogged)
	if err != nil {
		return nil, nil, harness.JoinCleanup(err, errors.Join(l.Close(), log.Close()))
	}
	end = func() { _ = log.Close() } // everything in it was synced
	return &harness.Contender{Name: harness.CaseLimit, Worker: &shooter{line: l, n: 1, kept: true, log: writer}}, end,
		nil
}

// bursting publishes n messages in a row, again and again.
func (s *session) bursting(ctx context.Context, kind string, trip time.Duration, n int) error {
	sides, err := s.shooters(ctx, kind, trip, n, true)
	defer func() { err = harness.JoinCleanup(err, harness.CloseAll(sides)) }()
	if err != nil {
		return err
	}
	if err = harness.InTurns(ctx, s.burst.rounds, harness.Turn{Calls: s.burst.per(trip)}, sides, s.Step); err != nil {
		return err
	}
	for _, c := range sides {
		// none begins before the last result of the one before
		if err := c.Worker.(*shooter).line.kept.Check(c.Name, c.Sum().N/int64(n), 1); err != nil {
			return err
		}
	}
	var goals []harness.Goal
	if kind == serverInstant {
		goals = append(goals, harness.AtMost("ratio_count", 1))
	}
	s.shots(sides, goals, func(r *measure.Row, c *harness.Contender) {
		r.Set("server", kind).Set("rtt_ms", harness.Milliseconds(trip)).Set("burst", n)
		requested(r, c, c.Worker.(*shooter).line)
		c.Worker.(*shooter).line.kept.Tell(r)
	})
	return err
}

// shooters are all variants, ours first.
func (s *session) shooters(ctx context.Context, kind string, trip time.Duration, n int,
	kept bool) (sides []*harness.Contender, err error) {
	topic, err := s.newTopic(ctx, kind, kind == serverDurable) // what nobody subscribes to is not kept
	if err != nil {
		return nil, err
	}
	for _, v := range []struct {
		name string
		hire hire
	}{{harness.CaseOurs, ours}, {caseDefault, google(nil)}, {caseCount, optimised(n)}, {caseRaw, nil}} {
		l, err := s.line(ctx, topic, trip)
		if err != nil {
			return sides, err
		}
		sides = append(sides, &harness.Contender{Name: v.name,
			Worker: &shooter{line: l, hire: v.hire, kept: kept, n: n}})
	}
	return sides, nil
}

// shots adds a row a variant: ours, with its ratios to the others.
func (s *session) shots(sides []*harness.Contender, goals []harness.Goal,
	identify func(r *measure.Row, c *harness.Contender)) {
	work := workLone
	if sides[0].Worker.(*shooter).n > 1 {
		work = workBurst
	}
	for i, c := range sides {
		r := s.publishRow(work, c, identify)
		if i > 0 {
			continue
		}
		for j, name := range []string{"ratio_default", "ratio_count", "ratio_raw", "ratio_limit"}[:len(sides)-1] {
			r.Set(name, harness.Hundredths(harness.Quantile(harness.Ratios(c, sides[j+1], harness.ByTime(0.5)), 0.5)))
		}
		harness.Judge(r, s.Quick, goals...)
	}
}

// publishRow adds a row about a side.
func (s *session) publishRow(work string, c *harness.Contender,
	identify func(r *measure.Row, c *harness.Contender)) *measure.Row {
	t := c.Sum()
	r := s.Report.Row(c.Name, work)
	identify(r, c)
	return r.Times(t.Calls).Rate(t.N, t.Elapsed)
}

// requested sets how many messages a request had.
func requested(r *measure.Row, c *harness.Contender, l *pubsubLine) {
	r.Set("per_request", harness.Hundredths(perRequest(c, l)))
}

func perRequest(c *harness.Contender, l *pubsubLine) float64 {
	return float64(c.Sum().N) / float64(max(l.requests.Load(), 1))
}

// sdkSettings are Google's publisher as it may be set for a stream. Which is best depends on the stream.
var sdkSettings = []struct {
	name, setting string
	most          int // messages a second; more would take both processors and more
	hire          hire
}{
	{caseDefault, "100, 10 ms", math.MaxInt, google(nil)},
	{caseCount, "1", manyRequests,
		google(func(s *pubsub.PublishSettings) { s.CountThreshold, s.NumGoroutines = 1, sdkRequests })},
	{caseCount, "10, 10 ms", math.MaxInt,
		google(func(s *pubsub.PublishSettings) { s.CountThreshold, s.NumGoroutines = 10, sdkRequests })},
	{caseCount, "100, 1 ms", math.MaxInt,
		google(func(s *pubsub.PublishSettings) { s.DelayThreshold, s.NumGoroutines = time.Millisecond, sdkRequests })},
}

// sdkRequests is how many requests Google's publisher may have in flight where it is set well: the default, 25 a
// processor, is too few for a service that is far.
const sdkRequests = 1000

// streaming publishes messages that come by chance.
func (s *session) streaming(ctx context.Context, kind string, trip time.Duration, rate int) error {
	topic, err := s.newTopic(ctx, kind, kind == serverDurable) // what nobody subscribes to is not kept
	if err != nil {
		return err
	}
	var sides []*harness.Contender
	defer func() { err = harness.JoinCleanup(err, harness.CloseAll(sides)) }()
	add := func(name, setting string, h hire) error {
		l, err := s.line(ctx, topic, trip)
		if err != nil {
			return err
		}
		clock, err := newAlarm()
		if err != nil {
			return harness.JoinCleanup(err, l.Close())
		}
		w := &sprinkler{line: l, man: h(l), setting: setting, rate: rate, clock: clock,
			dice: rand.New(rand.NewPCG(uint64(rate), 1))}
		sides = append(sides, &harness.Contender{Name: name, Worker: w})
		return nil
	}
	if err = add(harness.CaseOurs, "", ours); err != nil {
		return err
	}
	for _, v := range sdkSettings {
		if rate > v.most {
			continue
		}
		if err = add(v.name, v.setting, v.hire); err != nil {
			return err
		}
	}
	if err = harness.InTurns(ctx, s.rounds, harness.Turn{Time: s.slice}, sides, s.Step); err != nil {
		return err
	}
	for _, c := range sides {
		if err := c.Worker.(*sprinkler).line.kept.CheckApart(c.Name); err != nil {
			return err
		}
	}
	s.streamed(sides, kind, trip, rate)
	return topic.forget(ctx)
}

// streamed adds a row a variant: ours, compared with that of Google's whose p50 is the least.
func (s *session) streamed(sides []*harness.Contender, kind string, trip time.Duration, rate int) {
	best := sides[1]
	for _, c := range sides[2:] {
		if c.Sum().Calls.Quantile(0.5) < best.Sum().Calls.Quantile(0.5) {
			best = c
		}
	}
	requests := func(c *harness.Contender) float64 { return 1 / perRequest(c, c.Worker.(*sprinkler).line) }
	for i, c := range sides {
		r := s.publishRow(workPoisson, c, func(r *measure.Row, c *harness.Contender) {
			r.Set("server", kind).Set("rtt_ms", harness.Milliseconds(trip)).Set("rate", rate)
			if set := c.Worker.(*sprinkler).setting; set != "" {
				r.Set("setting", set)
			}
			requested(r, c, c.Worker.(*sprinkler).line)
			c.Worker.(*sprinkler).line.kept.Tell(r)
		})
		if i == 0 {
			r.Set("ratio_best", harness.Hundredths(harness.Quantile(harness.Ratios(c, best, harness.ByTime(0.5)), 0.5)))
			r.Set("ratio_requests", harness.Hundredths(requests(c)/requests(best)))
			if kind != serverInstant {
				continue // nothing is asked: syncs of a disk are in it
			}
			goals := []harness.Goal{harness.AtMost("ratio_best", 1.05)}
			if rate > manyRequests {
				// more of them have to be good for something
				goals = append(goals, harness.AtMost("ratio_requests", 1.05).OrElse(harness.AtMost("ratio_best", 0.95)))
			}
			harness.Judge(r, s.Quick, goals...)
		}
	}
}

// manyRequests is the rate above which it matters how many requests a stream takes: a request for each message would be
// too much for the processors.
const manyRequests = 10_000
