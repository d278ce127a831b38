package pubsub

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"cloud.google.com/go/iam/apiv1/iampb"
	pb "cloud.google.com/go/pubsub/v2/apiv1/pubsubpb"
	"github.com/google/go-cmp/cmp"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/known/fieldmaskpb"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/hikyaku/hikyaku/internal/queue"
)

// wrong is a call that is refused.
type wrong struct {
	name string
	call func(context.Context) error
}

// without drops the answer of a call.
func without[Req, Res any](call func(context.Context, Req, ...callOption) (Res, error),
	req Req) func(context.Context) error {
	return func(ctx context.Context) error {
		_, err := call(ctx, req)
		return err
	}
}

// TestWhatIsRefusedIsRefusedAsTheServiceDoes compares code, field and text of every refusal with a golden file.
func TestWhatIsRefusedIsRefusedAsTheServiceDoes(t *testing.T) {
	r := newRig(t)
	r.topic("news")
	r.topic("dead")
	r.subscribeTo("news", "readers")
	r.subscribeTo("news", "others")
	r.subscribeTo("dead", "elsewhere")
	r.subscribeTo("news", "detached")
	r.subscribeTo("news", "pushed",
		func(s *pb.Subscription) { s.PushConfig = &pb.PushConfig{PushEndpoint: "http://127.0.0.1:1/"} })
	for _, call := range []func(context.Context) error{
		without(r.pub.DetachSubscription, &pb.DetachSubscriptionRequest{Subscription: subscriptionName("detached")}),
		without(r.sub.CreateSnapshot,
			&pb.CreateSnapshotRequest{Name: snapshotName("snap"), Subscription: subscriptionName("readers")}),
	} {
		if err := call(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	full := queue.Name{Namespace: "default", Name: "full"}
	if _, err := r.store.CreateQueue(t.Context(), full, queue.Definition{MaxMessages: 1}); err != nil {
		t.Fatal(err)
	}
	r.publish("full", "", "x")

	tooMuch := slices.Repeat([]string{strings.Repeat("x", 206)}, 2509) // 209 bytes each
	iam, schemas := iampb.NewIAMPolicyClient(r.conn), pb.NewSchemaServiceClient(r.conn)
	topic := func(change func(*pb.Topic)) func(context.Context) error {
		x := &pb.Topic{Name: topicName("fresh")}
		change(x)
		return without(r.pub.CreateTopic, x)
	}
	sub := func(change func(*pb.Subscription)) func(context.Context) error {
		x := &pb.Subscription{Name: subscriptionName("fresh"), Topic: topicName("news")}
		change(x)
		return without(r.sub.CreateSubscription, x)
	}
	publish := func(to string, ms ...*pb.PubsubMessage) func(context.Context) error {
		return without(r.pub.Publish, &pb.PublishRequest{Topic: to, Messages: ms})
	}
	mask := func(paths ...string) func(context.Context) error {
		return without(r.sub.UpdateSubscription, updateOf("readers", &pb.Subscription{}, paths...))
	}
	hello := &pb.PubsubMessage{Data: []byte("hello")}
	many := make([]*pb.PubsubMessage, 1001)
	attributes := map[string]string{}
	for i := range many {
		many[i] = hello
		if i <= 100 {
			attributes[fmt.Sprint(i)] = ""
		}
	}
	var out strings.Builder
	for _, c := range []wrong{
		{"topic: no name", topic(func(x *pb.Topic) { x.Name = "" })},
		{"topic: not a name", topic(func(x *pb.Topic) { x.Name = "news" })},
		{"topic: a subscription's name", topic(func(x *pb.Topic) { x.Name = subscriptionName("x123") })},
		{"topic: short", topic(func(x *pb.Topic) { x.Name = topicName("ab") })},
		{"topic: long", topic(func(x *pb.Topic) { x.Name = topicName(strings.Repeat("a", 256)) })},
		{"topic: begins with a digit", topic(func(x *pb.Topic) { x.Name = topicName("1abc") })},
		{"topic: begins with goog", topic(func(x *pb.Topic) { x.Name = topicName("google") })},
		{"topic: a character", topic(func(x *pb.Topic) { x.Name = topicName("abc$d") })},
		{"topic: exists", topic(func(x *pb.Topic) { x.Name = topicName("news") })},
		{"topic: exists as a queue", topic(func(x *pb.Topic) { x.Name = topicName("full") })},
		{"topic: label", topic(func(x *pb.Topic) { x.Labels = map[string]string{"A": ""} })},
		{"topic: label value", topic(func(x *pb.Topic) { x.Labels = map[string]string{"a": strings.Repeat("x", 64)} })},
		{"topic: retention", topic(func(x *pb.Topic) { x.MessageRetentionDuration = durationpb.New(time.Minute) })},
		{"topic: ingestion",
			topic(func(x *pb.Topic) { x.IngestionDataSourceSettings = &pb.IngestionDataSourceSettings{} })},
		{"topic: transforms", topic(func(x *pb.Topic) { x.MessageTransforms = []*pb.MessageTransform{{}} })},
		{"topic: unknown schema", topic(func(x *pb.Topic) {
			x.SchemaSettings = &pb.SchemaSettings{Schema: "projects/local/schemas/none", Encoding: pb.Encoding_JSON}
		})},
		{"topic: no encoding",
			topic(func(x *pb.Topic) { x.SchemaSettings = &pb.SchemaSettings{Schema: "projects/local/schemas/none"} })},
		{"get topic: unknown", without(r.pub.GetTopic, &pb.GetTopicRequest{Topic: topicName("none")})},
		{"delete topic: unknown", without(r.pub.DeleteTopic, &pb.DeleteTopicRequest{Topic: topicName("none")})},
		{"delete topic: a queue", without(r.pub.DeleteTopic, &pb.DeleteTopicRequest{Topic: topicName("full")})},
		{"update topic: no mask",
			without(r.pub.UpdateTopic, &pb.UpdateTopicRequest{Topic: &pb.Topic{Name: topicName("news")}})},
		{"update topic: unknown field",
			without(r.pub.UpdateTopic, &pb.UpdateTopicRequest{Topic: &pb.Topic{Name: topicName("news")},
				UpdateMask: &fieldmaskpb.FieldMask{Paths: []string{"colour"}}})},
		{"update topic: name", without(r.pub.UpdateTopic,
			&pb.UpdateTopicRequest{Topic: &pb.Topic{Name: topicName("news")},
				UpdateMask: &fieldmaskpb.FieldMask{Paths: []string{"name"}}})},
		{"update topic: unknown",
			without(r.pub.UpdateTopic, &pb.UpdateTopicRequest{Topic: &pb.Topic{Name: topicName("none")},
				UpdateMask: &fieldmaskpb.FieldMask{Paths: []string{"labels"}}})},
		{"list topics: project", without(r.pub.ListTopics, &pb.ListTopicsRequest{Project: "local"})},
		{"list topics: size", without(r.pub.ListTopics,
			&pb.ListTopicsRequest{Project: "projects/local", PageSize: -1})},
		{"list topics: token", without(r.pub.ListTopics,
			&pb.ListTopicsRequest{Project: "projects/local", PageToken: "!"})},
		{"list its subscriptions: unknown",
			without(r.pub.ListTopicSubscriptions, &pb.ListTopicSubscriptionsRequest{Topic: topicName("none")})},
		{"list its snapshots: unknown",
			without(r.pub.ListTopicSnapshots, &pb.ListTopicSnapshotsRequest{Topic: topicName("none")})},

		{"publish: unknown topic", publish(topicName("none"), hello)},
		{"publish: deleted topic", publish(deletedTopic, hello)},
		{"publish: nothing", publish(topicName("news"))},
		{"publish: an empty message", publish(topicName("news"), hello, &pb.PubsubMessage{})},
		{"publish: 1,001 messages", publish(topicName("news"), many...)},
		{"publish: more than 10 MB", publish(topicName("news"), &pb.PubsubMessage{Data: make([]byte, 10_000_000)})},
		{"publish: 101 attributes", publish(topicName("news"), &pb.PubsubMessage{Attributes: attributes})},
		{"publish: a long attribute name",
			publish(topicName("news"), &pb.PubsubMessage{Attributes: map[string]string{strings.Repeat("n", 257): ""}})},
		{"publish: a long attribute value",
			publish(topicName("news"),
				&pb.PubsubMessage{Attributes: map[string]string{"n": strings.Repeat("v", 1025)}})},
		{"publish: an attribute without a name",
			publish(topicName("news"), &pb.PubsubMessage{Attributes: map[string]string{"": "v"}})},
		{"publish: a long ordering key",
			publish(topicName("news"), &pb.PubsubMessage{Data: []byte("x"), OrderingKey: strings.Repeat("k", 1025)})},
		{"publish: two ordering keys",
			publish(topicName("news"), &pb.PubsubMessage{Data: []byte("x"), OrderingKey: "a"},
				&pb.PubsubMessage{Data: []byte("x"), OrderingKey: "b"})},
		{"publish: a full queue", publish(topicName("full"), hello)},

		{"subscription: no topic", sub(func(x *pb.Subscription) { x.Topic = "" })},
		{"subscription: unknown topic", sub(func(x *pb.Subscription) { x.Topic = topicName("none") })},
		{"subscription: a queue's own topic", sub(func(x *pb.Subscription) { x.Topic = topicName("full") })},
		{"subscription: exists", sub(func(x *pb.Subscription) { x.Name = subscriptionName("readers") })},
		{"subscription: exists as a queue", sub(func(x *pb.Subscription) { x.Name = subscriptionName("full") })},
		{"subscription: name", sub(func(x *pb.Subscription) { x.Name = subscriptionName("1a") })},
		{"subscription: deadline too short", sub(func(x *pb.Subscription) { x.AckDeadlineSeconds = 9 })},
		{"subscription: deadline too long", sub(func(x *pb.Subscription) { x.AckDeadlineSeconds = 601 })},
		{"subscription: retention",
			sub(func(x *pb.Subscription) { x.MessageRetentionDuration = durationpb.New(32 * 24 * time.Hour) })},
		{"subscription: ttl",
			sub(func(x *pb.Subscription) {
				x.ExpirationPolicy = &pb.ExpirationPolicy{Ttl: durationpb.New(
					time.Hour)}
			})},
		{"subscription: filter", sub(func(x *pb.Subscription) { x.Filter = `attributes.lang == "ja"` })},
		{"subscription: long filter",
			sub(func(x *pb.Subscription) { x.Filter = `attributes.lang = "` + strings.Repeat("a", 256) + `"` })},
		{"subscription: dead letters nowhere",
			sub(func(x *pb.Subscription) { x.DeadLetterPolicy = &pb.DeadLetterPolicy{} })},
		{"subscription: dead letters to an unknown topic", sub(func(x *pb.Subscription) {
			x.DeadLetterPolicy = &pb.DeadLetterPolicy{DeadLetterTopic: topicName("none")}
		})},
		{"subscription: attempts", sub(func(x *pb.Subscription) {
			x.DeadLetterPolicy = &pb.DeadLetterPolicy{DeadLetterTopic: topicName("dead"), MaxDeliveryAttempts: 4}
		})},
		{"subscription: many attempts", sub(func(x *pb.Subscription) {
			x.DeadLetterPolicy = &pb.DeadLetterPolicy{DeadLetterTopic: topicName("dead"), MaxDeliveryAttempts: 101}
		})},
		{"subscription: back-off", sub(func(x *pb.Subscription) {
			x.RetryPolicy = &pb.RetryPolicy{MinimumBackoff: durationpb.New(601 * time.Second)}
		})},
		{"subscription: back-off of -1 s", sub(func(x *pb.Subscription) {
			x.RetryPolicy = &pb.RetryPolicy{MaximumBackoff: durationpb.New(-time.Second)}
		})},
		{"subscription: back-off upside down",
			sub(func(x *pb.Subscription) {
				x.RetryPolicy = &pb.RetryPolicy{MaximumBackoff: durationpb.New(
					time.Second)}
			})},
		{"subscription: endpoint",
			sub(func(x *pb.Subscription) { x.PushConfig = &pb.PushConfig{PushEndpoint: "ftp://x"} })},
		{"subscription: version of push", sub(func(x *pb.Subscription) {
			x.PushConfig = &pb.PushConfig{PushEndpoint: "http://x", Attributes: map[string]string{pushVersion: "v9"}}
		})},
		{"subscription: exactly once and push", sub(func(x *pb.Subscription) {
			x.PushConfig, x.EnableExactlyOnceDelivery = &pb.PushConfig{PushEndpoint: "http://x"}, true
		})},
		{"subscription: BigQuery", sub(func(x *pb.Subscription) { x.BigqueryConfig = &pb.BigQueryConfig{} })},
		{"subscription: Cloud Storage",
			sub(func(x *pb.Subscription) { x.CloudStorageConfig = &pb.CloudStorageConfig{} })},
		{"subscription: Bigtable", sub(func(x *pb.Subscription) { x.BigtableConfig = &pb.BigtableConfig{} })},
		{"subscription: transforms",
			sub(func(x *pb.Subscription) { x.MessageTransforms = []*pb.MessageTransform{{}} })},
		{"get subscription: unknown",
			without(r.sub.GetSubscription, &pb.GetSubscriptionRequest{Subscription: subscriptionName("none")})},
		{"delete subscription: unknown",
			without(r.sub.DeleteSubscription, &pb.DeleteSubscriptionRequest{Subscription: subscriptionName("none")})},
		{"detach: unknown", without(r.pub.DetachSubscription,
			&pb.DetachSubscriptionRequest{Subscription: subscriptionName("none")})},
		{"detach: its own topic",
			without(r.pub.DetachSubscription, &pb.DetachSubscriptionRequest{Subscription: subscriptionName("full")})},
		{"update subscription: no mask", mask()},
		{"update subscription: unknown field", mask("labels", "colour")},
		{"update subscription: unknown field within", mask("retry_policy.colour")},
		{"update subscription: a field within none", mask("ack_deadline_seconds.x")},
		{"update subscription: topic", mask("topic")},
		{"update subscription: filter", mask("filter")},
		{"update subscription: ordering", mask("enable_message_ordering")},
		{"update subscription: nothing", without(r.sub.UpdateSubscription, &pb.UpdateSubscriptionRequest{})},
		{"push config: unknown",
			without(r.sub.ModifyPushConfig, &pb.ModifyPushConfigRequest{Subscription: subscriptionName("none")})},

		{"pull: unknown", without(r.sub.Pull, &pb.PullRequest{Subscription: subscriptionName("none"), MaxMessages: 1})},
		{"pull: no number", without(r.sub.Pull, &pb.PullRequest{Subscription: subscriptionName("readers")})},
		{"pull: detached", without(r.sub.Pull, &pb.PullRequest{Subscription: subscriptionName("detached"),
			MaxMessages: 1})},
		{"pull: pushed", without(r.sub.Pull,
			&pb.PullRequest{Subscription: subscriptionName("pushed"), MaxMessages: 1})},
		{"acknowledge: unknown",
			without(r.sub.Acknowledge, &pb.AcknowledgeRequest{Subscription: subscriptionName("none"),
				AckIds: []string{"x"}})},
		{"acknowledge: nothing",
			without(r.sub.Acknowledge, &pb.AcknowledgeRequest{Subscription: subscriptionName("readers")})},
		{"acknowledge: nonsense",
			without(r.sub.Acknowledge, &pb.AcknowledgeRequest{Subscription: subscriptionName("readers"),
				AckIds: []string{"x"}})},
		{"acknowledge: too many bytes",
			without(r.sub.Acknowledge, &pb.AcknowledgeRequest{Subscription: subscriptionName("none"),
				AckIds: tooMuch})},
		{"deadline: too many bytes", without(r.sub.ModifyAckDeadline,
			&pb.ModifyAckDeadlineRequest{Subscription: subscriptionName("readers"), AckIds: tooMuch})},
		{"deadline: too long", without(r.sub.ModifyAckDeadline,
			&pb.ModifyAckDeadlineRequest{Subscription: subscriptionName("readers"), AckIds: []string{"x"},
				AckDeadlineSeconds: 601})},
		{"deadline: negative", without(r.sub.ModifyAckDeadline,
			&pb.ModifyAckDeadlineRequest{Subscription: subscriptionName("readers"), AckIds: []string{"x"},
				AckDeadlineSeconds: -1})},

		{"snapshot: unknown subscription",
			without(r.sub.CreateSnapshot, &pb.CreateSnapshotRequest{Name: snapshotName("other"),
				Subscription: subscriptionName("none")})},
		{"snapshot: exists", without(r.sub.CreateSnapshot,
			&pb.CreateSnapshotRequest{Name: snapshotName("snap"), Subscription: subscriptionName("readers")})},
		{"snapshot: detached", without(r.sub.CreateSnapshot,
			&pb.CreateSnapshotRequest{Name: snapshotName("other"), Subscription: subscriptionName("detached")})},
		{"get snapshot: unknown", without(r.sub.GetSnapshot, &pb.GetSnapshotRequest{Snapshot: snapshotName("none")})},
		{"update snapshot: its queue",
			without(r.sub.UpdateSnapshot, &pb.UpdateSnapshotRequest{Snapshot: &pb.Snapshot{Name: snapshotName("snap")},
				UpdateMask: &fieldmaskpb.FieldMask{Paths: []string{"topic"}}})},
		{"update snapshot: expiry",
			without(r.sub.UpdateSnapshot, &pb.UpdateSnapshotRequest{Snapshot: &pb.Snapshot{Name: snapshotName("snap")},
				UpdateMask: &fieldmaskpb.FieldMask{Paths: []string{"expire_time"}}})},
		{"delete snapshot: unknown",
			without(r.sub.DeleteSnapshot, &pb.DeleteSnapshotRequest{Snapshot: snapshotName("none")})},
		{"seek: nowhere", without(r.sub.Seek, &pb.SeekRequest{Subscription: subscriptionName("readers")})},
		{"seek: unknown", without(r.sub.Seek,
			&pb.SeekRequest{Subscription: subscriptionName("none"),
				Target: &pb.SeekRequest_Time{Time: timestamppb.Now()}})},
		{"seek: unknown snapshot",
			without(r.sub.Seek, &pb.SeekRequest{Subscription: subscriptionName("readers"),
				Target: &pb.SeekRequest_Snapshot{Snapshot: snapshotName("none")}})},
		{"seek: another topic's snapshot",
			without(r.sub.Seek, &pb.SeekRequest{Subscription: subscriptionName("elsewhere"),
				Target: &pb.SeekRequest_Snapshot{Snapshot: snapshotName("snap")}})},
		{"seek: detached", without(r.sub.Seek, &pb.SeekRequest{Subscription: subscriptionName("detached"),
			Target: &pb.SeekRequest_Time{Time: timestamppb.Now()}})},

		{"schema: no type", without(schemas.CreateSchema,
			&pb.CreateSchemaRequest{Parent: "projects/local", SchemaId: "seen", Schema: &pb.Schema{}})},
		{"schema: definition", without(schemas.CreateSchema,
			&pb.CreateSchemaRequest{Parent: "projects/local", SchemaId: "seen",
				Schema: &pb.Schema{Type: pb.Schema_AVRO, Definition: "{"}})},
		{"schema: compiled", without(schemas.CreateSchema,
			&pb.CreateSchemaRequest{Parent: "projects/local", SchemaId: "seen",
				Schema: &pb.Schema{Type: pb.Schema_PROTOCOL_BUFFER, Configuration: &pb.Schema_CompiledProtoSchema{}}})},
		{"get schema: unknown", without(schemas.GetSchema, &pb.GetSchemaRequest{Name: "projects/local/schemas/none"})},
		{"validate message: nothing",
			without(schemas.ValidateMessage,
				&pb.ValidateMessageRequest{Parent: "projects/local", Encoding: pb.Encoding_JSON})},

		{"policy: of nothing", without(iam.GetIamPolicy, &iampb.GetIamPolicyRequest{Resource: "projects/local"})},
		{"policy: unknown", without(iam.GetIamPolicy, &iampb.GetIamPolicyRequest{Resource: subscriptionName("none")})},
		{"policy: none given", without(iam.SetIamPolicy, &iampb.SetIamPolicyRequest{Resource: topicName("news")})},
		{"permissions: a wildcard",
			without(iam.TestIamPermissions, &iampb.TestIamPermissionsRequest{Resource: topicName("news"),
				Permissions: []string{"pubsub.*"}})},
	} {
		err := c.call(t.Context())
		s := status.Convert(err)
		if s.Code() == codes.OK {
			t.Errorf("%s: it is not refused", c.name)
		}
		fmt.Fprintf(&out, "%s\n\t%s", c.name, s.Code())
		if field := fieldOf(err); field != "" {
			fmt.Fprintf(&out, " (%s)", field)
		}
		fmt.Fprintf(&out, "\n\t%s\n", strings.ReplaceAll(s.Message(), "\n", "\n\t"))
	}
	compareGolden(t, "codes.txt", out.String())
}

// compareGolden compares a text with a file of testdata.
func compareGolden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", path, diff)
	}
}
