package pubsub

import (
	"context"

	"cloud.google.com/go/iam/apiv1/iampb"
	pb "cloud.google.com/go/pubsub/v2/apiv1/pubsubpb"
	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/types/known/fieldmaskpb"
)

func schemaName(id string) string { return "projects/local/schemas/" + id }

func topicCalls() []awayCall {
	type in = context.Context
	labels := &fieldmaskpb.FieldMask{Paths: []string{"labels"}}
	message := []*pb.PubsubMessage{{Data: []byte(`{"at": 3}`)}}
	return []awayCall{
		{"CreateTopic", func(ctx in, r *awayRig, x subjects) (any, error) {
			return r.pub.CreateTopic(ctx, &pb.Topic{Name: topicName(x.id + "-new"),
				SchemaSettings: &pb.SchemaSettings{Schema: schemaName(x.id), Encoding: pb.Encoding_JSON}})
		}, 0},
		{"CreateTopic without settings", func(ctx in, r *awayRig, x subjects) (any, error) {
			return r.pub.CreateTopic(ctx, &pb.Topic{Name: topicName(x.id + "-new")})
		}, 0},
		{"GetTopic", func(ctx in, r *awayRig, x subjects) (any, error) {
			return r.pub.GetTopic(ctx, &pb.GetTopicRequest{Topic: topicName(x.id)})
		}, 0},
		{"GetTopic of a queue", func(ctx in, r *awayRig, x subjects) (any, error) {
			return r.pub.GetTopic(ctx, &pb.GetTopicRequest{Topic: topicName(x.own)})
		}, 0},
		{"UpdateTopic", func(ctx in, r *awayRig, x subjects) (any, error) {
			return r.pub.UpdateTopic(ctx, &pb.UpdateTopicRequest{UpdateMask: labels,
				Topic: &pb.Topic{Name: topicName(x.id), Labels: map[string]string{"a": "b"}}})
		}, 0},
		{"ListTopics", func(ctx in, r *awayRig, _ subjects) (any, error) {
			return r.pub.ListTopics(ctx, &pb.ListTopicsRequest{Project: "projects/local"})
		}, 0},
		{"ListTopicSubscriptions", func(ctx in, r *awayRig, x subjects) (any, error) {
			return r.pub.ListTopicSubscriptions(ctx, &pb.ListTopicSubscriptionsRequest{Topic: topicName(x.id)})
		}, 0},
		{"ListTopicSnapshots", func(ctx in, r *awayRig, x subjects) (any, error) {
			return r.pub.ListTopicSnapshots(ctx, &pb.ListTopicSnapshotsRequest{Topic: topicName(x.own)})
		}, 0},
		{"DeleteTopic", func(ctx in, r *awayRig, x subjects) (any, error) {
			return r.pub.DeleteTopic(ctx, &pb.DeleteTopicRequest{Topic: topicName(x.id)})
		}, 0},
		{"DeleteTopic of a queue", func(ctx in, r *awayRig, x subjects) (any, error) {
			return r.pub.DeleteTopic(ctx, &pb.DeleteTopicRequest{Topic: topicName(x.own)})
		}, codes.FailedPrecondition},
		{"Publish", func(ctx in, r *awayRig, x subjects) (any, error) {
			return r.pub.Publish(ctx, &pb.PublishRequest{Topic: topicName(x.id), Messages: message})
		}, 0},
		{"Publish to a queue", func(ctx in, r *awayRig, x subjects) (any, error) {
			return r.pub.Publish(ctx, &pb.PublishRequest{Topic: topicName(x.own), Messages: message})
		}, 0},
		{"GetIamPolicy", func(ctx in, r *awayRig, x subjects) (any, error) {
			return r.iam.GetIamPolicy(ctx, &iampb.GetIamPolicyRequest{Resource: topicName(x.id)})
		}, 0},
		{"SetIamPolicy", func(ctx in, r *awayRig, x subjects) (any, error) {
			return r.iam.SetIamPolicy(ctx,
				&iampb.SetIamPolicyRequest{Resource: schemaName(x.id), Policy: new(iampb.Policy)})
		}, 0},
		{"TestIamPermissions", func(ctx in, r *awayRig, x subjects) (any, error) {
			return r.iam.TestIamPermissions(ctx, &iampb.TestIamPermissionsRequest{Resource: snapshotName(x.id),
				Permissions: []string{"pubsub.snapshots.get"}})
		}, 0},
	}
}

