package publish

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"

	"cloud.google.com/go/pubsub/v2"
	"cloud.google.com/go/pubsub/v2/apiv1/pubsubpb"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"

	"github.com/hikyaku/hikyaku/internal/bench/harness"
	"github.com/hikyaku/hikyaku/internal/measure"
)

// pubsubTopic is a topic of a server, perhaps with a subscription of the same id.
type pubsubTopic struct {
	server     *harness.Child
	name       string // full; of the subscription too, but for one word
	subscribed string // the subscription's full name; "": none
	durable    bool   // the server's syncs are counted
}

// newTopic makes a topic that nobody has used before.
func (s *session) newTopic(ctx context.Context, kind string, subscribed bool) (pubsubTopic, error) {
	c, err := s.server(ctx, kind)
	if err != nil {
		return pubsubTopic{}, err
	}
	s.topics++
	t := pubsubTopic{server: c, name: fmt.Sprintf("projects/%s/topics/topic-%d", pubsubProject, s.topics),
		durable: kind == serverDurable}
	if subscribed {
		t.subscribed = fmt.Sprintf("projects/%s/subscriptions/topic-%d", pubsubProject, s.topics)
	}
	if kind == serverInstant {
		return t, nil // it knows none
	}
	return t, t.ask(ctx, func(p pubsubpb.PublisherClient, _ pubsubpb.SubscriberClient) error {
		if _, err := p.CreateTopic(ctx, &pubsubpb.Topic{Name: t.name}); err != nil {
			return fmt.Errorf("make a topic: %w", err)
		}
		return t.subscribe(ctx)
	})
}

// ask calls the server over a connection of its own.
func (t pubsubTopic) ask(ctx context.Context,
	what func(pubsubpb.PublisherClient, pubsubpb.SubscriberClient) error) (err error) {
	conn, err := grpc.NewClient(t.server.Addr, grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		return err
	}
	defer func() { err = harness.JoinCleanup(err, conn.Close()) }()
	return what(pubsubpb.NewPublisherClient(conn), pubsubpb.NewSubscriberClient(conn))
}

func (t pubsubTopic) subscribe(ctx context.Context) error {
	if t.subscribed == "" {
		return nil
	}
	return t.ask(ctx, func(_ pubsubpb.PublisherClient, c pubsubpb.SubscriberClient) error {
		if _, err := c.CreateSubscription(ctx,
			&pubsubpb.Subscription{Name: t.subscribed, Topic: t.name, AckDeadlineSeconds: 60}); err != nil {
			return fmt.Errorf("make a subscription: %w", err)
		}
		return nil
	})
}

// forget lets the server forget what was published.
func (t pubsubTopic) forget(ctx context.Context) error {
	if _, err := t.server.Say(sayForget); err != nil || t.subscribed == "" {
		return err
	}
	err := t.ask(ctx, func(_ pubsubpb.PublisherClient, c pubsubpb.SubscriberClient) error {
		_, err := c.DeleteSubscription(ctx, &pubsubpb.DeleteSubscriptionRequest{Subscription: t.subscribed})
		return err
	})
	if err != nil {
		return fmt.Errorf("drop a subscription: %w", err)
	}
	return t.subscribe(ctx)
}

func (s *session) line(ctx context.Context, t pubsubTopic, trip time.Duration) (*pubsubLine, error) {
	l, err := openPubSub(ctx, t.server.Addr, t.name, trip)
	if err == nil && t.durable {
		l.kept = harness.Keeping(t.server)
	}
	return l, err
}

