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
	"github.com/hikyaku/hikyaku/internal/queue"
)

// publisherService is google.pubsub.v1.Publisher. Publish goes another way: see register.
type publisherService struct {
	pubsubpb.UnimplementedPublisherServer
	d *Server
}

// CreateTopic makes a topic.
func (s publisherService) CreateTopic(ctx context.Context, req *pubsubpb.Topic) (*pubsubpb.Topic, error) {
	d := s.d
	r, err := parseResource("name", req.Name, kindTopic)
	if err != nil {
		return nil, err
	}
	if err := r.checkNew("name"); err != nil {
		return nil, err
	}
	if err := d.allow(ctx, access.Admin, r); err != nil {
		return nil, err
	}
	if err := d.checkTopic(ctx, req, nil); err != nil {
		return nil, err
	}
	d.admin.Lock()
	defer d.admin.Unlock()
	return anew(func() (*pubsubpb.Topic, error) {
		is, err := d.topicNote(ctx, r)
		if err != nil {
			return nil, err
		}
		if ok, err := d.isTopic(ctx, r); err != nil {
			return nil, err
		} else if ok {
			return nil, exists(r)
		}
		if err := d.defineTopic(ctx, r, is, req); err != nil {
			return nil, err
		}
		return d.describeTopic(ctx, r)
	})
}

// topicNote is the note of a topic. Who is going to change the topic reads it first.
func (d *Server) topicNote(ctx context.Context, r resource) (queue.NoteIs, error) {
	return d.recall(ctx, noteKey(kindTopic, d.store.Resolve(r.name())), new(pubsubpb.Topic))
}

// defineTopic makes a topic, or changes it, together with its note of what the store does not know. The note has the
// labels, too: with each change of a topic it is another one.
func (d *Server) defineTopic(ctx context.Context, r resource, is queue.NoteIs, t *pubsubpb.Topic) error {
	note := proto.CloneOf(t)
	note.Name, note.Tags, note.SatisfiesPzs, note.State = "", nil, false, 0
	define := func(ctx context.Context, is queue.NoteIs, notes ...queue.Note) error {
		_, err := d.store.Noted(notes...).If(is).CreateTopic(ctx, r.name(), t.Labels)
		return err
	}
	switch {
	case proto.Size(note) > 0:
		return d.remember(ctx, is, define, note)
	case is.Value == nil:
		return d.note(ctx, is, define)
	}
	return d.note(ctx, is, define, queue.Note{Room: room, Key: is.Key})
}

// describeTopic is a topic as its clients see it.
func (d *Server) describeTopic(ctx context.Context, r resource) (*pubsubpb.Topic, error) {
	st, err := d.store.TopicStats(ctx, r.name())
	if errors.Is(err, queue.ErrNotFound) {
		if ok, err := d.isTopic(ctx, r); err != nil {
			return nil, err
		} else if !ok {
			return nil, notFound(r)
		}
		return &pubsubpb.Topic{Name: r.String(), State: pubsubpb.Topic_ACTIVE}, nil // a queue that is its own topic
	}
	if err != nil {
		return nil, err
	}
	t := new(pubsubpb.Topic)
	if _, err := d.recall(ctx, noteKey(kindTopic, st.Name), t); err != nil {
		return nil, err
	}
	if t.SchemaSettings != nil {
		if is, err := d.isSchema(ctx, t.SchemaSettings.Schema); err != nil {
			return nil, err
		} else if !is {
			t.SchemaSettings.Schema = deletedSchema
		}
	}
	t.Name, t.Labels, t.State = r.String(), st.Labels, pubsubpb.Topic_ACTIVE
	return t, nil
}

// GetTopic describes a topic.
func (s publisherService) GetTopic(ctx context.Context, req *pubsubpb.GetTopicRequest) (*pubsubpb.Topic, error) {
	r, err := parseResource("topic", req.Topic, kindTopic)
	if err != nil {
		return nil, err
	}
	if err := s.d.seen(ctx, r); err != nil {
		return nil, err
	}
	size, err := s.d.topicSize(ctx, r)
	if err != nil {
		return nil, err
	}
	if err := roomFor(ctx, size); err != nil {
		return nil, err
	}
	return s.d.describeTopic(ctx, r)
}

// UpdateTopic changes the fields of a topic that the mask names.
func (s publisherService) UpdateTopic(ctx context.Context, req *pubsubpb.UpdateTopicRequest) (*pubsubpb.Topic, error) {
	d := s.d
	if req.Topic == nil {
		return nil, invalid("topic", "is missing")
	}
	r, err := parseResource("topic.name", req.Topic.Name, kindTopic)
	if err != nil {
		return nil, err
	}
	if err := d.allow(ctx, access.Admin, r); err != nil {
		return nil, err
	}
	looked, err := d.updatedTopic(ctx, r, req, nil)
	if err != nil {
		return nil, err
	}
	d.admin.Lock()
	defer d.admin.Unlock()
	return anew(func() (*pubsubpb.Topic, error) {
		is, err := d.topicNote(ctx, r)
		if err != nil {
			return nil, err
		}
		now, err := d.updatedTopic(ctx, r, req, looked.MessageTransforms)
		if err != nil {
			return nil, err
		}
		if err := d.defineTopic(ctx, r, is, now); err != nil {
			return nil, err
		}
		if err := d.keepHistories(ctx, r); err != nil {
			return nil, err
		}
		return d.describeTopic(ctx, r)
	})
}

