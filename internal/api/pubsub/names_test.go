package pubsub

import (
	"testing"

	"cloud.google.com/go/iam/apiv1/iampb"
	"cloud.google.com/go/pubsub/v2/apiv1/pubsubpb"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/fieldmaskpb"
	"google.golang.org/protobuf/types/known/timestamppb"
)

// malformed are no names of anything.
var malformed = []string{"", "x", "projects", "projects/", "projects/local", "projects//topics/t",
	"projects/local/topics/", "projects/local/things/t", "/projects/local/topics/t", "projects/local/topics/a/b",
	"projects/local/subscriptions/", "projects/local/snapshots/", "projects/local/schemas/",
	"projects/local/topics/\x01", "projects/local/subscriptions/a b\n",
	"projects/local/topics/a b", "projects/local/topics/1st", "projects/local/topics/ab",
	"projects/local/topics/google", "projects/local/subscriptions/a b", "projects/local/snapshots/a!b",
	"projects/local/schemas/1st"}

// TestMalformedNamesAreInvalidEverywhere, whatever else is wrong with a request.
func TestMalformedNamesAreInvalidEverywhere(t *testing.T) {
	r := newRig(t)
	ctx := t.Context()
	schemas, policies := pubsubpb.NewSchemaServiceClient(r.conn), iampb.NewIAMPolicyClient(r.conn)
	mask := &fieldmaskpb.FieldMask{Paths: []string{"labels"}}
	for call, do := range map[string]func(name string) error{
		"CreateTopic": func(n string) error { _, err := r.pub.CreateTopic(ctx, &pubsubpb.Topic{Name: n}); return err },
		"GetTopic": func(n string) error {
			_,
				err := r.pub.GetTopic(ctx, &pubsubpb.GetTopicRequest{Topic: n})
			return err
		},
		"UpdateTopic": func(n string) error {
			_, err := r.pub.UpdateTopic(ctx, &pubsubpb.UpdateTopicRequest{Topic: &pubsubpb.Topic{Name: n},
				UpdateMask: mask})
			return err
		},
		"DeleteTopic": func(n string) error {
			_, err := r.pub.DeleteTopic(ctx, &pubsubpb.DeleteTopicRequest{Topic: n})
			return err
		},
		"Publish": func(n string) error {
			_,
				err := r.pub.Publish(ctx, &pubsubpb.PublishRequest{Topic: n})
			return err
		},
		"ListTopicSubscriptions": func(n string) error {
			_, err := r.pub.ListTopicSubscriptions(ctx, &pubsubpb.ListTopicSubscriptionsRequest{Topic: n})
			return err
		},
		"ListTopicSnapshots": func(n string) error {
			_, err := r.pub.ListTopicSnapshots(ctx, &pubsubpb.ListTopicSnapshotsRequest{Topic: n})
			return err
		},
		"DetachSubscription": func(n string) error {
			_, err := r.pub.DetachSubscription(ctx, &pubsubpb.DetachSubscriptionRequest{Subscription: n})
			return err
		},
		"CreateSubscription": func(n string) error {
			_, err := r.sub.CreateSubscription(ctx, &pubsubpb.Subscription{Name: subscriptionName("sub"), Topic: n})
			return err
		},
		"GetSubscription": func(n string) error {
			_, err := r.sub.GetSubscription(ctx, &pubsubpb.GetSubscriptionRequest{Subscription: n})
			return err
		},
		"UpdateSubscription": func(n string) error {
			_, err := r.sub.UpdateSubscription(ctx,
				&pubsubpb.UpdateSubscriptionRequest{Subscription: &pubsubpb.Subscription{Name: n}, UpdateMask: mask})
			return err
		},
		"DeleteSubscription": func(n string) error {
			_, err := r.sub.DeleteSubscription(ctx, &pubsubpb.DeleteSubscriptionRequest{Subscription: n})
			return err
		},
		"ModifyPushConfig": func(n string) error {
			_, err := r.sub.ModifyPushConfig(ctx, &pubsubpb.ModifyPushConfigRequest{Subscription: n})
			return err
		},
		"Pull": func(n string) error { _, err := r.sub.Pull(ctx, &pubsubpb.PullRequest{Subscription: n}); return err },
		"Acknowledge": func(n string) error {
			_, err := r.sub.Acknowledge(ctx, &pubsubpb.AcknowledgeRequest{Subscription: n})
			return err
		},
		"ModifyAckDeadline": func(n string) error {
			_, err := r.sub.ModifyAckDeadline(ctx, &pubsubpb.ModifyAckDeadlineRequest{Subscription: n})
			return err
		},
		"StreamingPull": func(n string) error {
			st, err := r.sub.StreamingPull(ctx)
			if err != nil {
				return err
			}
			if err := st.Send(&pubsubpb.StreamingPullRequest{Subscription: n}); err != nil {
				return err
			}
			_, err = st.Recv()
			return err
		},
		"CreateSnapshot": func(n string) error {
			_, err := r.sub.CreateSnapshot(ctx, &pubsubpb.CreateSnapshotRequest{Name: snapshotName("snap"),
				Subscription: n})
			return err
		},
		"GetSnapshot": func(n string) error {
			_, err := r.sub.GetSnapshot(ctx, &pubsubpb.GetSnapshotRequest{Snapshot: n})
			return err
		},
		"UpdateSnapshot": func(n string) error {
			_, err := r.sub.UpdateSnapshot(ctx, &pubsubpb.UpdateSnapshotRequest{Snapshot: &pubsubpb.Snapshot{Name: n},
				UpdateMask: mask})
			return err
		},
		"DeleteSnapshot": func(n string) error {
			_, err := r.sub.DeleteSnapshot(ctx, &pubsubpb.DeleteSnapshotRequest{Snapshot: n})
			return err
		},
		"Seek": func(n string) error {
			_, err := r.sub.Seek(ctx,
				&pubsubpb.SeekRequest{Subscription: n, Target: &pubsubpb.SeekRequest_Time{Time: timestamppb.Now()}})
			return err
		},
		"GetSchema": func(n string) error {
			_, err := schemas.GetSchema(ctx, &pubsubpb.GetSchemaRequest{Name: n})
			return err
		},
		"DeleteSchema": func(n string) error {
			_, err := schemas.DeleteSchema(ctx, &pubsubpb.DeleteSchemaRequest{Name: n})
			return err
		},
		"ListSchemaRevisions": func(n string) error {
			_, err := schemas.ListSchemaRevisions(ctx, &pubsubpb.ListSchemaRevisionsRequest{Name: n})
			return err
		},
		"CommitSchema": func(n string) error {
			_, err := schemas.CommitSchema(ctx, &pubsubpb.CommitSchemaRequest{Name: n})
			return err
		},
		"RollbackSchema": func(n string) error {
			_, err := schemas.RollbackSchema(ctx, &pubsubpb.RollbackSchemaRequest{Name: n})
			return err
		},
		"DeleteSchemaRevision": func(n string) error {
			_, err := schemas.DeleteSchemaRevision(ctx, &pubsubpb.DeleteSchemaRevisionRequest{Name: n})
			return err
		},
		"GetIamPolicy": func(n string) error {
			_, err := policies.GetIamPolicy(ctx, &iampb.GetIamPolicyRequest{Resource: n})
			return err
		},
		"SetIamPolicy": func(n string) error {
			_, err := policies.SetIamPolicy(ctx, &iampb.SetIamPolicyRequest{Resource: n})
			return err
		},
		"TestIamPermissions": func(n string) error {
			_, err := policies.TestIamPermissions(ctx, &iampb.TestIamPermissionsRequest{Resource: n})
			return err
		},
	} {
		for _, name := range malformed {
			if err := do(name); status.Code(err) != codes.InvalidArgument {
				t.Errorf("%s of %q: %v", call, name, err)
			}
		}
	}
	for _, name := range []string{"", "x", "projects", "projects/", "projects/a/b", "projects/local/topics/t"} {
		_, topics := r.pub.ListTopics(ctx, &pubsubpb.ListTopicsRequest{Project: name})
		_, subs := r.sub.ListSubscriptions(ctx, &pubsubpb.ListSubscriptionsRequest{Project: name})
		_, snaps := r.sub.ListSnapshots(ctx, &pubsubpb.ListSnapshotsRequest{Project: name})
		_, list := schemas.ListSchemas(ctx, &pubsubpb.ListSchemasRequest{Parent: name})
		_, made := schemas.CreateSchema(ctx, &pubsubpb.CreateSchemaRequest{Parent: name})
		_, valid := schemas.ValidateSchema(ctx, &pubsubpb.ValidateSchemaRequest{Parent: name})
		_, fits := schemas.ValidateMessage(ctx, &pubsubpb.ValidateMessageRequest{Parent: name})
		for i, err := range []error{topics, subs, snaps, list, made, valid, fits} {
			if status.Code(err) != codes.InvalidArgument {
				t.Errorf("list %d of %q: %v", i, name, err)
			}
		}
	}
}

