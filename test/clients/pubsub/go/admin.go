package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"time"

	"cloud.google.com/go/iam/apiv1/iampb"
	"cloud.google.com/go/pubsub/v2"
	vkit "cloud.google.com/go/pubsub/v2/apiv1"
	"cloud.google.com/go/pubsub/v2/apiv1/pubsubpb"
	"google.golang.org/api/option"
	"google.golang.org/api/option/internaloption"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/known/fieldmaskpb"
)

func (s *session) create() error {
	if err := s.make("create", func(sub *pubsubpb.Subscription) {
		sub.AckDeadlineSeconds = 20
		sub.Labels = map[string]string{"team": "couriers"}
		sub.RetryPolicy = &pubsubpb.RetryPolicy{MinimumBackoff: durationpb.New(time.Second),
			MaximumBackoff: durationpb.New(time.Minute)}
	}); err != nil {
		return err
	}
	sub, err := s.client.SubscriptionAdminClient.GetSubscription(s.ctx,
		&pubsubpb.GetSubscriptionRequest{Subscription: s.subName("create")})
	if err != nil {
		return err
	}
	_, again := s.client.TopicAdminClient.CreateTopic(s.ctx, &pubsubpb.Topic{Name: s.topicName("create")})
	return errors.Join(same(s.topicName("create"), sub.Topic), same(int32(20), sub.AckDeadlineSeconds),
		same("couriers", sub.Labels["team"]),
		same(time.Second, sub.RetryPolicy.GetMinimumBackoff().AsDuration()), refused(codes.AlreadyExists, again))
}

func (s *session) update() error {
	topic, err := s.client.TopicAdminClient.UpdateTopic(s.ctx, &pubsubpb.UpdateTopicRequest{
		Topic:      &pubsubpb.Topic{Name: s.topicName("create"), Labels: map[string]string{"a": "b"}},
		UpdateMask: &fieldmaskpb.FieldMask{Paths: []string{"labels"}},
	})
	if err != nil {
		return err
	}
	sub, err := s.client.SubscriptionAdminClient.UpdateSubscription(s.ctx, &pubsubpb.UpdateSubscriptionRequest{
		Subscription: &pubsubpb.Subscription{Name: s.subName("create"), AckDeadlineSeconds: 30,
			RetryPolicy: &pubsubpb.RetryPolicy{MinimumBackoff: durationpb.New(2 * time.Second)}},
		UpdateMask: &fieldmaskpb.FieldMask{Paths: []string{"ack_deadline_seconds", "retry_policy"}},
	})
	if err != nil {
		return err
	}
	_, wrong := s.client.SubscriptionAdminClient.UpdateSubscription(s.ctx, &pubsubpb.UpdateSubscriptionRequest{
		Subscription: &pubsubpb.Subscription{Name: s.subName("create")},
		UpdateMask:   &fieldmaskpb.FieldMask{Paths: []string{"no_such_field"}},
	})
	return errors.Join(same(map[string]string{"a": "b"}, topic.Labels), same(int32(30), sub.AckDeadlineSeconds),
		same("couriers", sub.Labels["team"]),
		same(2*time.Second, sub.RetryPolicy.GetMinimumBackoff().AsDuration()), refused(codes.InvalidArgument, wrong))
}

func (s *session) errors() error {
	missing := s.client.Publisher("missing")
	defer missing.Stop()
	_, noTopic := missing.Publish(s.ctx, &pubsub.Message{Data: []byte("x")}).Get(s.ctx)
	_, badName := s.client.TopicAdminClient.CreateTopic(s.ctx, &pubsubpb.Topic{Name: s.topicName("goog-1")})
	_, noSub := s.client.SubscriptionAdminClient.CreateSubscription(s.ctx,
		&pubsubpb.Subscription{Name: s.subName("orphan"), Topic: s.topicName("missing")})
	noReceive := s.client.Subscriber("missing").Receive(s.ctx, nil)
	return errors.Join(refused(codes.NotFound, noTopic), refused(codes.InvalidArgument, badName),
		refused(codes.NotFound, noSub), refused(codes.NotFound, noReceive))
}

// schemaClient is a client for schemas: the one for everything else has none.
func (s *session) schemaClient() (*vkit.SchemaClient, error) {
	return vkit.NewSchemaClient(s.ctx, option.WithEndpoint(emulator()), option.WithoutAuthentication(),
		option.WithGRPCDialOption(grpc.WithTransportCredentials(insecure.NewCredentials())),
		internaloption.SkipDialSettingsValidation())
}

