package pubsub

import (
	"context"
	"testing"
	"time"

	"cloud.google.com/go/iam/apiv1/iampb"
	"cloud.google.com/go/pubsub/v2/apiv1/pubsubpb"
	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/types/known/fieldmaskpb"

	"github.com/hikyaku/hikyaku/internal/access"
)

// reaching is a rig with a boss, who may all, and eve, who may all with names that begin with hers.
func reaching(t *testing.T) (r *rig, users *access.Users, boss, eve context.Context) {
	t.Helper()
	all := []string{"put", "take", "admin"}
	users, err := access.New([]access.User{
		{Name: "boss", Secret: "boss-secret", Grants: []access.Grant{{Can: all, On: []string{"*"}}}},
		{Name: "eve", Secret: "eve-secret", Grants: []access.Grant{{Can: all, On: []string{"default/eve*"}}}},
	})
	if err != nil {
		t.Fatal(err)
	}
	s, stop := openStore(t, t.TempDir(), time.Now)
	t.Cleanup(stop)
	return newRigOver(t, Config{}, users, s), users, as(t.Context(), "boss-secret"), as(t.Context(), "eve-secret")
}

// make makes a topic and a subscription of it, named alike.
func (r *rig) make(ctx context.Context, id string) *pubsubpb.Subscription {
	r.t.Helper()
	if _, err := r.pub.CreateTopic(ctx, &pubsubpb.Topic{Name: topicName(id)}); err != nil {
		r.t.Fatal(err)
	}
	s, err := r.sub.CreateSubscription(ctx,
		&pubsubpb.Subscription{Name: subscriptionName(id + "-readers"), Topic: topicName(id)})
	if err != nil {
		r.t.Fatal(err)
	}
	return s
}

// TestDeadLettersGoWhereTheirAuthorMayPublish: whoever sets a dead-letter topic writes to it.
func TestDeadLettersGoWhereTheirAuthorMayPublish(t *testing.T) {
	r, _, boss, eve := reaching(t)
	r.make(boss, "news")
	s := r.make(eve, "eve")
	for _, topic := range []string{"news", "none"} { // who may nothing with a topic is not told whether there is one
		letters := &pubsubpb.DeadLetterPolicy{DeadLetterTopic: topicName(topic)}
		_, err := r.sub.CreateSubscription(eve, &pubsubpb.Subscription{Name: subscriptionName("eve-2"),
			Topic: topicName("eve"), DeadLetterPolicy: letters})
		wantCode(t, err, codes.PermissionDenied)
		_, err = r.sub.UpdateSubscription(eve, &pubsubpb.UpdateSubscriptionRequest{
			Subscription: &pubsubpb.Subscription{Name: s.Name, DeadLetterPolicy: letters},
			UpdateMask:   &fieldmaskpb.FieldMask{Paths: []string{"dead_letter_policy"}}})
		wantCode(t, err, codes.PermissionDenied)
	}
	update := func(ctx context.Context, s *pubsubpb.Subscription, field string) {
		t.Helper()
		if _, err := r.sub.UpdateSubscription(ctx, &pubsubpb.UpdateSubscriptionRequest{Subscription: s,
			UpdateMask: &fieldmaskpb.FieldMask{Paths: []string{field}}}); err != nil {
			t.Error(err)
		}
	}
	update(boss, &pubsubpb.Subscription{Name: s.Name,
		DeadLetterPolicy: &pubsubpb.DeadLetterPolicy{DeadLetterTopic: topicName("news")}}, "dead_letter_policy")
	// what was set stays
	update(eve, &pubsubpb.Subscription{Name: s.Name, AckDeadlineSeconds: 60}, "ack_deadline_seconds")
}