func subscriptionCalls() []awayCall {
	type in = context.Context
	labels := &fieldmaskpb.FieldMask{Paths: []string{"labels"}}
	subscribe := func(ctx in, r *awayRig, topic, dead string) (any, error) {
		s := &pb.Subscription{Name: subscriptionName(topic + "-new"), Topic: topicName(topic)}
		if dead != "" {
			s.DeadLetterPolicy = &pb.DeadLetterPolicy{DeadLetterTopic: topicName(dead)}
		}
		return r.sub.CreateSubscription(ctx, s)
	}
	pull := func(ctx in, r *awayRig, id string) (any, error) {
		ask := &pb.PullRequest{Subscription: subscriptionName(id), MaxMessages: 1}
		//lint:ignore SA1019 clients still send it
		ask.ReturnImmediately = true
		return r.sub.Pull(ctx, ask)
	}
	seek := func(ctx in, r *awayRig, id, snapshot string) (any, error) {
		return r.sub.Seek(ctx, &pb.SeekRequest{Subscription: subscriptionName(id),
			Target: &pb.SeekRequest_Snapshot{Snapshot: snapshotName(snapshot)}})
	}
	return []awayCall{
		{"CreateSubscription", func(ctx in, r *awayRig, x subjects) (any, error) {
			return subscribe(ctx, r, x.id, x.own)
		}, 0},
		{"CreateSubscription of a queue", func(ctx in, r *awayRig, x subjects) (any, error) {
			return subscribe(ctx, r, x.own, "")
		}, codes.FailedPrecondition},
		{"GetSubscription", func(ctx in, r *awayRig, x subjects) (any, error) {
			return r.sub.GetSubscription(ctx, &pb.GetSubscriptionRequest{Subscription: subscriptionName(x.id)})
		}, 0},
		{"GetSubscription detached", func(ctx in, r *awayRig, x subjects) (any, error) {
			return r.sub.GetSubscription(ctx, &pb.GetSubscriptionRequest{Subscription: subscriptionName(x.detached)})
		}, 0},
		{"UpdateSubscription", func(ctx in, r *awayRig, x subjects) (any, error) {
			return r.sub.UpdateSubscription(ctx, &pb.UpdateSubscriptionRequest{UpdateMask: labels,
				Subscription: &pb.Subscription{Name: subscriptionName(x.id), Labels: map[string]string{"a": "b"}}})
		}, 0},
		{"ListSubscriptions", func(ctx in, r *awayRig, _ subjects) (any, error) {
			return r.sub.ListSubscriptions(ctx, &pb.ListSubscriptionsRequest{Project: "projects/local"})
		}, 0},
		{"DeleteSubscription", func(ctx in, r *awayRig, x subjects) (any, error) {
			return r.sub.DeleteSubscription(ctx, &pb.DeleteSubscriptionRequest{Subscription: subscriptionName(x.id)})
		}, 0},
		{"DetachSubscription", func(ctx in, r *awayRig, x subjects) (any, error) {
			return r.pub.DetachSubscription(ctx, &pb.DetachSubscriptionRequest{Subscription: subscriptionName(x.id)})
		}, 0},
		{"Pull", func(ctx in, r *awayRig, x subjects) (any, error) { return pull(ctx, r, x.id) }, 0},
		{"Pull of a dead letter", func(ctx in, r *awayRig, x subjects) (any, error) {
			return pull(ctx, r, x.dead)
		}, 0},
		{"Acknowledge", func(ctx in, r *awayRig, x subjects) (any, error) {
			return r.sub.Acknowledge(ctx,
				&pb.AcknowledgeRequest{Subscription: subscriptionName(x.id), AckIds: []string{x.ack}})
		}, 0},
		{"Seek", func(ctx in, r *awayRig, x subjects) (any, error) { return seek(ctx, r, x.id, x.id) }, 0},
		{"Seek of another", func(ctx in, r *awayRig, x subjects) (any, error) {
			return seek(ctx, r, x.dead, x.id)
		}, codes.FailedPrecondition},
		{"CreateSnapshot", func(ctx in, r *awayRig, x subjects) (any, error) {
			return r.sub.CreateSnapshot(ctx,
				&pb.CreateSnapshotRequest{Name: snapshotName(x.id + "-new"), Subscription: subscriptionName(x.id)})
		}, 0},
		{"GetSnapshot", func(ctx in, r *awayRig, x subjects) (any, error) {
			return r.sub.GetSnapshot(ctx, &pb.GetSnapshotRequest{Snapshot: snapshotName(x.id)})
		}, 0},
		{"UpdateSnapshot", func(ctx in, r *awayRig, x subjects) (any, error) {
			return r.sub.UpdateSnapshot(ctx, &pb.UpdateSnapshotRequest{UpdateMask: labels,
				Snapshot: &pb.Snapshot{Name: snapshotName(x.id), Labels: map[string]string{"a": "b"}}})
		}, 0},
		{"DeleteSnapshot", func(ctx in, r *awayRig, x subjects) (any, error) {
			return r.sub.DeleteSnapshot(ctx, &pb.DeleteSnapshotRequest{Snapshot: snapshotName(x.id)})
		}, 0},
		{"ListSnapshots", func(ctx in, r *awayRig, _ subjects) (any, error) {
			return r.sub.ListSnapshots(ctx, &pb.ListSnapshotsRequest{Project: "projects/local"})
		}, 0},
	}
}

