package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"cloud.google.com/go/pubsub/v2"
	"cloud.google.com/go/pubsub/v2/apiv1/pubsubpb"
	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/known/timestamppb"
)

func emulator() string { return os.Getenv("PUBSUB_EMULATOR_HOST") }

// text is what a message must bring through unchanged; bytes are all that there are.
const text = "こんにちは 🚚 é"

func allBytes() []byte {
	b := make([]byte, 256)
	for i := range b {
		b[i] = byte(i)
	}
	return b
}

// publish publishes texts, all at once, and waits until they are stored.
func (s *session) publish(p *pubsub.Publisher, key string, texts ...string) error {
	var results []*pubsub.PublishResult
	for _, t := range texts {
		results = append(results, p.Publish(s.ctx, &pubsub.Message{Data: []byte(t), OrderingKey: key}))
	}
	for _, r := range results {
		if _, err := r.Get(s.ctx); err != nil {
			return err
		}
	}
	return nil
}

// publishTo is publish with a publisher of its own.
func (s *session) publishTo(id string, texts ...string) error {
	p := s.client.Publisher(id)
	defer p.Stop()
	return s.publish(p, "", texts...)
}

// receive streams until n messages were handled; handle says whether one counts.
func (s *session) receive(id string, n int, handle func(context.Context, *pubsub.Message) bool) error {
	ctx, cancel := context.WithTimeout(s.ctx, patience)
	defer cancel()
	sub := s.client.Subscriber(id)
	var mu sync.Mutex
	left := n
	if err := sub.Receive(ctx, func(ctx context.Context, m *pubsub.Message) {
		counts := handle(ctx, m)
		mu.Lock()
		defer mu.Unlock()
		if counts {
			if left--; left == 0 {
				cancel()
			}
		}
	}); err != nil {
		return err
	}
	if left > 0 {
		return fmt.Errorf("%d of %d messages did not come", left, n)
	}
	return nil
}

// received are the texts of n messages, which are acknowledged.
func (s *session) received(id string, n int) ([]string, error) {
	var mu sync.Mutex
	var texts []string
	err := s.receive(id, n, func(_ context.Context, m *pubsub.Message) bool {
		mu.Lock()
		defer mu.Unlock()
		texts = append(texts, string(m.Data))
		m.Ack()
		return true
	})
	return texts, err
}

// empty demands that a subscription has nothing to give.
func (s *session) empty(id string) error {
	ask := &pubsubpb.PullRequest{Subscription: s.subName(id), MaxMessages: 10}
	//lint:ignore SA1019 a call that returns at once is just what is wanted here
	ask.ReturnImmediately = true
	r, err := s.client.SubscriptionAdminClient.Pull(s.ctx, ask)
	if err == nil && len(r.ReceivedMessages) > 0 {
		err = fmt.Errorf("%s still has %q", id, r.ReceivedMessages[0].Message.Data)
	}
	return err
}

func (s *session) publishPlain() error {
	if err := s.make("plain"); err != nil {
		return err
	}
	p := s.client.Publisher("plain")
	defer p.Stop()
	id, err := p.Publish(s.ctx,
		&pubsub.Message{Data: allBytes(), Attributes: map[string]string{"text": text, "empty": ""}}).Get(s.ctx)
	if err != nil {
		return err
	}
	var got *pubsub.Message
	if err := s.receive("plain", 1, func(_ context.Context, m *pubsub.Message) bool {
		got = m
		m.Ack()
		return true
	}); err != nil {
		return err
	}
	return errors.Join(same(allBytes(), got.Data), same(map[string]string{"text": text, "empty": ""}, got.Attributes),
		same(id, got.ID),
		same(true, time.Since(got.PublishTime).Abs() < time.Minute), s.empty("plain"))
}

// numbered are n texts.
func numbered(n int) []string {
	texts := make([]string, n)
	for i := range texts {
		texts[i] = fmt.Sprintf("message %04d", i)
	}
	return texts
}

func (s *session) publishBatched() error {
	if err := s.make("batched"); err != nil {
		return err
	}
	texts := numbered(2500)
	if err := s.publishTo("batched", texts...); err != nil {
		return err
	}
	got, err := s.received("batched", len(texts))
	slices.Sort(got)
	return errors.Join(err, same(texts, got))
}

func (s *session) publishCompressed() error {
	if err := s.make("compressed"); err != nil {
		return err
	}
	p := s.client.Publisher("compressed")
	p.PublishSettings.EnableCompression, p.PublishSettings.CompressionBytesThreshold = true, 1
	defer p.Stop()
	long := strings.Repeat(text, 10_000)
	if err := s.publish(p, "", long); err != nil {
		return err
	}
	got, err := s.received("compressed", 1)
	return errors.Join(err, same([]string{long}, got))
}