func (s *session) schema() error {
	schemas, err := s.schemaClient()
	if err != nil {
		return err
	}
	defer schemas.Close()
	made, err := schemas.CreateSchema(s.ctx, &pubsubpb.CreateSchemaRequest{Parent: "projects/" + s.project,
		SchemaId: "seen", Schema: &pubsubpb.Schema{
			Type:       pubsubpb.Schema_AVRO,
			Definition: `{"type": "record", "name": "Seen", "fields": [{"name": "who", "type": "string"}]}`,
		}})
	if err != nil {
		return err
	}
	if _, err := s.client.TopicAdminClient.CreateTopic(s.ctx, &pubsubpb.Topic{
		Name: s.topicName("schema"), SchemaSettings: &pubsubpb.SchemaSettings{Schema: made.Name,
			Encoding: pubsubpb.Encoding_JSON},
	}); err != nil {
		return err
	}
	p := s.client.Publisher("schema")
	defer p.Stop()
	_, good := p.Publish(s.ctx, &pubsub.Message{Data: []byte(`{"who": "Ken"}`)}).Get(s.ctx)
	_, bad := p.Publish(s.ctx, &pubsub.Message{Data: []byte(`{"who": 5}`)}).Get(s.ctx)
	next, err := schemas.CommitSchema(s.ctx, &pubsubpb.CommitSchemaRequest{Name: made.Name, Schema: &pubsubpb.Schema{
		Name: made.Name, Type: pubsubpb.Schema_AVRO,
		Definition: `{"type": "record", "name": "Seen", "fields": [{"name": "who", "type": "string"}, {"name": "at", "type": "long", "default": 0}]}`,
	}})
	if err != nil {
		return err
	}
	_, newer := p.Publish(s.ctx, &pubsub.Message{Data: []byte(`{"who": "Ken", "at": 5}`)}).Get(s.ctx)
	if next.RevisionId == made.RevisionId || len(next.RevisionId) != 8 {
		err = fmt.Errorf("the revision %q follows %q", next.RevisionId, made.RevisionId)
	}
	return errors.Join(err, good, newer, refused(codes.InvalidArgument, bad))
}

func (s *session) detach() error {
	if err := s.make("detach"); err != nil {
		return err
	}
	if _, err := s.client.TopicAdminClient.DetachSubscription(s.ctx,
		&pubsubpb.DetachSubscriptionRequest{Subscription: s.subName("detach")}); err != nil {
		return err
	}
	sub, err := s.client.SubscriptionAdminClient.GetSubscription(s.ctx,
		&pubsubpb.GetSubscriptionRequest{Subscription: s.subName("detach")})
	if err != nil {
		return err
	}
	_, gone := s.client.SubscriptionAdminClient.Pull(s.ctx,
		&pubsubpb.PullRequest{Subscription: s.subName("detach"), MaxMessages: 1})
	return errors.Join(same(true, sub.Detached), refused(codes.FailedPrecondition, gone))
}

// push receives by HTTP; the first delivery is refused.
func (s *session) push() error {
	type delivery struct {
		Message struct {
			Data       []byte
			Attributes map[string]string
		}
		Subscription string
	}
	got := make(chan delivery, 10)
	first := true
	endpoint := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var d delivery
		body, err := io.ReadAll(r.Body)
		if err != nil || json.Unmarshal(body, &d) != nil {
			w.WriteHeader(http.StatusBadRequest)
			return
		}
		if first {
			first = false
			w.WriteHeader(http.StatusServiceUnavailable)
			return
		}
		got <- d
	}))
	defer endpoint.Close()
	if err := s.make("push", func(sub *pubsubpb.Subscription) {
		sub.PushConfig = &pubsubpb.PushConfig{PushEndpoint: endpoint.URL}
	}); err != nil {
		return err
	}
	p := s.client.Publisher("push")
	defer p.Stop()
	if _, err := p.Publish(s.ctx,
		&pubsub.Message{Data: []byte("hello"), Attributes: map[string]string{"lang": "ja"}}).Get(s.ctx); err != nil {
		return err
	}
	select {
	case d := <-got:
		return errors.Join(same("hello", string(d.Message.Data)),
			same(map[string]string{"lang": "ja"}, d.Message.Attributes), same(s.subName("push"), d.Subscription))
	case <-time.After(patience):
		return errors.New("nothing was pushed")
	}
}

func (s *session) iam() error {
	policies := s.client.TopicAdminClient
	want := &iampb.Binding{Role: "roles/pubsub.publisher", Members: []string{"user:ken@example.com"}}
	if _, err := policies.SetIamPolicy(s.ctx,
		&iampb.SetIamPolicyRequest{Resource: s.topicName("create"),
			Policy: &iampb.Policy{Bindings: []*iampb.Binding{want}}}); err != nil {
		return err
	}
	policy, err := policies.GetIamPolicy(s.ctx, &iampb.GetIamPolicyRequest{Resource: s.topicName("create")})
	if err != nil {
		return err
	}
	if len(policy.Bindings) != 1 || policy.Bindings[0].Role != want.Role ||
		!slices.Equal(policy.Bindings[0].Members, want.Members) {
		return fmt.Errorf("the policy is %v", policy)
	}
	answer, err := policies.TestIamPermissions(s.ctx, &iampb.TestIamPermissionsRequest{Resource: s.topicName("create"),
		Permissions: []string{"pubsub.topics.publish"}})
	if err != nil {
		return err
	}
	return same([]string{"pubsub.topics.publish"}, answer.Permissions)
}
