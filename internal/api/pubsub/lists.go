package pubsub

import (
	"cmp"
	"context"
	"encoding/base64"
	"errors"
	"slices"
	"strings"

	"cloud.google.com/go/pubsub/v2/apiv1/pubsubpb"

	"github.com/hikyaku/hikyaku/internal/queue"
)

func compareNames(a, b queue.Name) int {
	return cmp.Or(strings.Compare(a.Namespace, b.Namespace), strings.Compare(a.Name, b.Name))
}

// Bounds of a page.
const (
	defaultPage = 100
	maxPage     = 1000
)

// page is a part of a list that is ordered by key. The token of the next page is the last key of this one, so that
// pages go on where they were whatever is made or deleted between.
func page[T any](all []T, key func(T) string, size int32, token string) (part []T, next string, err error) {
	if size < 0 {
		return nil, "", invalid("page_size", "is %d: it cannot be negative", size)
	}
	if size == 0 {
		size = defaultPage
	}
	n := int(min(size, maxPage))
	slices.SortFunc(all, func(a, b T) int { return strings.Compare(key(a), key(b)) })
	if token != "" {
		last, err := base64.RawURLEncoding.DecodeString(token)
		if err != nil {
			return nil, "", invalid("page_token", "is none that was given out")
		}
		i, found := slices.BinarySearchFunc(all, string(last),
			func(x T, k string) int { return strings.Compare(key(x), k) })
		if found {
			i++
		}
		all = all[i:]
	}
	if len(all) <= n {
		return all, "", nil
	}
	return all[:n], pageToken(key(all[n-1])), nil
}

// pageToken is the token of the page behind the entry of that key.
func pageToken(last string) string { return base64.RawURLEncoding.EncodeToString([]byte(last)) }

func nameKey(n queue.Name) string { return n.String() }

// inProject keeps the names of a project that the caller may know of.
func (d *Server) inProject(ctx context.Context, project, kind string, names []queue.Name) []queue.Name {
	namespace := d.store.Resolve(queue.Name{Namespace: project, Name: "x"}).Namespace
	return slices.DeleteFunc(names, func(n queue.Name) bool {
		return n.Namespace != namespace || !d.visible(ctx, resource{project, kind, n.Name})
	})
}

// ListTopics lists the topics of a project, queues that are their own topics included.
func (s publisherService) ListTopics(ctx context.Context,
	req *pubsubpb.ListTopicsRequest) (*pubsubpb.ListTopicsResponse, error) {
	d := s.d
	project, err := parseProject("project", req.Project)
	if err != nil {
		return nil, err
	}
	names, err := d.store.Topics(ctx)
	if err != nil {
		return nil, err
	}
	queues, err := d.store.Queues(ctx)
	if err != nil {
		return nil, err
	}
	for _, q := range queues {
		sub, err := d.subscription(ctx, resource{q.Namespace, kindSubscription, q.Name})
		if isNotFound(err) {
			continue // deleted meanwhile
		}
		if err != nil {
			return nil, err
		}
		if sub.ownTopic() && !slices.Contains(names, q) {
			names = append(names, q)
		}
	}
	topic := func(n queue.Name) resource { return resource{project, kindTopic, n.Name} }
	res := new(pubsubpb.ListTopicsResponse)
	res.Topics, res.NextPageToken, err = gather(ctx, req, d.inProject(ctx, project, kindTopic, names),
		listing[queue.Name, *pubsubpb.Topic]{
			key:  nameKey,
			size: func(n queue.Name) (int64, error) { return d.topicSize(ctx, topic(n)) },
			make: func(n queue.Name) (*pubsubpb.Topic, error) { return d.describeTopic(ctx, topic(n)) },
		})
	if err != nil {
		return nil, err
	}
	return res, nil
}

// topicSize is about how many bytes the description of a topic has.
func (d *Server) topicSize(ctx context.Context, r resource) (int64, error) {
	size, err := d.noteSize(ctx, noteKey(kindTopic, d.store.Resolve(r.name())))
	if err != nil {
		return 0, err
	}
	st, err := d.store.TopicStats(ctx, r.name())
	if errors.Is(err, queue.ErrNotFound) {
		return size, nil
	}
	return size + labelBytes(st.Labels), err
}

// ListTopicSubscriptions lists the names of a topic's subscriptions.
func (s publisherService) ListTopicSubscriptions(ctx context.Context,
	req *pubsubpb.ListTopicSubscriptionsRequest) (*pubsubpb.ListTopicSubscriptionsResponse, error) {
	d := s.d
	r, err := parseResource("topic", req.Topic, kindTopic)
	if err != nil {
		return nil, err
	}
	if err := d.seen(ctx, r); err != nil {
		return nil, err
	}
	names, err := d.subscribers(ctx, r)
	if err != nil {
		return nil, err
	}
	names = slices.DeleteFunc(names, func(n queue.Name) bool { return !d.visibleName(ctx, n) })
	res := new(pubsubpb.ListTopicSubscriptionsResponse)
	res.Subscriptions, res.NextPageToken, err = gather(ctx, req, names, d.namesOf(kindSubscription, r.project))
	if err != nil {
		return nil, err
	}
	return res, nil
}

// namesOf lists things by their names alone.
func (d *Server) namesOf(kind, project string) listing[queue.Name, string] {
	return listing[queue.Name, string]{
		key:  nameKey,
		size: func(queue.Name) (int64, error) { return entryBytes, nil },
		make: func(n queue.Name) (string, error) { return d.resourceOf(n, kind, project).String(), nil },
	}
}

// ListSubscriptions lists the subscriptions of a project: every queue is one.
func (s subscriberService) ListSubscriptions(ctx context.Context,
	req *pubsubpb.ListSubscriptionsRequest) (*pubsubpb.ListSubscriptionsResponse, error) {
	d := s.d
	project, err := parseProject("project", req.Project)
	if err != nil {
		return nil, err
	}
	names, err := d.detachedNames(ctx)
	if err != nil {
		return nil, err
	}
	queues, err := d.store.Queues(ctx)
	if err != nil {
		return nil, err
	}
	names = append(names, queues...)
	res := new(pubsubpb.ListSubscriptionsResponse)
	res.Subscriptions, res.NextPageToken, err = gather(ctx, req, d.inProject(ctx, project, kindSubscription, names),
		listing[queue.Name, *pubsubpb.Subscription]{
			key:  nameKey,
			size: func(n queue.Name) (int64, error) { return d.subscriptionSize(ctx, n) },
			make: func(n queue.Name) (*pubsubpb.Subscription, error) {
				r := resource{project, kindSubscription, n.Name}
				sub, err := d.subscription(ctx, r)
				if err != nil {
					return nil, err
				}
				return d.describe(ctx, sub, r)
			},
		})
	if err != nil {
		return nil, err
	}
	return res, nil
}

// subscriptionSize is about how many bytes the description of a subscription has.
func (d *Server) subscriptionSize(ctx context.Context, n queue.Name) (int64, error) {
	size, err := d.noteSize(ctx, noteKey(kindSubscription, n))
	if err != nil {
		return 0, err
	}
	def, _, err := d.store.Definition(ctx, n)
	if errors.Is(err, queue.ErrNotFound) {
		return size, nil
	}
	return size + labelBytes(def.Labels) + int64(len(def.Filter)), err
}