func (s *session) publishOrdered() error {
	if err := s.make("ordered", func(sub *pubsubpb.Subscription) { sub.EnableMessageOrdering = true }); err != nil {
		return err
	}
	p := s.client.Publisher("ordered")
	p.EnableMessageOrdering = true
	defer p.Stop()
	keys := []string{"a", "b", "飛脚"}
	texts := numbered(100)
	for _, key := range keys {
		if err := s.publish(p, key, texts...); err != nil {
			return err
		}
	}
	var mu sync.Mutex
	got := map[string][]string{}
	if err := s.receive("ordered", len(keys)*len(texts), func(_ context.Context, m *pubsub.Message) bool {
		mu.Lock()
		got[m.OrderingKey] = append(got[m.OrderingKey], string(m.Data))
		mu.Unlock()
		m.Ack()
		return true
	}); err != nil {
		return err
	}
	var err error
	for _, key := range keys {
		err = errors.Join(err, same(texts, got[key]))
	}
	return err
}

func (s *session) pull() error {
	if err := s.make("pull"); err != nil {
		return err
	}
	if err := s.publishTo("pull", "one"); err != nil {
		return err
	}
	r, err := s.client.SubscriptionAdminClient.Pull(s.ctx,
		&pubsubpb.PullRequest{Subscription: s.subName("pull"), MaxMessages: 10})
	if err != nil {
		return err
	}
	if len(r.ReceivedMessages) != 1 || string(r.ReceivedMessages[0].Message.Data) != "one" {
		return fmt.Errorf("pulled %v", r.ReceivedMessages)
	}
	ids := []string{r.ReceivedMessages[0].AckId}
	if err := s.client.SubscriptionAdminClient.ModifyAckDeadline(s.ctx,
		&pubsubpb.ModifyAckDeadlineRequest{Subscription: s.subName("pull"), AckIds: ids,
			AckDeadlineSeconds: 60}); err != nil {
		return err
	}
	if err := s.client.SubscriptionAdminClient.Acknowledge(s.ctx,
		&pubsubpb.AcknowledgeRequest{Subscription: s.subName("pull"), AckIds: ids}); err != nil {
		return err
	}
	return s.empty("pull")
}

func (s *session) nack() error {
	if err := s.make("nack"); err != nil {
		return err
	}
	if err := s.publishTo("nack", "again"); err != nil {
		return err
	}
	var mu sync.Mutex
	seen := map[string]int{}
	if err := s.receive("nack", 1, func(_ context.Context, m *pubsub.Message) bool {
		mu.Lock()
		defer mu.Unlock()
		if seen[m.ID]++; seen[m.ID] < 3 {
			m.Nack()
			return false
		}
		m.Ack()
		return true
	}); err != nil {
		return err
	}
	return errors.Join(same(1, len(seen)), s.empty("nack"))
}

func (s *session) exactlyOnce() error {
	if err := s.make("once", func(sub *pubsubpb.Subscription) { sub.EnableExactlyOnceDelivery = true }); err != nil {
		return err
	}
	texts := numbered(50)
	if err := s.publishTo("once", texts...); err != nil {
		return err
	}
	var mu sync.Mutex
	var got []string
	var failed error
	if err := s.receive("once", len(texts), func(ctx context.Context, m *pubsub.Message) bool {
		answer, err := m.AckWithResult().Get(context.WithoutCancel(ctx))
		mu.Lock()
		defer mu.Unlock()
		if err != nil || answer != pubsub.AcknowledgeStatusSuccess {
			failed = fmt.Errorf("acknowledging: %v, %w", answer, err)
		}
		got = append(got, string(m.Data))
		return true
	}); err != nil {
		return err
	}
	slices.Sort(got)
	return errors.Join(failed, same(texts, got), s.staleAck(), s.empty("once"))
}

// staleAck acknowledges with an id whose message was given back: with exactly-once delivery it is refused.
func (s *session) staleAck() error {
	if err := s.publishTo("once", "stale"); err != nil {
		return err
	}
	admin := s.client.SubscriptionAdminClient
	r, err := admin.Pull(s.ctx, &pubsubpb.PullRequest{Subscription: s.subName("once"), MaxMessages: 1})
	if err != nil || len(r.ReceivedMessages) != 1 {
		return fmt.Errorf("pulled %v: %w", r, err)
	}
	old := []string{r.ReceivedMessages[0].AckId}
	if err := admin.ModifyAckDeadline(s.ctx, &pubsubpb.ModifyAckDeadlineRequest{Subscription: s.subName("once"),
		AckIds: old}); err != nil {
		return err
	}
	if r, err = admin.Pull(s.ctx, &pubsubpb.PullRequest{Subscription: s.subName("once"), MaxMessages: 1}); err != nil ||
		len(r.ReceivedMessages) != 1 {
		return fmt.Errorf("pulled again %v: %w", r, err)
	}
	stale := admin.Acknowledge(s.ctx, &pubsubpb.AcknowledgeRequest{Subscription: s.subName("once"), AckIds: old})
	good := admin.Acknowledge(s.ctx, &pubsubpb.AcknowledgeRequest{Subscription: s.subName("once"),
		AckIds: []string{r.ReceivedMessages[0].AckId}})
	return errors.Join(refused(codes.InvalidArgument, stale), good)
}