// flatOut publishes as many messages as it can.
func (s *session) flatOut(ctx context.Context, kind string) (err error) {
	var sides []*harness.Contender
	defer func() { err = harness.JoinCleanup(err, harness.CloseAll(sides)) }()
	for _, v := range []struct {
		name string
		hire hire
	}{{harness.CaseOurs, ours}, {caseDefault, google(nil)}, {caseCount, optimised(mostMessages)}, {caseRaw, nil}} {
		topic, err := s.newTopic(ctx, kind, kind == serverDurable) // what nobody subscribes to is not kept
		if err != nil {
			return err
		}
		l, err := s.line(ctx, topic, 0)
		if err != nil {
			return err
		}
		sides = append(sides, &harness.Contender{Name: v.name,
			Worker: &torrent{line: l, hire: v.hire, after: topic.forget}})
	}
	if err := harness.InTurns(ctx, s.flats, harness.Turn{Calls: s.flat}, sides, s.Step); err != nil {
		return err
	}
	for i, c := range sides {
		kept := c.Worker.(*torrent).line.kept
		if err := kept.CheckApart(c.Name); err != nil {
			return err
		}
		r := s.publishRow(workFlatOut, c, func(r *measure.Row, c *harness.Contender) {
			r.Set("server", kind).Set("rtt_ms", 0.0).Set("bytes", harness.BodyBytes)
			kept.Tell(r)
			requested(r, c, c.Worker.(*torrent).line)
		})
		if i > 0 {
			continue
		}
		for j, name := range []string{"rate_default", "rate_count", "rate_raw"} {
			r.Set(name, harness.Hundredths(harness.Quantile(harness.Ratios(c, sides[j+1], harness.ByRate), 0.5)))
		}
		if kind == serverDurable {
			harness.Judge(r, s.Quick, harness.AtLeast("per_s", 150_000))
		}
	}
	return nil
}

// received lets Google's client take what was published, from our door and from Google's test server.
func (s *session) received(ctx context.Context) (err error) {
	var sides []*harness.Contender
	defer func() { err = harness.JoinCleanup(err, harness.CloseAll(sides)) }()
	for _, kind := range []string{serverDurable, serverGoogle} {
		topic, err := s.newTopic(ctx, kind, true)
		if err != nil {
			return err
		}
		l, err := s.line(ctx, topic, 0)
		if err != nil {
			return err
		}
		w := &receiver{line: l, topic: topic, most: s.stream}
		if kind == serverGoogle {
			w.most = min(w.most, s.ticks)
		}
		sides = append(sides, &harness.Contender{Name: kind, Worker: w})
	}
	if err := harness.InTurns(ctx, s.flats, harness.Turn{Calls: s.stream}, sides, s.Step); err != nil {
		return err
	}
	for i, c := range sides {
		r := s.publishRow(workStream, c, func(r *measure.Row, c *harness.Contender) {
			r.Set("server", c.Name).Set("rtt_ms", 0.0).Set("bytes", harness.BodyBytes)
		})
		if i == 0 {
			r.Set("rate_pstest", harness.Hundredths(harness.Quantile(harness.Ratios(c, sides[1], harness.ByRate), 0.5)))
			harness.Judge(r, s.Quick, harness.AtLeast("rate_pstest", 0.9))
		}
	}
	return nil
}

// receiver takes what it has published before, with Google's client, and acknowledges it. A slice has but one call.
type receiver struct {
	line  *pubsubLine
	topic pubsubTopic
	most  int
}

func (w *receiver) Work(ctx context.Context, t harness.Turn) (s harness.Sample, err error) {
	if err := w.topic.forget(ctx); err != nil {
		return s, err
	}
	t.Calls = min(t.Calls, w.most)
	fill := torrent{line: w.line}
	if err := fill.raw(ctx, t.Calls, harness.MakeBody(harness.BodyBytes)); err != nil {
		return s, err
	}
	sub := w.line.client.Subscriber(w.topic.subscribed)
	sub.ReceiveSettings.MaxOutstandingMessages = 10_000
	ctx, done := context.WithCancel(ctx)
	defer done()
	var got atomic.Int64
	began := time.Now()
	err = sub.Receive(ctx, func(_ context.Context, m *pubsub.Message) {
		m.Ack()
		if got.Add(1) == int64(t.Calls) {
			s.Elapsed = time.Since(began)
			done()
		}
	})
	s.N = int64(t.Calls)
	s.Calls = append(s.Calls, s.Elapsed)
	if err == nil && got.Load() < s.N {
		err = ctx.Err()
	}
	return s, err
}

func (w *receiver) Close() error { return w.line.Close() }
