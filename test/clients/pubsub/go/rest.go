package main

import (
	"fmt"
	"os"

	"cloud.google.com/go/pubsub/v2"
	apiv1 "cloud.google.com/go/pubsub/v2/apiv1"
	"cloud.google.com/go/pubsub/v2/apiv1/pubsubpb"
	"google.golang.org/api/option"

	"github.com/hikyaku/hikyaku/publisher"
)

// rest publishes and pulls with the transports that speak JSON over HTTP.
func (s *session) rest() error {
	to := []option.ClientOption{option.WithEndpoint("http://" + os.Getenv("PUBSUB_EMULATOR_HOST")),
		option.WithoutAuthentication()}
	topics, err := apiv1.NewTopicAdminRESTClient(s.ctx, to...)
	if err != nil {
		return err
	}
	defer topics.Close()
	subs, err := apiv1.NewSubscriptionAdminRESTClient(s.ctx, to...)
	if err != nil {
		return err
	}
	defer subs.Close()
	if _, err := topics.CreateTopic(s.ctx, &pubsubpb.Topic{Name: s.topicName("rest")}); err != nil {
		return err
	}
	made, err := subs.CreateSubscription(s.ctx,
		&pubsubpb.Subscription{Name: s.subName("rest"), Topic: s.topicName("rest")})
	if err != nil {
		return err
	}
	if made.State != pubsubpb.Subscription_ACTIVE {
		return fmt.Errorf("the state is %v", made.State)
	}
	p := publisher.NewWithTopicClient(topics, s.topicName("rest"))
	defer p.Stop()
	id, err := p.Publish(s.ctx, &pubsub.Message{Data: []byte("one")}).Get(s.ctx)
	if err != nil {
		return err
	}
	got, err := subs.Pull(s.ctx, &pubsubpb.PullRequest{Subscription: s.subName("rest"), MaxMessages: 10})
	if err != nil {
		return err
	}
	if len(got.ReceivedMessages) != 1 || got.ReceivedMessages[0].Message.MessageId != id ||
		string(got.ReceivedMessages[0].Message.Data) != "one" {
		return fmt.Errorf("pulled %v", got.ReceivedMessages)
	}
	return subs.Acknowledge(s.ctx, &pubsubpb.AcknowledgeRequest{Subscription: s.subName("rest"),
		AckIds: []string{got.ReceivedMessages[0].AckId}})
}