// TestWhatOthersHaveIsNotUsedWithoutAGrant: a snapshot to seek to, and a schema to check messages by.
func TestWhatOthersHaveIsNotUsedWithoutAGrant(t *testing.T) {
	r, _, boss, eve := reaching(t)
	r.make(boss, "news")
	s, err := r.sub.CreateSubscription(boss,
		&pubsubpb.Subscription{Name: subscriptionName("eve-readers"), Topic: topicName("news")})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := r.sub.CreateSnapshot(boss, &pubsubpb.CreateSnapshotRequest{Name: snapshotName("mine"),
		Subscription: subscriptionName("news-readers")}); err != nil {
		t.Fatal(err)
	}
	schemas := pubsubpb.NewSchemaServiceClient(r.conn)
	if _, err := schemas.CreateSchema(boss, &pubsubpb.CreateSchemaRequest{Parent: "projects/local", SchemaId: "mine",
		Schema: &pubsubpb.Schema{Type: pubsubpb.Schema_AVRO,
			Definition: `{"type": "record", "name": "r", "fields": [{"name": "a", "type": "string"}]}`}}); err != nil {
		t.Fatal(err)
	}
	if _, err := r.pub.CreateTopic(eve, &pubsubpb.Topic{Name: topicName("eve")}); err != nil {
		t.Fatal(err)
	}
	policies := iampb.NewIAMPolicyClient(r.conn)
	for _, id := range []string{"mine", "none"} { // who may nothing with it is not told whether there is one
		_, err := r.sub.Seek(eve, &pubsubpb.SeekRequest{Subscription: s.Name,
			Target: &pubsubpb.SeekRequest_Snapshot{Snapshot: snapshotName(id)}})
		wantCode(t, err, codes.PermissionDenied)
		by := &pubsubpb.SchemaSettings{Schema: "projects/local/schemas/" + id, Encoding: pubsubpb.Encoding_JSON}
		_, err = r.pub.CreateTopic(eve, &pubsubpb.Topic{Name: topicName("eve-2"), SchemaSettings: by})
		wantCode(t, err, codes.PermissionDenied)
		_, err = r.pub.UpdateTopic(eve, &pubsubpb.UpdateTopicRequest{
			Topic:      &pubsubpb.Topic{Name: topicName("eve"), SchemaSettings: by},
			UpdateMask: &fieldmaskpb.FieldMask{Paths: []string{"schema_settings"}}})
		wantCode(t, err, codes.PermissionDenied)
		_, err = policies.GetIamPolicy(eve, &iampb.GetIamPolicyRequest{Resource: by.Schema})
		wantCode(t, err, codes.PermissionDenied)
		_, err = policies.SetIamPolicy(eve, &iampb.SetIamPolicyRequest{Resource: by.Schema, Policy: new(iampb.Policy)})
		wantCode(t, err, codes.PermissionDenied)
	}
}

// TestNamesThatAUserMayNotKnowAreNotListed: of a topic's subscriptions and snapshots those that the caller sees.
func TestNamesThatAUserMayNotKnowAreNotListed(t *testing.T) {
	r, _, boss, eve := reaching(t)
	r.make(eve, "eve")
	if _, err := r.sub.CreateSubscription(boss,
		&pubsubpb.Subscription{Name: subscriptionName("secret"), Topic: topicName("eve")}); err != nil {
		t.Fatal(err)
	}
	for _, id := range []string{"secret", "eve-readers"} {
		if _, err := r.sub.CreateSnapshot(boss, &pubsubpb.CreateSnapshotRequest{Name: snapshotName(id),
			Subscription: subscriptionName(id)}); err != nil {
			t.Fatal(err)
		}
	}
	for ctx, want := range map[context.Context]int{boss: 2, eve: 1} {
		subs, err := r.pub.ListTopicSubscriptions(ctx, &pubsubpb.ListTopicSubscriptionsRequest{Topic: topicName("eve")})
		if err != nil || len(subs.Subscriptions) != want {
			t.Errorf("%v, %v: want %d", subs, err, want)
		}
		snaps, err := r.pub.ListTopicSnapshots(ctx, &pubsubpb.ListTopicSnapshotsRequest{Topic: topicName("eve")})
		if err != nil || len(snaps.Snapshots) != want {
			t.Errorf("%v, %v: want %d", snaps, err, want)
		}
	}
}
