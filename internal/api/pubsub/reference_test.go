package pubsub

import (
	"testing"
	"time"

	pb "cloud.google.com/go/pubsub/v2/apiv1/pubsubpb"
	"github.com/google/go-cmp/cmp"
	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/testing/protocmp"
	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/known/fieldmaskpb"
	"google.golang.org/protobuf/types/known/timestamppb"
)

func mask(paths ...string) *fieldmaskpb.FieldMask { return &fieldmaskpb.FieldMask{Paths: paths} }

// TestFieldsThatOnlyTheServerSetsAreItsOwn gives everything that the reference calls output only, or input only.
func TestFieldsThatOnlyTheServerSetsAreItsOwn(t *testing.T) {
	r := newRig(t)
	ctx := t.Context()
	topic, err := r.pub.CreateTopic(ctx, &pb.Topic{
		Name: topicName("news"), SatisfiesPzs: true, State: pb.Topic_INGESTION_RESOURCE_ERROR,
		Tags:                     map[string]string{"1/a": "b"},
		MessageRetentionDuration: durationpb.New(time.Hour),
	})
	if err != nil {
		t.Fatal(err)
	}
	want := &pb.Topic{Name: topicName("news"), State: pb.Topic_ACTIVE,
		MessageRetentionDuration: durationpb.New(time.Hour)}
	if d := cmp.Diff(want, topic, protocmp.Transform()); d != "" {
		t.Error("topic:", d)
	}
	sub, err := r.sub.CreateSubscription(ctx, &pb.Subscription{
		Name: subscriptionName("readers"), Topic: topicName("news"), Detached: true,
		State: pb.Subscription_RESOURCE_ERROR, Tags: map[string]string{"1/a": "b"},
		TopicMessageRetentionDuration: durationpb.New(time.Minute),
		AnalyticsHubSubscriptionInfo:  &pb.Subscription_AnalyticsHubSubscriptionInfo{Listing: "x"},
		PushConfig:                    &pb.PushConfig{PushEndpoint: "http://127.0.0.1:1/"},
	})
	if err != nil {
		t.Fatal(err)
	}
	wantSub := &pb.Subscription{
		Name: subscriptionName("readers"), Topic: topicName("news"), State: pb.Subscription_ACTIVE,
		TopicMessageRetentionDuration: durationpb.New(time.Hour),
		AckDeadlineSeconds:            10, MessageRetentionDuration: durationpb.New(7 * 24 * time.Hour),
		ExpirationPolicy: &pb.ExpirationPolicy{Ttl: durationpb.New(31 * 24 * time.Hour)},
		// Not as the reference has it ("GetSubscription calls will always return a valid version, even if the
		// subscription was created without this attribute"): Terraform would take it away at each apply.
		PushConfig: &pb.PushConfig{PushEndpoint: "http://127.0.0.1:1/"},
	}
	if d := cmp.Diff(wantSub, sub, protocmp.Transform()); d != "" {
		t.Error("subscription:", d)
	}
	// "If not present in a ModifyPushConfig call, its value will not be changed."
	change := func(attributes map[string]string) {
		t.Helper()
		if _, err := r.sub.ModifyPushConfig(ctx, &pb.ModifyPushConfigRequest{
			Subscription: subscriptionName("readers"), PushConfig: &pb.PushConfig{PushEndpoint: "http://127.0.0.1:2/",
				Attributes: attributes},
		}); err != nil {
			t.Fatal(err)
		}
	}
	change(map[string]string{pushVersion: "v1beta2"})
	change(nil)
	sub, err = r.sub.GetSubscription(ctx, &pb.GetSubscriptionRequest{Subscription: subscriptionName("readers")})
	if err != nil || sub.PushConfig.Attributes[pushVersion] != "v1beta2" ||
		sub.PushConfig.PushEndpoint != "http://127.0.0.1:2/" {
		t.Errorf("%v %v", sub, err)
	}
	// Google's suite for Go expects that the version stays when the endpoint is taken away, and beside another one.
	for _, endpoint := range []string{"", "http://127.0.0.1:3/"} {
		sub, err = r.sub.UpdateSubscription(ctx, &pb.UpdateSubscriptionRequest{
			Subscription: &pb.Subscription{Name: subscriptionName("readers"),
				PushConfig: &pb.PushConfig{PushEndpoint: endpoint}},
			UpdateMask: mask("push_config"),
		})
		want := &pb.PushConfig{PushEndpoint: endpoint, Attributes: map[string]string{pushVersion: "v1beta2"}}
		if err != nil || !proto.Equal(sub.PushConfig, want) {
			t.Errorf("with the endpoint %q: %v %v", endpoint, sub, err)
		}
	}
}

