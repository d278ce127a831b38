package pubsub

import (
	"cmp"
	"context"
	"encoding/base64"
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
	return all[:n], base64.RawURLEncoding.EncodeToString([]byte(key(all[n-1]))), nil
}

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
	names := d.store.Topics()
	for _, q := range d.store.Queues() {
		sub, err := d.subscription(resource{q.Namespace, kindSubscription, q.Name})
		if err == nil && sub.ownTopic() && !slices.Contains(names, q) {
			names = append(names, q)
		}
	}
	names, next, err := page(d.inProject(ctx, project, kindTopic, names), nameKey, req.PageSize, req.PageToken)
	if err != nil {
		return nil, err
	}
	res := &pubsubpb.ListTopicsResponse{NextPageToken: next}
	for _, n := range names {
		t, err := d.describeTopic(resource{project, kindTopic, n.Name})
		if isNotFound(err) {
			continue // deleted meanwhile
		}
		if err != nil {
			return nil, err
		}
		res.Topics = append(res.Topics, t)
	}
	return res, nil
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
	names, err := d.subscribers(r)
	if err != nil {
		return nil, err
	}
	names, next, err := page(names, nameKey, req.PageSize, req.PageToken)
	if err != nil {
		return nil, err
	}
	res := &pubsubpb.ListTopicSubscriptionsResponse{NextPageToken: next}
	for _, n := range names {
		res.Subscriptions = append(res.Subscriptions, d.resourceOf(n, kindSubscription, r.project).String())
	}
	return res, nil
}

// ListSubscriptions lists the subscriptions of a project: every queue is one.
func (s subscriberService) ListSubscriptions(ctx context.Context,
	req *pubsubpb.ListSubscriptionsRequest) (*pubsubpb.ListSubscriptionsResponse, error) {
	d := s.d
	project, err := parseProject("project", req.Project)
	if err != nil {
		return nil, err
	}
	names, err := d.detachedNames()
	if err != nil {
		return nil, err
	}
	names = append(names, d.store.Queues()...)
	names, next, err := page(d.inProject(ctx, project, kindSubscription, names), nameKey, req.PageSize, req.PageToken)
	if err != nil {
		return nil, err
	}
	res := &pubsubpb.ListSubscriptionsResponse{NextPageToken: next}
	for _, n := range names {
		r := resource{project, kindSubscription, n.Name}
		sub, err := d.subscription(r)
		if isNotFound(err) {
			continue // deleted meanwhile
		}
		if err != nil {
			return nil, err
		}
		described, err := d.describe(sub, r)
		if err != nil {
			return nil, err
		}
		res.Subscriptions = append(res.Subscriptions, described)
	}
	return res, nil
}