// TestWhatIsNotThereIsToldBeforeWhatARequestLacks.
func TestWhatIsNotThereIsToldBeforeWhatARequestLacks(t *testing.T) {
	r := newRig(t)
	ctx := t.Context()
	const none = "projects/local/subscriptions/nothing"
	_, publish := r.pub.Publish(ctx, &pubsubpb.PublishRequest{Topic: topicName("nothing")})
	_, empty := r.pub.Publish(ctx,
		&pubsubpb.PublishRequest{Topic: topicName("nothing"), Messages: []*pubsubpb.PubsubMessage{{}}})
	_, pull := r.sub.Pull(ctx, &pubsubpb.PullRequest{Subscription: none})
	_, ack := r.sub.Acknowledge(ctx, &pubsubpb.AcknowledgeRequest{Subscription: none})
	_, modify := r.sub.ModifyAckDeadline(ctx,
		&pubsubpb.ModifyAckDeadlineRequest{Subscription: none, AckDeadlineSeconds: -1})
	_, regions := r.pub.CreateTopic(ctx,
		&pubsubpb.Topic{Name: topicName("news"), MessageStoragePolicy: &pubsubpb.MessageStoragePolicy{}})
	if status.Code(regions) != codes.InvalidArgument {
		t.Errorf("an empty list of regions: %v", regions)
	}
	_, seek := r.sub.Seek(ctx, &pubsubpb.SeekRequest{Subscription: none})
	_, snap := r.sub.CreateSnapshot(ctx, &pubsubpb.CreateSnapshotRequest{Name: snapshotName("snap"), Subscription: none,
		Labels: map[string]string{"A": ""}})
	_, topic := r.pub.UpdateTopic(ctx, &pubsubpb.UpdateTopicRequest{Topic: &pubsubpb.Topic{Name: topicName("nothing")}})
	_, sub := r.sub.UpdateSubscription(ctx,
		&pubsubpb.UpdateSubscriptionRequest{Subscription: &pubsubpb.Subscription{Name: none}})
	st, err := r.sub.StreamingPull(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if err := st.Send(&pubsubpb.StreamingPullRequest{Subscription: none}); err != nil {
		t.Fatal(err)
	}
	_, stream := st.Recv()
	for call, err := range map[string]error{"Publish": publish, "Publish of an empty message": empty, "Pull": pull,
		"Acknowledge": ack, "ModifyAckDeadline": modify, "Seek": seek, "CreateSnapshot": snap,
		"UpdateTopic": topic, "UpdateSubscription": sub, "StreamingPull": stream} {
		if status.Code(err) != codes.NotFound {
			t.Errorf("%s: %v", call, err)
		}
	}
}