// TestRequiredFieldsAndFormats: what the reference calls required, or gives a format.
func TestRequiredFieldsAndFormats(t *testing.T) {
	r := newRig(t)
	ctx := t.Context()
	r.subscribe("news")
	schemas := pb.NewSchemaServiceClient(r.conn)
	topic := func(change func(*pb.Topic), paths ...string) func() error {
		return func() error {
			x := &pb.Topic{Name: topicName("news")}
			change(x)
			_, err := r.pub.UpdateTopic(ctx, &pb.UpdateTopicRequest{Topic: x, UpdateMask: mask(paths...)})
			return err
		}
	}
	sub := func(change func(*pb.Subscription), paths ...string) func() error {
		return func() error {
			x := &pb.Subscription{Name: subscriptionName("news")}
			change(x)
			_, err := r.sub.UpdateSubscription(ctx,
				&pb.UpdateSubscriptionRequest{Subscription: x, UpdateMask: mask(paths...)})
			return err
		}
	}
	for name, c := range map[string]struct {
		call func() error
		want codes.Code
	}{
		"key of KMS": {topic(
			func(x *pb.Topic) { x.KmsKeyName = "projects/p/locations/l/keyRings/r/cryptoKeys/k" }, "kms_key_name"),
			codes.OK},
		"no key of KMS": {topic(func(*pb.Topic) {}, "kms_key_name"), codes.OK},
		"malformed key of KMS": {topic(func(x *pb.Topic) { x.KmsKeyName = "k" }, "kms_key_name"),
			codes.InvalidArgument},
		"key of KMS with a version": {topic(
			func(x *pb.Topic) { x.KmsKeyName = "projects/p/locations/l/keyRings/r/cryptoKeys/k/cryptoKeyVersions/1" },
			"kms_key_name"), codes.InvalidArgument},
		"regions": {topic(func(x *pb.Topic) {
			x.MessageStoragePolicy = &pb.MessageStoragePolicy{AllowedPersistenceRegions: []string{"asia-northeast1"}}
		}, "message_storage_policy"), codes.OK},
		"no policy": {topic(func(x *pb.Topic) {}, "message_storage_policy"), codes.OK},
		"no regions": {topic(func(x *pb.Topic) { x.MessageStoragePolicy = &pb.MessageStoragePolicy{} },
			"message_storage_policy"), codes.InvalidArgument},
		"an empty region": {topic(func(x *pb.Topic) {
			x.MessageStoragePolicy = &pb.MessageStoragePolicy{AllowedPersistenceRegions: []string{""}}
		}, "message_storage_policy"), codes.InvalidArgument},
		"state of a topic": {topic(func(*pb.Topic) {}, "state"), codes.InvalidArgument},
		"tags of a topic":  {topic(func(*pb.Topic) {}, "tags"), codes.InvalidArgument},
		"satisfies_pzs":    {topic(func(*pb.Topic) {}, "satisfies_pzs"), codes.InvalidArgument},
		"no retention":     {topic(func(*pb.Topic) {}, "message_retention_duration"), codes.OK},
		"retention": {topic(func(x *pb.Topic) {
			x.MessageRetentionDuration = durationpb.New(31*24*time.Hour +
				1)
		}, "message_retention_duration"), codes.InvalidArgument},
		"malformed retention": {topic(
			func(x *pb.Topic) { x.MessageRetentionDuration = &durationpb.Duration{Seconds: 3600, Nanos: -1} },
			"message_retention_duration"), codes.InvalidArgument},
		"state":    {sub(func(*pb.Subscription) {}, "state"), codes.InvalidArgument},
		"detached": {sub(func(*pb.Subscription) {}, "detached"), codes.InvalidArgument},
		"tags":     {sub(func(*pb.Subscription) {}, "tags"), codes.InvalidArgument},
		"name":     {sub(func(*pb.Subscription) {}, "name"), codes.InvalidArgument},
		"topic's retention": {sub(func(*pb.Subscription) {}, "topic_message_retention_duration"),
			codes.InvalidArgument},
		"Analytics Hub": {sub(func(*pb.Subscription) {}, "analytics_hub_subscription_info"),
			codes.InvalidArgument},
		"deadline of 0": {sub(func(*pb.Subscription) {}, "ack_deadline_seconds"), codes.OK},
		"negative deadline": {sub(func(x *pb.Subscription) { x.AckDeadlineSeconds = -1 }, "ack_deadline_seconds"),
			codes.InvalidArgument},
		"never expires": {sub(func(x *pb.Subscription) { x.ExpirationPolicy = &pb.ExpirationPolicy{} },
			"expiration_policy"), codes.OK},
		"expires": {sub(func(x *pb.Subscription) {
			x.ExpirationPolicy = &pb.ExpirationPolicy{Ttl: durationpb.New(24*time.Hour - 1)}
		}, "expiration_policy.ttl"), codes.InvalidArgument},
		"expires before its messages": {sub(func(x *pb.Subscription) {
			x.ExpirationPolicy = &pb.ExpirationPolicy{Ttl: durationpb.New(7*24*time.Hour - 1)}
		}, "expiration_policy"), codes.InvalidArgument},
		"expires with its messages": {sub(func(x *pb.Subscription) {
			x.ExpirationPolicy = &pb.ExpirationPolicy{Ttl: durationpb.New(7 * 24 * time.Hour)}
		}, "expiration_policy"), codes.OK},
		"no retry policy": {sub(func(*pb.Subscription) {}, "retry_policy"), codes.OK},
		"acknowledge nothing": {func() error {
			_, err := r.sub.Acknowledge(ctx, &pb.AcknowledgeRequest{Subscription: subscriptionName("news")})
			return err
		}, codes.InvalidArgument},
		"deadlines of nothing": {func() error {
			_, err := r.sub.ModifyAckDeadline(ctx, &pb.ModifyAckDeadlineRequest{Subscription: subscriptionName("news")})
			return err
		}, codes.InvalidArgument},
		"seek to no moment": {func() error {
			_, err := r.sub.Seek(ctx, &pb.SeekRequest{Subscription: subscriptionName("news"),
				Target: &pb.SeekRequest_Time{Time: &timestamppb.Timestamp{Nanos: -1}}})
			return err
		}, codes.InvalidArgument},
		"seek to 1970": {func() error {
			_, err := r.sub.Seek(ctx, &pb.SeekRequest{Subscription: subscriptionName("news"),
				Target: &pb.SeekRequest_Time{Time: &timestamppb.Timestamp{}}})
			return err
		}, codes.OK},
		"seek to the year 1": {func() error {
			_, err := r.sub.Seek(ctx, &pb.SeekRequest{Subscription: subscriptionName("news"),
				Target: &pb.SeekRequest_Time{Time: timestamppb.New(time.Time{})}})
			return err
		}, codes.OK},
		"seek to the year 9999": {func() error {
			_, err := r.sub.Seek(ctx, &pb.SeekRequest{Subscription: subscriptionName("news"),
				Target: &pb.SeekRequest_Time{Time: &timestamppb.Timestamp{Seconds: 253402300799}}})
			return err
		}, codes.OK},
		"no schema": {func() error {
			_, err := schemas.CreateSchema(ctx, &pb.CreateSchemaRequest{Parent: "projects/local", SchemaId: "seen"})
			return err
		}, codes.InvalidArgument},
		"a schema's short id": {func() error {
			_, err := schemas.CreateSchema(ctx, &pb.CreateSchemaRequest{Parent: "projects/local", SchemaId: "ab",
				Schema: &pb.Schema{Type: pb.Schema_AVRO, Definition: `"string"`}})
			return err
		}, codes.InvalidArgument},
		"validate no schema": {func() error {
			_, err := schemas.ValidateSchema(ctx, &pb.ValidateSchemaRequest{Parent: "projects/local"})
			return err
		}, codes.InvalidArgument},
		"commit no schema": {func() error {
			_, err := schemas.CommitSchema(ctx, &pb.CommitSchemaRequest{Name: "projects/local/schemas/none"})
			return err
		}, codes.InvalidArgument},
		"delete no revision": {func() error {
			_, err := schemas.DeleteSchemaRevision(ctx,
				&pb.DeleteSchemaRevisionRequest{Name: "projects/local/schemas/none"})
			return err
		}, codes.InvalidArgument},
		"list in a negative page": {func() error {
			_, err := schemas.ListSchemas(ctx, &pb.ListSchemasRequest{Parent: "projects/local", PageSize: -1})
			return err
		}, codes.InvalidArgument},
	} {
		t.Run(name, func(t *testing.T) { wantCode(t, c.call(), c.want) })
	}
}
