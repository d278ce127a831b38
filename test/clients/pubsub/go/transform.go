package main

import (
	"cloud.google.com/go/pubsub/v2"
	"cloud.google.com/go/pubsub/v2/apiv1/pubsubpb"
	"google.golang.org/grpc/codes"
)

// function is a transform by a function of JavaScript.
func function(name, body string) *pubsubpb.MessageTransform {
	return &pubsubpb.MessageTransform{Transform: &pubsubpb.MessageTransform_JavascriptUdf{
		JavascriptUdf: &pubsubpb.JavaScriptUDF{
			FunctionName: name, Code: "function " + name + "(message, metadata) { " + body + " }",
		}}}
}

// transform has a topic and a subscription with functions.
func (s *session) transform() error {
	_, err := s.client.TopicAdminClient.CreateTopic(s.ctx, &pubsubpb.Topic{
		Name: s.topicName("transform"), MessageTransforms: []*pubsubpb.MessageTransform{
			function("drop", `return message.data === "no" ? null : message;`),
			function("fail", `if (message.data === "bad") throw new Error("so bad"); return message;`),
		},
	})
	if err != nil {
		return err
	}
	_, err = s.client.SubscriptionAdminClient.CreateSubscription(s.ctx, &pubsubpb.Subscription{
		Name: s.subName("transform"), Topic: s.topicName("transform"),
		MessageTransforms: []*pubsubpb.MessageTransform{function("louder",
			`return {data: message.data + "!", attributes: {}};`)},
	})
	if err != nil {
		return err
	}
	p := s.client.Publisher("transform")
	defer p.Stop()
	for _, text := range []string{"no", "yes"} {
		if _, err := p.Publish(s.ctx, &pubsub.Message{Data: []byte(text)}).Get(s.ctx); err != nil {
			return err
		}
	}
	_, err = p.Publish(s.ctx, &pubsub.Message{Data: []byte("bad")}).Get(s.ctx)
	if err := refused(codes.InvalidArgument, err); err != nil {
		return err
	}
	got, err := s.received("transform", 1)
	if err != nil {
		return err
	}
	return same([]string{"yes!"}, got)
}
