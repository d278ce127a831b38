package bench

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"time"

	"cloud.google.com/go/pubsub/v2"

	"github.com/hikyaku/hikyaku/internal/measure"
)

// alone is the field report's experiment: a message, its result, the next message.
func (s *publishSession) alone(ctx context.Context, kind string, trip time.Duration, kept bool) error {
	how := "new"
	if kept {
		how = "kept"
	}
	sides, err := s.shooters(ctx, kind, trip, 1, kept)
	defer func() { err = joinCleanup(err, closeAll(sides)) }()
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
	if err = inTurns(ctx, s.lone.rounds, turn{calls: s.lone.per(trip)}, sides, s.step); err != nil {
		return err
	}
	var goals []goal
	switch {
	case kind == serverDurable:
		goals = append(goals, atMost("ratio_limit", 1.25), atMost("ratio_default", 0.0334))
	case trip == 0:
		goals = append(goals, atMost("ratio_raw", 1.25), atMost("ratio_default", 0.0334))
	}
	for _, c := range sides {
		if err := c.worker.(*shooter).sync.check(c, c.sum().n); err != nil { // one at a time: a sync for each
			return err
		}
	}
	s.shots(sides, goals, func(r *measure.Row, c *contender) {
		r.Set("server", kind).Set("rtt_ms", milliseconds(trip)).Set("publisher", how)
		c.worker.(*shooter).sync.tell(r)
	})
	return err
}

// syncedCalls is what nothing durable can be faster than: the unary call to a server that only answers, and then one
// write and one fdatasync.
func (s *publishSession) syncedCalls(ctx context.Context) (c *contender, end func(), err error) {
	topic, err := s.newTopic(ctx, serverInstant, false)
	if err != nil {
		return nil, nil, err
	}
	l, err := s.line(ctx, topic, 0)
	if err != nil {
		return nil, nil, err
	}
	log, err := newRawLog(ctx, s.dir)
	if err != nil {
		return nil, nil, joinCleanup(err, l.close())
	}
	writer, err := log.writer(1, bytesLogged)
	if err != nil {
		return nil, nil, joinCleanup(err, errors.Join(l.close(), log.close()))
	}
	end = func() { _ = log.close() } // everything in it was synced
	return &contender{name: caseLimit, worker: &shooter{line: l, n: 1, kept: true, log: writer}}, end, nil
}

// bursting publishes n messages in a row, again and again.
func (s *publishSession) bursting(ctx context.Context, trip time.Duration, n int) error {
	sides, err := s.shooters(ctx, serverInstant, trip, n, true)
	defer func() { err = joinCleanup(err, closeAll(sides)) }()
	if err != nil {
		return err
	}
	if err = inTurns(ctx, s.burst.rounds, turn{calls: s.burst.per(trip)}, sides, s.step); err != nil {
		return err
	}
	s.shots(sides, []goal{atMost("ratio_count", 1)}, func(r *measure.Row, c *contender) {
		r.Set("server", serverInstant).Set("rtt_ms", milliseconds(trip)).Set("burst", n)
		requested(r, c, c.worker.(*shooter).line)
	})
	return err
}

// shooters are all variants, ours first.
func (s *publishSession) shooters(ctx context.Context, kind string, trip time.Duration, n int,
	kept bool) (sides []*contender, err error) {
	topic, err := s.newTopic(ctx, kind, kind == serverDurable) // what nobody subscribes to is not kept
	if err != nil {
		return nil, err
	}
	for _, v := range []struct {
		name string
		hire hire
	}{{caseOurs, ours}, {caseDefault, google(nil)}, {caseCount, optimised(n)}, {caseRaw, nil}} {
		l, err := s.line(ctx, topic, trip)
		if err != nil {
			return sides, err
		}
		sides = append(sides, &contender{name: v.name, worker: &shooter{line: l, hire: v.hire, kept: kept, n: n,
			sync: keeping(kind, topic)}})
	}
	return sides, nil
}