func (s *session) deadLetter() error {
	if err := s.make("dead"); err != nil {
		return err
	}
	if err := s.make("alive", func(sub *pubsubpb.Subscription) {
		sub.DeadLetterPolicy = &pubsubpb.DeadLetterPolicy{DeadLetterTopic: s.topicName("dead"), MaxDeliveryAttempts: 5}
	}); err != nil {
		return err
	}
	if err := s.publishTo("alive", "poison"); err != nil {
		return err
	}
	var mu sync.Mutex
	var attempts []int
	if err := s.receive("alive", 5, func(_ context.Context, m *pubsub.Message) bool {
		mu.Lock()
		defer mu.Unlock()
		if m.DeliveryAttempt != nil {
			attempts = append(attempts, *m.DeliveryAttempt)
		}
		m.Nack()
		return true
	}); err != nil {
		return err
	}
	var letter *pubsub.Message
	if err := s.receive("dead", 1, func(_ context.Context, m *pubsub.Message) bool {
		letter = m
		m.Ack()
		return true
	}); err != nil {
		return err
	}
	return errors.Join(same([]int{1, 2, 3, 4, 5}, attempts), same("poison", string(letter.Data)),
		same("alive", letter.Attributes["CloudPubSubDeadLetterSourceSubscription"]), s.empty("alive"))
}

func (s *session) seekTime() error {
	if err := s.make("past", func(sub *pubsubpb.Subscription) {
		sub.RetainAckedMessages, sub.MessageRetentionDuration = true, durationpb.New(time.Hour)
	}); err != nil {
		return err
	}
	texts := numbered(20)
	if err := s.publishTo("past", texts...); err != nil {
		return err
	}
	if _, err := s.received("past", len(texts)); err != nil {
		return err
	}
	seek := func(to time.Time) error {
		_, err := s.client.SubscriptionAdminClient.Seek(s.ctx,
			&pubsubpb.SeekRequest{Subscription: s.subName("past"),
				Target: &pubsubpb.SeekRequest_Time{Time: timestamppb.New(to)}})
		return err
	}
	if err := errors.Join(s.empty("past"), seek(time.Now().Add(-time.Hour))); err != nil {
		return err
	}
	got, err := s.received("past", len(texts))
	slices.Sort(got)
	if err := errors.Join(err, same(texts, got), s.publishTo("past", "never seen"),
		seek(time.Now().Add(time.Minute))); err != nil {
		return err
	}
	return s.empty("past")
}

func (s *session) seekSnapshot() error {
	if err := s.make("shot", func(sub *pubsubpb.Subscription) { sub.EnableMessageOrdering = true }); err != nil {
		return err
	}
	p := s.client.Publisher("shot")
	p.EnableMessageOrdering = true
	defer p.Stop()
	texts := numbered(10)
	if err := s.publish(p, "k", texts...); err != nil {
		return err
	}
	name := "projects/" + s.project + "/snapshots/shot"
	if _, err := s.client.SubscriptionAdminClient.CreateSnapshot(s.ctx,
		&pubsubpb.CreateSnapshotRequest{Name: name, Subscription: s.subName("shot")}); err != nil {
		return err
	}
	for range 2 {
		got, err := s.received("shot", len(texts))
		if err := errors.Join(err, same(texts, got)); err != nil {
			return err
		}
		if _, err := s.client.SubscriptionAdminClient.Seek(s.ctx,
			&pubsubpb.SeekRequest{Subscription: s.subName("shot"),
				Target: &pubsubpb.SeekRequest_Snapshot{Snapshot: name}}); err != nil {
			return err
		}
	}
	return s.client.SubscriptionAdminClient.DeleteSnapshot(s.ctx, &pubsubpb.DeleteSnapshotRequest{Snapshot: name})
}

func (s *session) filter() error {
	if err := s.make("filter", func(sub *pubsubpb.Subscription) {
		sub.Filter = `attributes.lang = "ja" OR (attributes:id AND NOT hasPrefix(attributes.id, "x"))`
	}); err != nil {
		return err
	}
	p := s.client.Publisher("filter")
	defer p.Stop()
	for i, a := range []map[string]string{{"lang": "ja"}, {"lang": "en"}, {"id": "y"}, {"id": "xy"}, {"other": ""}} {
		if _, err := p.Publish(s.ctx,
			&pubsub.Message{Data: []byte(fmt.Sprint(i)), Attributes: a}).Get(s.ctx); err != nil {
			return err
		}
	}
	got, err := s.received("filter", 2)
	slices.Sort(got)
	_, bad := s.client.SubscriptionAdminClient.CreateSubscription(s.ctx,
		&pubsubpb.Subscription{Name: s.subName("unfiltered"), Topic: s.topicName("filter"),
			Filter: `attributes.lang = ja`})
	return errors.Join(err, same([]string{"0", "2"}, got), s.empty("filter"), refused(codes.InvalidArgument, bad))
}
