package pubsub

import (
	"context"
	"errors"

	"cloud.google.com/go/pubsub/v2/apiv1/pubsubpb"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/emptypb"

	"github.com/hikyaku/hikyaku/internal/access"
	"github.com/hikyaku/hikyaku/internal/message"
	"github.com/hikyaku/hikyaku/internal/queue"
)

// subscriberService is google.pubsub.v1.Subscriber. Pull and StreamingPull go another way: see register.
type subscriberService struct {
	pubsubpb.UnimplementedSubscriberServer
	d *Server
}

func isNotFound(err error) bool {
	var none *missing
	return errors.As(err, &none) || status.Code(err) == codes.NotFound || errors.Is(err, queue.ErrNotFound)
}

// newID is an id for what a client did not name.
func newID() string { return "id-" + message.NewID().String() }

// CreateSubscription makes a subscription, which is a queue.
func (s subscriberService) CreateSubscription(ctx context.Context, req *pubsubpb.Subscription) (*pubsubpb.Subscription,
	error) {
	d := s.d
	t, err := parseResource("topic", req.Topic, kindTopic)
	if err != nil {
		return nil, err
	}
	want := proto.CloneOf(req)
	if want.Name == "" {
		want.Name = t.of(kindSubscription, newID()).String()
	}
	r, err := parseResource("name", want.Name, kindSubscription)
	if err != nil {
		return nil, err
	}
	if err := r.checkNew("name"); err != nil {
		return nil, err
	}
	if err := d.allow(ctx, access.Admin, r); err != nil {
		return nil, err
	}
	// Who subscribes sees what is published: that is to take from the topic.
	if err := d.allow(ctx, access.Take, t); err != nil {
		return nil, err
	}
	want.Detached = false
	if err := d.fillSubscription(want, nil); err != nil {
		return nil, err
	}
	d.admin.Lock()
	defer d.admin.Unlock()
	sub, err := anew(func() (*subscription, error) { return d.createSubscription(ctx, r, t, want) })
	if err != nil {
		return nil, err
	}
	d.used(sub.name)
	if sub.push {
		d.pushers.look()
	}
	return d.describe(ctx, sub, r)
}

// createSubscription makes a subscription of a topic.
func (d *Server) createSubscription(ctx context.Context, r, t resource, want *pubsubpb.Subscription) (*subscription,
	error) {
	n := d.store.Resolve(r.name())
	// The note first: a subscription is made together with it.
	is, err := d.recall(ctx, noteKey(kindSubscription, n), new(pubsubpb.Subscription))
	if err != nil {
		return nil, err
	}
	if _, err := d.subscription(ctx, r); err == nil {
		return nil, exists(r)
	} else if !isNotFound(err) {
		return nil, err
	}
	if there, err := d.store.HasTopic(ctx, t.name()); err != nil {
		return nil, err
	} else if !there {
		if ok, err := d.isTopic(ctx, t); err != nil {
			return nil, err
		} else if ok {
			return nil, status.Errorf(codes.FailedPrecondition, "%s is a queue that is its own topic: make a topic "+
				"to have subscriptions of it", t)
		}
		return nil, notFound(t)
	}
	def, err := d.definition(ctx, want, t)
	if err != nil {
		return nil, err
	}
	err = d.rememberSubscription(ctx, is, want, func(ctx context.Context, is queue.NoteIs, notes ...queue.Note) error {
		_, err := d.store.Noted(notes...).If(is).CreateQueue(ctx, n, def)
		return err
	})
	if errors.Is(err, queue.ErrExists) {
		return nil, exists(r) // made by another door at this moment
	}
	if err != nil {
		return nil, err
	}
	return d.subscription(ctx, r)
}

// rememberSubscription keeps what the store does not know of a subscription, together with what define defines. The
// note has all that can be changed, so that with each change it is another one.
func (d *Server) rememberSubscription(ctx context.Context, is queue.NoteIs, s *pubsubpb.Subscription,
	define setter) error {
	note := proto.CloneOf(s)
	note.Tags, note.State, note.AnalyticsHubSubscriptionInfo, note.TopicMessageRetentionDuration = nil, 0, nil, nil
	return d.remember(ctx, is, define, note)
}

// GetSubscription describes a subscription.
func (s subscriberService) GetSubscription(ctx context.Context,
	req *pubsubpb.GetSubscriptionRequest) (*pubsubpb.Subscription, error) {
	d := s.d
	r, err := parseResource("subscription", req.Subscription, kindSubscription)
	if err != nil {
		return nil, err
	}
	if err := d.seen(ctx, r); err != nil {
		return nil, err
	}
	sub, err := d.subscription(ctx, r)
	if err != nil {
		return nil, err
	}
	d.used(sub.name)
	size, err := d.subscriptionSize(ctx, sub.name)
	if err != nil {
		return nil, err
	}
	if err := roomFor(ctx, size); err != nil {
		return nil, err
	}
	return d.describe(ctx, sub, r)
}

// UpdateSubscription changes the fields of a subscription that the mask names.
func (s subscriberService) UpdateSubscription(ctx context.Context,
	req *pubsubpb.UpdateSubscriptionRequest) (*pubsubpb.Subscription, error) {
	if req.Subscription == nil {
		return nil, invalid("subscription", "is missing")
	}
	r, err := parseResource("subscription.name", req.Subscription.Name, kindSubscription)
	if err != nil {
		return nil, err
	}
	return s.d.change(ctx, r, func(now *pubsubpb.Subscription) error {
		return applyMask("update_mask", req.UpdateMask, req.Subscription, now, subscriptionFields)
	})
}