// shots adds a row a variant: ours, with its ratios to the others.
func (s *publishSession) shots(sides []*contender, goals []goal, identify func(r *measure.Row, c *contender)) {
	work := workLone
	if sides[0].worker.(*shooter).n > 1 {
		work = workBurst
	}
	for i, c := range sides {
		r := s.publishRow(work, c, identify)
		if i > 0 {
			continue
		}
		for j, name := range []string{"ratio_default", "ratio_count", "ratio_raw", "ratio_limit"}[:len(sides)-1] {
			r.Set(name, hundredths(quantile(ratios(c, sides[j+1], byTime(0.5)), 0.5)))
		}
		judge(r, s.Quick, goals...)
	}
}

// publishRow adds a row about a side.
func (s *publishSession) publishRow(work string, c *contender,
	identify func(r *measure.Row, c *contender)) *measure.Row {
	t := c.sum()
	r := s.report.Row(c.name, work)
	identify(r, c)
	return r.Times(t.calls).Rate(t.n, t.elapsed)
}

// requested sets how many messages a request had.
func requested(r *measure.Row, c *contender, l *pubsubLine) {
	r.Set("per_request", hundredths(perRequest(c, l)))
}

func perRequest(c *contender, l *pubsubLine) float64 {
	return float64(c.sum().n) / float64(max(l.requests.Load(), 1))
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
func (s *publishSession) streaming(ctx context.Context, trip time.Duration, rate int) error {
	topic, err := s.newTopic(ctx, serverInstant, false)
	if err != nil {
		return err
	}
	var sides []*contender
	defer func() { err = joinCleanup(err, closeAll(sides)) }()
	add := func(name, setting string, h hire) error {
		l, err := s.line(ctx, topic, trip)
		if err != nil {
			return err
		}
		clock, err := newAlarm()
		if err != nil {
			return joinCleanup(err, l.close())
		}
		w := &sprinkler{line: l, man: h(l), setting: setting, rate: rate, clock: clock,
			dice: rand.New(rand.NewPCG(uint64(rate), 1))}
		sides = append(sides, &contender{name: name, worker: w})
		return nil
	}
	if err = add(caseOurs, "", ours); err != nil {
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
	if err = inTurns(ctx, s.rounds, turn{time: s.slice}, sides, s.step); err != nil {
		return err
	}
	s.streamed(sides, trip, rate)
	return nil
}

// streamed adds a row a variant: ours, compared with that of Google's whose p50 is the least.
func (s *publishSession) streamed(sides []*contender, trip time.Duration, rate int) {
	best := sides[1]
	for _, c := range sides[2:] {
		if c.sum().calls.Quantile(0.5) < best.sum().calls.Quantile(0.5) {
			best = c
		}
	}
	requests := func(c *contender) float64 { return 1 / perRequest(c, c.worker.(*sprinkler).line) }
	for i, c := range sides {
		r := s.publishRow(workPoisson, c, func(r *measure.Row, c *contender) {
			r.Set("server", serverInstant).Set("rtt_ms", milliseconds(trip)).Set("rate", rate)
			if set := c.worker.(*sprinkler).setting; set != "" {
				r.Set("setting", set)
			}
			requested(r, c, c.worker.(*sprinkler).line)
		})
		if i == 0 {
			r.Set("ratio_best", hundredths(quantile(ratios(c, best, byTime(0.5)), 0.5)))
			goals := []goal{atMost("ratio_best", 1.05)}
			r.Set("ratio_requests", hundredths(requests(c)/requests(best)))
			if rate > manyRequests {
				// more of them have to be good for something
				goals = append(goals, atMost("ratio_requests", 1.05).orElse(atMost("ratio_best", 0.95)))
			}
			judge(r, s.Quick, goals...)
		}
	}
}

// manyRequests is the rate above which it matters how many requests a stream takes: a request for each message would be
// too much for the processors.
const manyRequests = 10_000
