// Command go speaks to a running hikyaku with Google's client for Go, cloud.google.com/go/pubsub/v2, and prints a line
// a check: "ok NAME" or "not ok NAME: why". It is not a test of its own: clients_test.go builds it, starts the server
// and runs it. The checks and the variables that say where the server is: ../README.md.
package main

import (
	"context"
	"fmt"
	"os"
	"time"

	"cloud.google.com/go/pubsub/v2"
	"cloud.google.com/go/pubsub/v2/apiv1/pubsubpb"
	"google.golang.org/grpc/codes"
)

// patience is what only a broken server needs.
const patience = time.Minute

// session is a client with what the checks share.
type session struct {
	ctx     context.Context
	client  *pubsub.Client
	project string
}

func main() {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute)
	defer cancel()
	project := os.Getenv("CLIENT_PROJECT")
	client, err := pubsub.NewClient(ctx, project)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	s := &session{ctx, client, project}
	var c checks
	if len(os.Args) > 1 {
		s.endure(&c)
	} else {
		s.everything(&c)
	}
	if err := client.Close(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		c.failed = true
	}
	os.Exit(c.code())
}

// everything does the checks that need nothing but a server.
func (s *session) everything(c *checks) {
	c.check("create", s.create)
	c.check("update", s.update)
	c.check("errors", s.errors)
	c.check("publish-plain", s.publishPlain)
	c.check("publish-batched", s.publishBatched)
	c.check("publish-compressed", s.publishCompressed)
	c.check("publish-ordered", s.publishOrdered)
	c.check("pull", s.pull)
	c.check("nack", s.nack)
	c.check("exactly-once", s.exactlyOnce)
	c.check("dead-letter", s.deadLetter)
	c.check("seek-time", s.seekTime)
	c.check("seek-snapshot", s.seekSnapshot)
	c.check("filter", s.filter)
	c.check("schema", s.schema)
	c.check("detach", s.detach)
	c.check("push", s.push)
	c.check("iam", s.iam)
	c.check("rest", s.rest)
	c.check("transform", s.transform)
	c.check("delete", s.delete)
}

func (s *session) topicName(id string) string { return "projects/" + s.project + "/topics/" + id }
func (s *session) subName(id string) string   { return "projects/" + s.project + "/subscriptions/" + id }

// make makes a topic and a subscription of one id.
func (s *session) make(id string, edit ...func(*pubsubpb.Subscription)) error {
	if _, err := s.client.TopicAdminClient.CreateTopic(s.ctx, &pubsubpb.Topic{Name: s.topicName(id)}); err != nil {
		return err
	}
	sub := &pubsubpb.Subscription{Name: s.subName(id), Topic: s.topicName(id)}
	for _, e := range edit {
		e(sub)
	}
	_, err := s.client.SubscriptionAdminClient.CreateSubscription(s.ctx, sub)
	return err
}

// delete removes all that was made, by what the lists say.
func (s *session) delete() error {
	subs := s.client.SubscriptionAdminClient.ListSubscriptions(s.ctx,
		&pubsubpb.ListSubscriptionsRequest{Project: "projects/" + s.project, PageSize: 3})
	var names []string
	for sub, err := range subs.All() {
		if err != nil {
			return err
		}
		names = append(names, sub.Name)
	}
	if len(names) < 10 {
		return fmt.Errorf("only %d subscriptions are listed", len(names))
	}
	topics := s.client.TopicAdminClient.ListTopics(s.ctx, &pubsubpb.ListTopicsRequest{Project: "projects/" + s.project})
	for topic, err := range topics.All() {
		if err != nil {
			return err
		}
		if err := s.client.TopicAdminClient.DeleteTopic(s.ctx,
			&pubsubpb.DeleteTopicRequest{Topic: topic.Name}); err != nil {
			return err
		}
	}
	sub, err := s.client.SubscriptionAdminClient.GetSubscription(s.ctx,
		&pubsubpb.GetSubscriptionRequest{Subscription: s.subName("create")})
	if err != nil {
		return err
	}
	if err := same("_deleted-topic_", sub.Topic); err != nil {
		return err
	}
	for _, name := range names {
		if err := s.client.SubscriptionAdminClient.DeleteSubscription(s.ctx,
			&pubsubpb.DeleteSubscriptionRequest{Subscription: name}); err != nil {
			return err
		}
	}
	_, err = s.client.SubscriptionAdminClient.GetSubscription(s.ctx,
		&pubsubpb.GetSubscriptionRequest{Subscription: s.subName("create")})
	return refused(codes.NotFound, err)
}