// ModifyPushConfig sets the endpoint to which messages are pushed, or with an empty one ends that.
func (s subscriberService) ModifyPushConfig(ctx context.Context, req *pubsubpb.ModifyPushConfigRequest) (*emptypb.Empty,
	error) {
	r, err := parseResource("subscription", req.Subscription, kindSubscription)
	if err != nil {
		return nil, err
	}
	_, err = s.d.change(ctx, r, func(now *pubsubpb.Subscription) error {
		now.PushConfig = req.PushConfig
		return nil
	})
	if err != nil {
		return nil, err
	}
	return &emptypb.Empty{}, nil
}

// change alters a subscription.
func (d *Server) change(ctx context.Context, r resource,
	how func(now *pubsubpb.Subscription) error) (*pubsubpb.Subscription, error) {
	if err := d.allow(ctx, access.Admin, r); err != nil {
		return nil, err
	}
	_, _, looked, err := d.changed(ctx, r, how, nil)
	if err != nil {
		return nil, err
	}
	d.admin.Lock()
	defer d.admin.Unlock()
	return anew(func() (*pubsubpb.Subscription, error) {
		sub, was, now, err := d.changed(ctx, r, how, looked.MessageTransforms)
		if err != nil {
			return nil, err
		}
		if sub.detached() {
			if err := d.remember(ctx, sub.kept, d.commit, now); err != nil {
				return nil, err
			}
		} else if err := d.alter(ctx, sub, now); err != nil {
			return nil, err
		}
		if sub, err = d.subscription(ctx, r); err != nil {
			return nil, err
		}
		d.used(sub.name)
		if sub.push || was.PushConfig.GetPushEndpoint() != "" {
			d.pushers.look()
		}
		return d.describe(ctx, sub, r)
	})
}

// changed is a subscription as it is, and as its clients see it before and after a change. seen are functions that were
// looked at already: looking takes seconds, and is done while no other call has to wait.
func (d *Server) changed(ctx context.Context, r resource, how func(now *pubsubpb.Subscription) error,
	seen []*pubsubpb.MessageTransform) (sub *subscription, was, now *pubsubpb.Subscription, err error) {
	if sub, err = d.subscription(ctx, r); err != nil {
		return nil, nil, nil, err
	}
	if now, err = d.describe(ctx, sub, r); err != nil {
		return nil, nil, nil, err
	}
	was = proto.CloneOf(now)
	if err := how(now); err != nil {
		return nil, nil, nil, err
	}
	if now.ExpirationPolicy == nil && sub.note == nil {
		// another door made it: it does not expire unless somebody says so
		now.ExpirationPolicy = &pubsubpb.ExpirationPolicy{}
	}
	if seen != nil {
		was.MessageTransforms = seen
	}
	forever := now.MessageRetentionDuration == nil && was.MessageRetentionDuration == nil
	if err := d.fillSubscription(now, was); err != nil {
		return nil, nil, nil, err
	}
	if forever {
		now.MessageRetentionDuration = nil
	}
	return sub, was, now, nil
}

// alter gives the queue of a subscription, and the note, what now says.
func (d *Server) alter(ctx context.Context, sub *subscription, now *pubsubpb.Subscription) error {
	topic := queue.Name{}
	if sub.def.Topic != "" {
		topic, _ = queue.ParseName(sub.def.Topic) // the store checked it
	}
	def, err := d.alteredDefinition(ctx, now, topic, sub.def)
	if err != nil {
		return err
	}
	if sub.note == nil && sub.ownTopic() {
		now.Topic = "" // so it stays its own topic
	}
	if now.Topic == deletedTopic {
		now.Topic = sub.note.GetTopic()
	}
	return d.rememberSubscription(ctx, sub.kept, now, func(ctx context.Context, is queue.NoteIs,
		notes ...queue.Note) error {
		return d.store.Noted(notes...).If(is).AlterQueue(ctx, sub.name, def)
	})
}

// DeleteSubscription removes a subscription with what it holds.
func (s subscriberService) DeleteSubscription(ctx context.Context,
	req *pubsubpb.DeleteSubscriptionRequest) (*emptypb.Empty, error) {
	d := s.d
	r, end, err := d.administer(ctx, "subscription", req.Subscription, kindSubscription)
	if err != nil {
		return nil, err
	}
	defer end()
	sub, err := d.subscription(ctx, r)
	if err != nil {
		return nil, err
	}
	if err := d.remove(ctx, sub); err != nil {
		return nil, err
	}
	return &emptypb.Empty{}, nil
}

// remove deletes a subscription.
func (d *Server) remove(ctx context.Context, sub *subscription) error {
	r := resource{sub.name.Namespace, kindSubscription, sub.name.Name}
	kept, err := d.kept(ctx, noteKey(kindSubscription, sub.name), policyKey(r, sub.name))
	if err != nil {
		return err
	}
	if !sub.detached() {
		if err := d.store.DeleteQueue(ctx, sub.name); err != nil && !errors.Is(err, queue.ErrNotFound) {
			return err
		}
	}
	d.known.forget(sub.name)
	if err := d.forget(ctx, kept); err != nil {
		return err
	}
	if sub.push {
		d.pushers.look()
	}
	return nil
}