// updatedTopic is a topic as it will be after an update. seen are functions that were looked at already: looking takes
// seconds, and is done while no other call has to wait.
func (d *Server) updatedTopic(ctx context.Context, r resource, req *pubsubpb.UpdateTopicRequest,
	seen []*pubsubpb.MessageTransform) (*pubsubpb.Topic, error) {
	now, err := d.describeTopic(ctx, r)
	if err != nil {
		return nil, err
	}
	if there, err := d.store.HasTopic(ctx, r.name()); err != nil {
		return nil, err
	} else if !there {
		return nil, status.Errorf(codes.FailedPrecondition,
			"%s is a queue that is its own topic: it has no settings as a topic", r)
	}
	was := proto.CloneOf(now)
	if err := applyMask("update_mask", req.UpdateMask, req.Topic, now, topicFields); err != nil {
		return nil, err
	}
	if seen != nil {
		was.MessageTransforms = seen
	}
	if err := d.checkTopic(ctx, now, was); err != nil {
		return nil, err
	}
	return now, nil
}

// keepHistories lets the subscriptions of a topic keep settled messages for as long as the topic says now. What it does
// not come to after an error or a crash is done by tidy.
func (d *Server) keepHistories(ctx context.Context, r resource) error {
	names, err := d.subscribers(ctx, r)
	if err != nil {
		return err
	}
	for _, n := range names {
		if _, err := anew(func() (bool, error) { return true, d.keepHistory(ctx, n, r.name()) }); err != nil {
			return err
		}
	}
	return nil
}

// keepHistory is keepHistories for one subscription of a topic.
func (d *Server) keepHistory(ctx context.Context, n, topic queue.Name) error {
	s, err := d.subscription(ctx, resource{n.Namespace, kindSubscription, n.Name})
	if isNotFound(err) {
		return nil // deleted meanwhile
	}
	if err != nil || s.note == nil { // another door's: its history is what that door said
		return err
	}
	def := s.def
	if def.History, err = d.history(ctx, s.note, topic); err != nil || def.History == s.def.History {
		return err
	}
	err = d.store.Noted().If(s.kept).AlterQueue(ctx, n, def)
	switch {
	case errors.Is(err, queue.ErrNotFound):
		return nil
	case errors.Is(err, queue.ErrChanged):
		d.changes.Add(1) // what was read of it is not so any more
	}
	return err
}

// DeleteTopic removes a topic. Its subscriptions stay.
func (s publisherService) DeleteTopic(ctx context.Context, req *pubsubpb.DeleteTopicRequest) (*emptypb.Empty, error) {
	d := s.d
	r, end, err := d.administer(ctx, "topic", req.Topic, kindTopic)
	if err != nil {
		return nil, err
	}
	defer end()
	n := d.store.Resolve(r.name())
	kept, err := d.kept(ctx, noteKey(kindTopic, n), policyKey(r, n))
	if err != nil {
		return nil, err
	}
	if err := d.store.DeleteTopic(ctx, n); errors.Is(err, queue.ErrNotFound) {
		if ok, err := d.isTopic(ctx, r); err != nil {
			return nil, err
		} else if ok {
			return nil, status.Errorf(codes.FailedPrecondition, "%s is a queue that is its own topic: delete the "+
				"subscription of that name", r)
		}
		return nil, notFound(r)
	} else if err != nil {
		return nil, err
	}
	d.known.forget(topicKey{n})
	if err := d.forget(ctx, kept); err != nil {
		return nil, err
	}
	return &emptypb.Empty{}, nil
}

// DetachSubscription cuts a subscription off its topic and drops what it holds.
func (s publisherService) DetachSubscription(ctx context.Context,
	req *pubsubpb.DetachSubscriptionRequest) (*pubsubpb.DetachSubscriptionResponse, error) {
	d := s.d
	r, end, err := d.administer(ctx, "subscription", req.Subscription, kindSubscription)
	if err != nil {
		return nil, err
	}
	defer end()
	return anew(func() (*pubsubpb.DetachSubscriptionResponse, error) {
		sub, err := d.subscription(ctx, r)
		if err != nil {
			return nil, err
		}
		if sub.detached() {
			return &pubsubpb.DetachSubscriptionResponse{}, nil
		}
		if sub.ownTopic() {
			return nil, status.Errorf(codes.FailedPrecondition,
				"%s is its own topic and cannot be detached from it: delete it", r)
		}
		note, err := d.describe(ctx, sub, r)
		if err != nil {
			return nil, err
		}
		note.Detached = true
		// The note first: a crash between leaves a subscription that is not detached, as the note of a queue that is
		// there says nothing of it.
		if err := d.remember(ctx, sub.kept, d.need, note); err != nil {
			return nil, err
		}
		if err := d.store.DeleteQueue(ctx, sub.name); err != nil && !errors.Is(err, queue.ErrNotFound) {
			return nil, err
		}
		return &pubsubpb.DetachSubscriptionResponse{}, nil
	})
}

// need keeps notes whatever memory there is: a subscription with messages is detached to get rid of them.
func (d *Server) need(ctx context.Context, is queue.NoteIs, notes ...queue.Note) error {
	_, _, err := d.store.Commit(ctx, queue.Change{If: []queue.NoteIs{is}, Notes: notes, Needed: true})
	return err
}
