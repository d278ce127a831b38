package pubsub

import (
	"context"
	"time"

	"cloud.google.com/go/pubsub/v2/apiv1/pubsubpb"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/hikyaku/hikyaku/internal/access"
	"github.com/hikyaku/hikyaku/internal/api/pubsub/filter"
	"github.com/hikyaku/hikyaku/internal/queue"
)

// describe is a subscription as its clients see it: what the store says, and for the rest the note.
func (d *Server) describe(ctx context.Context, sub *subscription, r resource) (*pubsubpb.Subscription, error) {
	s := new(pubsubpb.Subscription)
	if sub.note != nil {
		s = proto.CloneOf(sub.note)
	}
	s.Name, s.Topic, s.State = r.String(), d.topicOf(sub, r.project), pubsubpb.Subscription_ACTIVE
	if s.PushConfig == nil { // as with Google, whose clients look into it
		s.PushConfig = new(pubsubpb.PushConfig)
	}
	if sub.detached() {
		return s, d.deletedSince(ctx, s)
	}
	def := &sub.def
	s.AckDeadlineSeconds = int32(sub.deadline().Round(time.Second) / time.Second)
	s.Labels = def.Labels
	s.EnableMessageOrdering = !def.Unordered
	s.EnableExactlyOnceDelivery = def.ExactlyOnce
	s.MessageRetentionDuration = nil
	if def.Retention > 0 {
		s.MessageRetentionDuration = durationpb.New(def.Retention)
	}
	if sub.note == nil {
		s.RetainAckedMessages = def.History > 0
		s.Filter = def.Filter // by the store's language: it was written in that
	}
	s.DeadLetterPolicy = nil
	if def.MaxAttempts > 0 {
		letters, err := queue.ParseName(def.DeadLetter)
		if err == nil {
			s.DeadLetterPolicy = &pubsubpb.DeadLetterPolicy{
				DeadLetterTopic:     d.resourceOf(letters, kindTopic, r.project).String(),
				MaxDeliveryAttempts: int32(min(def.MaxAttempts, 1<<30)),
			}
		}
	}
	if def.Topic != "" {
		topic, err := queue.ParseName(def.Topic)
		if err != nil {
			return nil, err
		}
		if s.TopicMessageRetentionDuration, err = d.topicRetention(ctx, topic); err != nil {
			return nil, err
		}
	}
	return s, nil
}

// topicRetention is how long a topic wants its messages kept; nil: it does not say.
func (d *Server) topicRetention(ctx context.Context, n queue.Name) (*durationpb.Duration, error) {
	t := new(pubsubpb.Topic)
	if _, err := d.recall(ctx, noteKey(kindTopic, d.store.Resolve(n)), t); err != nil {
		return nil, err
	}
	return t.MessageRetentionDuration, nil
}

// history is how long settled messages of a subscription are kept: as long as it says, or its topic.
func (d *Server) history(ctx context.Context, s *pubsubpb.Subscription, topic queue.Name) (time.Duration, error) {
	var keep time.Duration
	if s.RetainAckedMessages {
		keep = s.MessageRetentionDuration.AsDuration()
	}
	if topic != (queue.Name{}) {
		t, err := d.topicRetention(ctx, topic)
		if err != nil {
			return 0, err
		}
		keep = max(keep, t.AsDuration())
	}
	return keep, nil
}

// definition is the queue that a new subscription is.
func (d *Server) definition(ctx context.Context, s *pubsubpb.Subscription, t resource) (queue.Definition, error) {
	def, err := d.alteredDefinition(ctx, s, t.name(), queue.Definition{})
	if err != nil {
		return def, err
	}
	def.Topic = t.name().String()
	def.Unordered = !s.EnableMessageOrdering
	if s.Filter != "" {
		f, err := filter.Parse(s.Filter)
		if err != nil {
			return def, invalid("filter", "%v", err)
		}
		if !f.All() {
			def.Filter = f.Condition(queue.AttributeName)
		}
	}
	return def, nil
}

// alteredDefinition is a definition with what can be changed of a subscription set as s says.
func (d *Server) alteredDefinition(ctx context.Context, s *pubsubpb.Subscription, topic queue.Name,
	def queue.Definition) (queue.Definition, error) {
	def.Lease = time.Duration(s.AckDeadlineSeconds) * time.Second
	def.Retention = s.MessageRetentionDuration.AsDuration()
	def.ExactlyOnce = s.EnableExactlyOnceDelivery
	def.Labels = s.Labels
	keep, err := d.history(ctx, s, topic)
	if err != nil {
		return def, err
	}
	// else it is another door's queue: what it says stays
	if s.MessageRetentionDuration != nil || !s.RetainAckedMessages {
		def.History = keep
	}
	p := s.DeadLetterPolicy
	if p == nil {
		if def.MaxAttempts > 0 {
			def.MaxAttempts, def.DeadLetter = 0, ""
		}
		return def, nil
	}
	letters, err := parseResource("dead_letter_policy.dead_letter_topic", p.DeadLetterTopic, kindTopic)
	if err != nil {
		return def, err
	}
	to := d.store.Resolve(letters.name()).String()
	if to != def.DeadLetter { // else it is as it was, and perhaps made with the first letter
		// Whose messages die there writes to it.
		if err := d.allow(ctx, access.Put, letters); err != nil {
			return def, err
		}
		if ok, err := d.isTopic(ctx, letters); err != nil {
			return def, err
		} else if !ok {
			return def, notFound(letters)
		}
	}
	def.MaxAttempts, def.DeadLetter = int(p.MaxDeliveryAttempts), to
	return def, nil
}

// deletedSince lets a detached subscription, which the store no longer knows the topic of, say that this was deleted.
func (d *Server) deletedSince(ctx context.Context, s *pubsubpb.Subscription) error {
	t, err := parseResource("topic", s.Topic, kindTopic)
	if err != nil {
		return nil // it says already that there is none
	}
	there, err := d.isTopic(ctx, t)
	if err == nil && !there {
		s.Topic = deletedTopic
	}
	return err
}
