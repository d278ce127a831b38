package pubsub

import (
	"context"
	"errors"
	"slices"

	"cloud.google.com/go/pubsub/v2/apiv1/pubsubpb"
	"google.golang.org/protobuf/proto"

	"github.com/hikyaku/hikyaku/internal/javascript"
	"github.com/hikyaku/hikyaku/internal/queue"
)

// topic is what Publish needs to know of a topic.
type topic struct {
	name    queue.Name // resolved
	changes uint64     // of notes, when it was made
	note    *pubsubpb.Topic
	schema  *validator // nil: every message is right

	functions []javascript.Function // its message transforms
}

// topicKey is its key in Server.known.
type topicKey struct{ name queue.Name }

// topic finds what can be published to: a topic, or any queue.
func (d *Server) topic(ctx context.Context, r resource) (*topic, error) {
	n := d.store.Resolve(r.name())
	if there, err := d.store.HasTopic(ctx, n); err != nil {
		return nil, err
	} else if !there {
		if _, _, err := d.store.Definition(ctx, n); errors.Is(err, queue.ErrNotFound) {
			return nil, notFound(r)
		} else if err != nil {
			return nil, err
		}
		return &topic{name: n}, nil
	}
	changes := d.changes.Load()
	if k, ok := d.known.get(topicKey{n}); ok {
		if t := k.(*topic); t.changes == changes {
			return t, nil
		}
	}
	t := &topic{name: n, changes: changes, note: new(pubsubpb.Topic)}
	if _, err := d.recall(ctx, noteKey(kindTopic, n), t.note); err != nil {
		return nil, err
	}
	var err error
	if t.schema, err = d.validator(ctx, t.note.SchemaSettings); err != nil {
		return nil, err
	}
	t.functions = functionsOf(t.note.MessageTransforms)
	d.known.put(topicKey{n}, t, knownResident+noteCopies*int64(proto.Size(t.note)))
	return t, nil
}

// ownTopic tells whether a queue is its own topic: it subscribes to none, and did not before either.
func (s *subscription) ownTopic() bool { return s.def.Topic == "" && s.note.GetTopic() == "" }

// topicOf is the topic of a subscription, for a client that calls its project so.
func (d *Server) topicOf(s *subscription, project string) string {
	switch {
	case s.detached() && s.note.Topic != "":
		return s.note.Topic
	case s.def.Topic == "" && s.note.GetTopic() == "":
		return resource{project, kindTopic, s.name.Name}.String()
	case s.def.Topic == "":
		return deletedTopic
	}
	n, err := queue.ParseName(s.def.Topic)
	if err != nil {
		return deletedTopic
	}
	return d.resourceOf(n, kindTopic, project).String()
}

// resourceOf names something of the store. A project that means the same namespace is called as the client calls it.
func (d *Server) resourceOf(n queue.Name, kind, project string) resource {
	if d.store.Resolve(queue.Name{Namespace: project, Name: n.Name}) == d.store.Resolve(n) {
		return resource{project, kind, n.Name}
	}
	return resource{n.Namespace, kind, n.Name}
}

// calledBy names a subscription as its maker calls it: a namespace may have several names.
func (d *Server) calledBy(ctx context.Context, n queue.Name) (resource, error) {
	r := resource{n.Namespace, kindSubscription, n.Name}
	sub, err := d.subscription(ctx, r)
	if err != nil && !isNotFound(err) {
		return r, err
	}
	if err == nil && sub.note != nil {
		if called, err := parseResource("name", sub.note.Name, kindSubscription); err == nil {
			return called, nil
		}
	}
	return r, nil
}

// isTopic tells whether there is a topic of that name, a queue that is its own topic included.
func (d *Server) isTopic(ctx context.Context, r resource) (bool, error) {
	if there, err := d.store.HasTopic(ctx, r.name()); there || err != nil {
		return there, err
	}
	s, err := d.subscription(ctx, resource{r.project, kindSubscription, r.id})
	if err != nil {
		if isNotFound(err) {
			return false, nil
		}
		return false, err
	}
	return !s.detached() && s.ownTopic(), nil
}

// subscribers lists the queues of a topic by name.
func (d *Server) subscribers(ctx context.Context, r resource) ([]queue.Name, error) {
	st, err := d.store.TopicStats(ctx, r.name())
	if errors.Is(err, queue.ErrNotFound) {
		ok, err := d.isTopic(ctx, r)
		if err != nil {
			return nil, err
		}
		if !ok {
			return nil, notFound(r)
		}
		return []queue.Name{d.store.Resolve(r.name())}, nil
	}
	if err != nil {
		return nil, err
	}
	slices.SortFunc(st.Subscriptions, compareNames)
	return st.Subscriptions, nil
}