func schemaCalls() []awayCall {
	type in = context.Context
	return []awayCall{
		{"CreateSchema", func(ctx in, r *awayRig, x subjects) (any, error) {
			return r.schemas.CreateSchema(ctx, &pb.CreateSchemaRequest{Parent: "projects/local",
				SchemaId: x.id + "-new", Schema: &pb.Schema{Type: pb.Schema_AVRO, Definition: seenV1}})
		}, 0},
		{"GetSchema", func(ctx in, r *awayRig, x subjects) (any, error) {
			return r.schemas.GetSchema(ctx, &pb.GetSchemaRequest{Name: schemaName(x.id)})
		}, 0},
		{"ListSchemas", func(ctx in, r *awayRig, _ subjects) (any, error) {
			return r.schemas.ListSchemas(ctx,
				&pb.ListSchemasRequest{Parent: "projects/local", View: pb.SchemaView_FULL})
		}, 0},
		{"ListSchemaRevisions", func(ctx in, r *awayRig, x subjects) (any, error) {
			return r.schemas.ListSchemaRevisions(ctx,
				&pb.ListSchemaRevisionsRequest{Name: schemaName(x.id), View: pb.SchemaView_FULL})
		}, 0},
		{"CommitSchema", func(ctx in, r *awayRig, x subjects) (any, error) {
			return r.schemas.CommitSchema(ctx, &pb.CommitSchemaRequest{Name: schemaName(x.id),
				Schema: &pb.Schema{Type: pb.Schema_AVRO, Definition: seenV2}})
		}, 0},
		{"RollbackSchema", func(ctx in, r *awayRig, x subjects) (any, error) {
			return r.schemas.RollbackSchema(ctx,
				&pb.RollbackSchemaRequest{Name: schemaName(x.id), RevisionId: x.old})
		}, 0},
		{"DeleteSchemaRevision", func(ctx in, r *awayRig, x subjects) (any, error) {
			return r.schemas.DeleteSchemaRevision(ctx,
				&pb.DeleteSchemaRevisionRequest{Name: schemaName(x.id) + "@" + x.old})
		}, 0},
		{"DeleteSchema", func(ctx in, r *awayRig, x subjects) (any, error) {
			return r.schemas.DeleteSchema(ctx, &pb.DeleteSchemaRequest{Name: schemaName(x.id)})
		}, 0},
		{"ValidateMessage", func(ctx in, r *awayRig, x subjects) (any, error) {
			return r.schemas.ValidateMessage(ctx, &pb.ValidateMessageRequest{Parent: "projects/local",
				SchemaSpec: &pb.ValidateMessageRequest_Name{Name: schemaName(x.id)}, Encoding: pb.Encoding_JSON,
				Message: []byte(`{"at": 3, "by": "me"}`)})
		}, 0},
	}
}
