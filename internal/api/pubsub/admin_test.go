package pubsub

import (
	"cmp"
	"fmt"
	"slices"
	"testing"
	"time"

	"cloud.google.com/go/iam/apiv1/iampb"
	"cloud.google.com/go/pubsub/v2/apiv1/pubsubpb"
	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/known/fieldmaskpb"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/hikyaku/hikyaku/internal/queue"
)

// full is a subscription with every setting that is served.
func full(id string) *pubsubpb.Subscription {
	return &pubsubpb.Subscription{
		Name: subscriptionName(id), Topic: topicName("news"),
		PushConfig: &pubsubpb.PushConfig{
			PushEndpoint: "http://127.0.0.1:1/push", Attributes: map[string]string{pushVersion: "v1"},
			AuthenticationMethod: &pubsubpb.PushConfig_OidcToken_{
				OidcToken: &pubsubpb.PushConfig_OidcToken{ServiceAccountEmail: "a@b"}},
			Wrapper: &pubsubpb.PushConfig_NoWrapper_{
				NoWrapper: &pubsubpb.PushConfig_NoWrapper{WriteMetadata: true}},
		},
		AckDeadlineSeconds: 20, RetainAckedMessages: true, MessageRetentionDuration: durationpb.New(time.Hour),
		Labels:                map[string]string{"a": "b"},
		EnableMessageOrdering: true, ExpirationPolicy: &pubsubpb.ExpirationPolicy{}, Filter: `attributes.lang = "ja"`,
		DeadLetterPolicy: &pubsubpb.DeadLetterPolicy{DeadLetterTopic: topicName("dead"), MaxDeliveryAttempts: 7},
		RetryPolicy: &pubsubpb.RetryPolicy{MinimumBackoff: durationpb.New(time.Second),
			MaximumBackoff: durationpb.New(time.Minute)},
	}
}

func TestASubscriptionIsAsItWasMadeAlsoAfterARestart(t *testing.T) {
	dir := t.TempDir()
	s, stop := openStore(t, dir, time.Now)
	r := newRigOver(t, Config{}, nil, s)
	r.topic("dead")
	topic := &pubsubpb.Topic{
		Name: topicName("news"), Labels: map[string]string{"x": "y"},
		KmsKeyName: "projects/p/locations/l/keyRings/r/cryptoKeys/k",
		MessageStoragePolicy: &pubsubpb.MessageStoragePolicy{
			AllowedPersistenceRegions: []string{"asia-northeast1"}},
		MessageRetentionDuration: durationpb.New(2 * time.Hour),
	}
	gotTopic, err := r.pub.CreateTopic(t.Context(), topic)
	if err != nil {
		t.Fatal(err)
	}
	topic.State = pubsubpb.Topic_ACTIVE
	if !proto.Equal(gotTopic, topic) {
		t.Errorf("the topic is %v", gotTopic)
	}
	want := full("readers")
	made, err := r.sub.CreateSubscription(t.Context(), want)
	if err != nil {
		t.Fatal(err)
	}
	want.State, want.TopicMessageRetentionDuration = pubsubpb.Subscription_ACTIVE, topic.MessageRetentionDuration
	if !proto.Equal(made, want) {
		t.Errorf("it was made as\n%v, not as\n%v", made, want)
	}
	def, _, err := s.Definition(t.Context(), queue.Name{Namespace: "default", Name: "readers"})
	if err != nil || def.History != 2*time.Hour || def.Retention != time.Hour || def.MaxAttempts != 7 ||
		def.DeadLetter != "default/dead" || def.Unordered || def.Lease != 20*time.Second || def.Filter == "" {
		t.Errorf("the queue is defined as %+v, %v", def, err)
	}
	r.close()
	stop()

	s, stop = openStore(t, dir, time.Now)
	t.Cleanup(stop)
	r = newRigOver(t, Config{}, nil, s)
	again, err := r.sub.GetSubscription(t.Context(), &pubsubpb.GetSubscriptionRequest{Subscription: want.Name})
	if err != nil || !proto.Equal(again, want) {
		t.Errorf("after a restart it is\n%v, %v, not\n%v", again, err, want)
	}
	gotTopic, err = r.pub.GetTopic(t.Context(), &pubsubpb.GetTopicRequest{Topic: topic.Name})
	if err != nil || !proto.Equal(gotTopic, topic) {
		t.Errorf("after a restart the topic is %v, %v", gotTopic, err)
	}
}

func TestWhatASubscriptionDoesNotSayHasTheServicesDefaults(t *testing.T) {
	r := newRig(t)
	got := r.subscribe("news")
	want := &pubsubpb.Subscription{
		Name: subscriptionName("news"), Topic: topicName("news"), AckDeadlineSeconds: 10,
		MessageRetentionDuration: durationpb.New(7 * 24 * time.Hour),
		ExpirationPolicy:         &pubsubpb.ExpirationPolicy{Ttl: durationpb.New(31 * 24 * time.Hour)},
		State:                    pubsubpb.Subscription_ACTIVE,
		PushConfig:               &pubsubpb.PushConfig{}, // it is pulled from
	}
	if !proto.Equal(got, want) {
		t.Errorf("it is\n%v, not\n%v", got, want)
	}
	named, err := r.sub.CreateSubscription(t.Context(), &pubsubpb.Subscription{Topic: topicName("news")})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := parseResource("name", named.Name, kindSubscription); err != nil || named.Name == "" {
		t.Errorf("it was given the name %q", named.Name)
	}
}

func TestAnUpdateChangesWhatItsMaskNamesAndNothingElse(t *testing.T) {
	r := newRig(t)
	r.topic("dead")
	r.topic("news")
	was, err := r.sub.CreateSubscription(t.Context(), full("readers"))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		path   string
		change func(*pubsubpb.Subscription)
	}{
		{"ack_deadline_seconds", func(s *pubsubpb.Subscription) { s.AckDeadlineSeconds = 30 }},
		{"labels", func(s *pubsubpb.Subscription) { s.Labels = map[string]string{"c": "d"} }},
		{"retain_acked_messages", func(s *pubsubpb.Subscription) { s.RetainAckedMessages = false }},
		{"message_retention_duration",
			func(s *pubsubpb.Subscription) { s.MessageRetentionDuration = durationpb.New(11 * time.Minute) }},
		{"expiration_policy", func(s *pubsubpb.Subscription) {
			s.ExpirationPolicy = &pubsubpb.ExpirationPolicy{Ttl: durationpb.New(48 * time.Hour)}
		}},
		{"dead_letter_policy.max_delivery_attempts",
			func(s *pubsubpb.Subscription) { s.DeadLetterPolicy.MaxDeliveryAttempts = 9 }},
		{"dead_letter_policy", func(s *pubsubpb.Subscription) { s.DeadLetterPolicy = nil }},
		{"retry_policy.maximum_backoff",
			func(s *pubsubpb.Subscription) { s.RetryPolicy.MaximumBackoff = durationpb.New(2 * time.Minute) }},
		{"retry_policy", func(s *pubsubpb.Subscription) { s.RetryPolicy = nil }},
		{"push_config.push_endpoint",
			func(s *pubsubpb.Subscription) { s.PushConfig.PushEndpoint = "https://example.com/x" }},
		{"push_config", func(s *pubsubpb.Subscription) {
			s.PushConfig = &pubsubpb.PushConfig{Attributes: map[string]string{pushVersion: "v1"}}
		}},
		{"enable_exactly_once_delivery", func(s *pubsubpb.Subscription) { s.EnableExactlyOnceDelivery = true }},
	} {
		want := proto.CloneOf(was)
		c.change(want)
		req := proto.CloneOf(want)
		if c.path != "labels" {
			req.Labels = map[string]string{"not": "named"}
		}
		got, err := r.sub.UpdateSubscription(t.Context(),
			&pubsubpb.UpdateSubscriptionRequest{Subscription: req,
				UpdateMask: &fieldmaskpb.FieldMask{Paths: []string{c.path}}})
		if err != nil {
			t.Errorf("%s: %v", c.path, err)
			continue
		}
		if !proto.Equal(got, want) {
			t.Errorf("%s: it is\n%v, not\n%v", c.path, got, want)
		}
		was = got
	}
	if _, err := r.sub.ModifyPushConfig(t.Context(),
		&pubsubpb.ModifyPushConfigRequest{Subscription: was.Name}); err != nil {
		t.Error(err)
	}
}

func TestWhatOtherDoorsHaveSetStaysWhenSomethingElseIsChanged(t *testing.T) {
	r := newRig(t)
	n := queue.Name{Namespace: "default", Name: "jobs"}
	def := queue.Definition{
		MaxAttempts: 3, Lease: time.Hour, History: time.Minute, Labels: map[string]string{"Not": "a label of Google's"},
		Delay: time.Second, MaxMessages: 7, DeadLetter: "morgue",
	}
	if _, err := r.store.CreateQueue(t.Context(), n, def); err != nil {
		t.Fatal(err)
	}
	was, _, err := r.store.Definition(t.Context(), n)
	if err != nil {
		t.Fatal(err)
	}
	got, err := r.sub.UpdateSubscription(t.Context(),
		updateOf("jobs", &pubsubpb.Subscription{RetryPolicy: &pubsubpb.RetryPolicy{}}, "retry_policy"))
	if err != nil {
		t.Fatal(err)
	}
	if got.RetryPolicy == nil || got.Topic != topicName("jobs") || got.MessageRetentionDuration != nil ||
		got.ExpirationPolicy.GetTtl() != nil || got.DeadLetterPolicy.GetMaxDeliveryAttempts() != 3 {
		t.Errorf("it is %v", got)
	}
	if now, _, err := r.store.Definition(t.Context(), n); err != nil ||
		fmt.Sprintf("%+v", now) != fmt.Sprintf("%+v", was) {
		t.Errorf("the queue is\n%+v, %v, not\n%+v", now, err, was)
	}
}

func TestATopicCanBeUpdated(t *testing.T) {
	r := newRig(t)
	r.topic("news")
	r.subscribeTo("news", "readers")
	got, err := r.pub.UpdateTopic(t.Context(), &pubsubpb.UpdateTopicRequest{
		Topic: &pubsubpb.Topic{Name: topicName("news"), Labels: map[string]string{"a": "b"},
			MessageRetentionDuration: durationpb.New(time.Hour), KmsKeyName: "no"},
		UpdateMask: &fieldmaskpb.FieldMask{Paths: []string{"labels", "message_retention_duration"}},
	})
	if err != nil || got.Labels["a"] != "b" || got.MessageRetentionDuration.AsDuration() != time.Hour ||
		got.KmsKeyName != "" {
		t.Errorf("%v, %v", got, err)
	}
	if def, _, err := r.store.Definition(t.Context(), queue.Name{Namespace: "default", Name: "readers"}); err != nil ||
		def.History != time.Hour {
		t.Errorf("its subscription keeps history for %v, %v", def.History, err)
	}
}

func TestListsComeInPages(t *testing.T) {
	r := newRig(t)
	var topics, subs []string
	for i := range 5 {
		id := fmt.Sprintf("news%d", i)
		r.topic(id)
		r.subscribeTo("news0", "sub"+id)
		topics, subs = append(topics, topicName(id)), append(subs, subscriptionName("sub"+id))
	}
	var got []string
	for token := ""; ; {
		res, err := r.pub.ListTopics(t.Context(), &pubsubpb.ListTopicsRequest{Project: "projects/local", PageSize: 2,
			PageToken: token})
		if err != nil {
			t.Fatal(err)
		}
		for _, x := range res.Topics {
			got = append(got, x.Name)
		}
		if len(res.Topics) > 2 {
			t.Errorf("a page of %d", len(res.Topics))
		}
		if token = res.NextPageToken; token == "" {
			break
		}
	}
	if !slices.Equal(got, topics) {
		t.Errorf("topics are %q", got)
	}
	got = nil
	for token := ""; ; {
		res, err := r.sub.ListSubscriptions(t.Context(), &pubsubpb.ListSubscriptionsRequest{Project: "projects/local",
			PageSize: 3, PageToken: token})
		if err != nil {
			t.Fatal(err)
		}
		for _, x := range res.Subscriptions {
			got = append(got, x.Name)
		}
		if token = res.NextPageToken; token == "" {
			break
		}
	}
	if !slices.Equal(got, subs) {
		t.Errorf("subscriptions are %q", got)
	}
	res, err := r.pub.ListTopicSubscriptions(t.Context(),
		&pubsubpb.ListTopicSubscriptionsRequest{Topic: topicName("news0"), PageSize: 4})
	if err != nil || !slices.Equal(res.Subscriptions, subs[:4]) || res.NextPageToken == "" {
		t.Errorf("its subscriptions are %v, %v", res, err)
	}
	empty, err := r.pub.ListTopics(t.Context(), &pubsubpb.ListTopicsRequest{Project: "projects/other"})
	if err != nil || len(empty.Topics) != 0 {
		t.Errorf("another project has %v, %v", empty, err)
	}
}

func TestSubscriptionsOfADeletedTopicSayIt(t *testing.T) {
	r := newRig(t)
	r.topic("news")
	r.subscribeTo("news", "readers")
	r.publish("news", "", "a")
	if _, err := r.pub.DeleteTopic(t.Context(), &pubsubpb.DeleteTopicRequest{Topic: topicName("news")}); err != nil {
		t.Fatal(err)
	}
	r.topic("news") // another one of the same name
	s, err := r.sub.GetSubscription(t.Context(),
		&pubsubpb.GetSubscriptionRequest{Subscription: subscriptionName("readers")})
	if err != nil || s.Topic != "_deleted-topic_" {
		t.Errorf("%v, %v", s, err)
	}
	if _, err := r.sub.UpdateSubscription(t.Context(),
		updateOf("readers", &pubsubpb.Subscription{AckDeadlineSeconds: 60}, "ack_deadline_seconds")); err != nil {
		t.Error(err)
	}
	r.publish("news", "", "b")
	if got := r.pull("readers", 10); !slices.Equal(texts(got), []string{"a"}) {
		t.Errorf("%q came", texts(got))
	}
}

func TestADetachedSubscriptionStaysAndHoldsNothing(t *testing.T) {
	r := newRig(t)
	r.topic("news")
	r.subscribeTo("news", "readers")
	r.publish("news", "", "a")
	for range 2 {
		if _, err := r.pub.DetachSubscription(t.Context(),
			&pubsubpb.DetachSubscriptionRequest{Subscription: subscriptionName("readers")}); err != nil {
			t.Fatal(err)
		}
	}
	s, err := r.sub.GetSubscription(t.Context(),
		&pubsubpb.GetSubscriptionRequest{Subscription: subscriptionName("readers")})
	if err != nil || !s.Detached || s.Topic != topicName("news") {
		t.Errorf("%v, %v", s, err)
	}
	if _, err := r.pub.DeleteTopic(t.Context(), &pubsubpb.DeleteTopicRequest{Topic: topicName("news")}); err != nil {
		t.Fatal(err)
	}
	s, err = r.sub.GetSubscription(t.Context(),
		&pubsubpb.GetSubscriptionRequest{Subscription: subscriptionName("readers")})
	if err != nil || !s.Detached || s.Topic != "_deleted-topic_" {
		t.Errorf("when the topic is deleted: %v, %v", s, err)
	}
	r.topic("news")
	_, err = r.sub.Pull(t.Context(), &pubsubpb.PullRequest{Subscription: subscriptionName("readers"), MaxMessages: 1})
	wantCode(t, err, codes.FailedPrecondition)
	list, err := r.sub.ListSubscriptions(t.Context(), &pubsubpb.ListSubscriptionsRequest{Project: "projects/local"})
	if err != nil || len(list.Subscriptions) != 1 {
		t.Errorf("%v, %v", list, err)
	}
	_, err = r.sub.CreateSubscription(t.Context(),
		&pubsubpb.Subscription{Name: subscriptionName("readers"), Topic: topicName("news")})
	wantCode(t, err, codes.AlreadyExists)
	if err := r.door.tidy(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := r.sub.DeleteSubscription(t.Context(),
		&pubsubpb.DeleteSubscriptionRequest{Subscription: subscriptionName("readers")}); err != nil {
		t.Fatal(err)
	}
	r.subscribeTo("news", "readers")
}

func TestSeekGoesBackToATimeAndToASnapshot(t *testing.T) {
	for _, ordered := range []bool{false, true} {
		r := newRig(t)
		r.subscribe("news", func(s *pubsubpb.Subscription) {
			s.EnableMessageOrdering, s.RetainAckedMessages = ordered,
				true
		})
		key := map[bool]string{true: "k"}[ordered]
		r.publish("news", key, "a", "b")
		got := r.pull("news", 10)
		if err := r.ack("news", got[0]); err != nil {
			t.Fatal(err)
		}
		snap, err := r.sub.CreateSnapshot(t.Context(), &pubsubpb.CreateSnapshotRequest{Name: snapshotName("snap"),
			Subscription: subscriptionName("news"), Labels: map[string]string{"a": "b"}})
		if err != nil || snap.Topic != topicName("news") || snap.Labels["a"] != "b" ||
			time.Until(snap.ExpireTime.AsTime()) < 6*24*time.Hour {
			t.Fatalf("%v, %v", snap, err)
		}
		if err := r.ack("news", got[1]); err != nil {
			t.Fatal(err)
		}
		r.publish("news", key, "c")
		if _, err := r.sub.Seek(t.Context(), &pubsubpb.SeekRequest{Subscription: subscriptionName("news"),
			Target: &pubsubpb.SeekRequest_Snapshot{Snapshot: snapshotName("snap")}}); err != nil {
			t.Fatal(err)
		}
		got = r.pull("news", 10)
		if !slices.Equal(texts(got), []string{"b", "c"}) {
			t.Errorf("ordered %v: after the snapshot %q came", ordered, texts(got))
		}
		if err := r.ack("news", got...); err != nil {
			t.Fatal(err)
		}
		seek := func(at time.Time) {
			t.Helper()
			if _, err := r.sub.Seek(t.Context(), &pubsubpb.SeekRequest{Subscription: subscriptionName("news"),
				Target: &pubsubpb.SeekRequest_Time{Time: timestamppb.New(at)}}); err != nil {
				t.Fatal(err)
			}
		}
		seek(time.Now().Add(-time.Minute))
		if got := r.pull("news", 10); !slices.Equal(texts(got), []string{"a", "b", "c"}) {
			t.Errorf("ordered %v: after the seek %q came", ordered, texts(got))
		}
		seek(time.Now().Add(time.Minute))
		r.left("news", 0)
	}
}

// What the snapshot's subscription had acknowledged is acknowledged here, and the rest waits.
func TestSeekGoesToASnapshotOfAnotherSubscriptionOfTheTopic(t *testing.T) {
	r := newRig(t)
	r.subscribe("news")
	r.subscribeTo("news", "readers", func(s *pubsubpb.Subscription) { s.RetainAckedMessages = true })
	r.publish("news", "", "a", "b", "c")
	got := r.pull("news", 10)
	if err := r.ack("news", got[1]); err != nil {
		t.Fatal(err)
	}
	if _, err := r.sub.CreateSnapshot(t.Context(), &pubsubpb.CreateSnapshotRequest{
		Name: snapshotName("snap"), Subscription: subscriptionName("news"),
	}); err != nil {
		t.Fatal(err)
	}
	got = r.pull("readers", 10)
	if err := r.ack("readers", got[0]); err != nil {
		t.Fatal(err)
	}
	r.publish("news", "", "d")
	if _, err := r.sub.Seek(t.Context(), &pubsubpb.SeekRequest{
		Subscription: subscriptionName("readers"),
		Target:       &pubsubpb.SeekRequest_Snapshot{Snapshot: snapshotName("snap")},
	}); err != nil {
		t.Fatal(err)
	}
	if err := r.nack("readers", got[2]); err != nil {
		t.Fatal(err)
	}
	if got := r.pull("readers", 10); !slices.Equal(texts(got), []string{"a", "c", "d"}) {
		t.Errorf("after the snapshot %q came", texts(got))
	}
}

func TestSnapshotsCanBeListedChangedAndDeleted(t *testing.T) {
	r := newRig(t)
	r.subscribe("news")
	for _, id := range []string{"one", "two"} {
		if _, err := r.sub.CreateSnapshot(t.Context(),
			&pubsubpb.CreateSnapshotRequest{Name: snapshotName(id),
				Subscription: subscriptionName("news")}); err != nil {
			t.Fatal(err)
		}
	}
	list, err := r.sub.ListSnapshots(t.Context(),
		&pubsubpb.ListSnapshotsRequest{Project: "projects/local", PageSize: 1})
	if err != nil || len(list.Snapshots) != 1 || list.Snapshots[0].Name != snapshotName("one") ||
		list.NextPageToken == "" {
		t.Errorf("%v, %v", list, err)
	}
	names, err := r.pub.ListTopicSnapshots(t.Context(), &pubsubpb.ListTopicSnapshotsRequest{Topic: topicName("news")})
	if err != nil || !slices.Equal(names.Snapshots, []string{snapshotName("one"), snapshotName("two")}) {
		t.Errorf("%v, %v", names, err)
	}
	if _, err := r.sub.UpdateSnapshot(t.Context(), &pubsubpb.UpdateSnapshotRequest{
		Snapshot:   &pubsubpb.Snapshot{Name: snapshotName("one"), Labels: map[string]string{"x": "y"}},
		UpdateMask: &fieldmaskpb.FieldMask{Paths: []string{"labels"}},
	}); err != nil {
		t.Fatal(err)
	}
	if s, err := r.sub.GetSnapshot(t.Context(),
		&pubsubpb.GetSnapshotRequest{Snapshot: snapshotName("one")}); err != nil || s.Labels["x"] != "y" {
		t.Errorf("%v, %v", s, err)
	}
	if _, err := r.sub.DeleteSnapshot(t.Context(),
		&pubsubpb.DeleteSnapshotRequest{Snapshot: snapshotName("one")}); err != nil {
		t.Fatal(err)
	}
	_, err = r.sub.GetSnapshot(t.Context(), &pubsubpb.GetSnapshotRequest{Snapshot: snapshotName("one")})
	wantCode(t, err, codes.NotFound)
}

// TestASnapshotEndsWhenAnUpdateSaysSo: sooner than it was made to, and no later. From then on it is not there, also
// before the door has come to delete it, and its name is free.
func TestASnapshotEndsWhenAnUpdateSaysSo(t *testing.T) {
	r, clock := newTimedRig(t)
	r.subscribe("news")
	r.publish("news", "", "a")
	take := func() (*pubsubpb.Snapshot, error) {
		return r.sub.CreateSnapshot(t.Context(), &pubsubpb.CreateSnapshotRequest{Name: snapshotName("snap"),
			Subscription: subscriptionName("news"), Labels: map[string]string{"a": "b"}})
	}
	made, err := take()
	if err != nil {
		t.Fatal(err)
	}
	update := func(at *timestamppb.Timestamp, paths ...string) (*pubsubpb.Snapshot, error) {
		return r.sub.UpdateSnapshot(t.Context(), &pubsubpb.UpdateSnapshotRequest{
			Snapshot:   &pubsubpb.Snapshot{Name: snapshotName("snap"), ExpireTime: at},
			UpdateMask: &fieldmaskpb.FieldMask{Paths: paths}})
	}
	for _, at := range []*timestamppb.Timestamp{nil, timestamppb.New(clock.now()), {Seconds: -1 << 60},
		timestamppb.New(made.ExpireTime.AsTime().Add(time.Microsecond))} {
		_, err := update(at, "expire_time")
		wantCode(t, err, codes.InvalidArgument)
	}
	if s, err := update(made.ExpireTime, "expire_time", "labels"); err != nil || len(s.Labels) > 0 {
		t.Errorf("%v, %v", s, err)
	}
	until := timestamppb.New(clock.now().Add(time.Hour))
	if s, err := update(until, "expire_time"); err != nil || !proto.Equal(s.ExpireTime, until) {
		t.Errorf("%v, %v", s, err)
	}
	if s, err := update(nil, "labels"); err != nil || !proto.Equal(s.ExpireTime, until) {
		t.Errorf("with other labels: %v, %v", s, err)
	}
	get := func() error {
		_, err := r.sub.GetSnapshot(t.Context(), &pubsubpb.GetSnapshotRequest{Snapshot: snapshotName("snap")})
		return err
	}
	clock.pass(time.Hour - time.Second)
	if err := cmp.Or(r.door.tidy(t.Context()), get()); err != nil {
		t.Fatal(err)
	}
	if s, err := update(made.ExpireTime, "expire_time"); err != nil || !proto.Equal(s.ExpireTime, made.ExpireTime) {
		t.Errorf("as late as at first: %v, %v", s, err)
	}
	if _, err := update(until, "expire_time"); err != nil {
		t.Fatal(err)
	}
	clock.pass(2 * time.Second)
	for range 2 { // the door has not looked, and it has
		wantCode(t, get(), codes.NotFound)
		_, err = update(made.ExpireTime, "expire_time")
		wantCode(t, err, codes.NotFound)
		_, err = r.sub.DeleteSnapshot(t.Context(),
			&pubsubpb.DeleteSnapshotRequest{Snapshot: snapshotName("snap")})
		wantCode(t, err, codes.NotFound)
		_, err = r.sub.Seek(t.Context(), &pubsubpb.SeekRequest{Subscription: subscriptionName("news"),
			Target: &pubsubpb.SeekRequest_Snapshot{Snapshot: snapshotName("snap")}})
		wantCode(t, err, codes.NotFound)
		list, err := r.sub.ListSnapshots(t.Context(), &pubsubpb.ListSnapshotsRequest{Project: "projects/local"})
		if err != nil || len(list.Snapshots) > 0 {
			t.Errorf("%v, %v", list, err)
		}
		names, err := r.pub.ListTopicSnapshots(t.Context(),
			&pubsubpb.ListTopicSnapshotsRequest{Topic: topicName("news")})
		if err != nil || len(names.Snapshots) > 0 {
			t.Errorf("%v, %v", names, err)
		}
		if err := r.door.tidy(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if left, err := r.store.Snapshots(t.Context()); err != nil || len(left) > 0 {
		t.Errorf("the store has %v, %v", left, err)
	}
	for range 2 { // over one that is there, and over one that has ended and is not deleted
		s, err := take()
		if err != nil || s.Labels["a"] != "b" || s.ExpireTime.AsTime().Sub(clock.now()) < 24*time.Hour {
			t.Fatalf("%v, %v", s, err)
		}
		if _, err := update(timestamppb.New(clock.now().Add(time.Minute)), "expire_time"); err != nil {
			t.Fatal(err)
		}
		clock.pass(time.Minute)
	}
}

func TestASubscriptionThatNobodyUsesExpires(t *testing.T) {
	r, clock := newTimedRig(t)
	r.topic("news")
	r.subscribeTo("news", "idle", func(s *pubsubpb.Subscription) {
		s.ExpirationPolicy = &pubsubpb.ExpirationPolicy{Ttl: durationpb.New(24 * time.Hour)}
		s.MessageRetentionDuration = durationpb.New(24 * time.Hour)
	})
	r.subscribeTo("news", "busy", func(s *pubsubpb.Subscription) {
		s.ExpirationPolicy = &pubsubpb.ExpirationPolicy{Ttl: durationpb.New(24 * time.Hour)}
		s.MessageRetentionDuration = durationpb.New(24 * time.Hour)
	})
	r.subscribeTo("news", "forever",
		func(s *pubsubpb.Subscription) { s.ExpirationPolicy = &pubsubpb.ExpirationPolicy{} })
	if _, err := r.store.CreateQueue(t.Context(), queue.Name{Namespace: "default", Name: "others"},
		queue.Definition{}); err != nil {
		t.Fatal(err)
	}
	if err := r.door.tidy(t.Context()); err != nil {
		t.Fatal(err)
	}
	for range 3 {
		clock.pass(13 * time.Hour)
		r.publish("news", "", "a")
		if got := r.pull("busy", 10); len(got) == 0 {
			t.Error("nothing came")
		}
		if err := r.door.tidy(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	list, err := r.sub.ListSubscriptions(t.Context(), &pubsubpb.ListSubscriptionsRequest{Project: "projects/local"})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, s := range list.Subscriptions {
		got = append(got, s.Name)
	}
	if want := []string{subscriptionName("busy"), subscriptionName("forever"),
		subscriptionName("others")}; !slices.Equal(got, want) {
		t.Errorf("there are %q", got)
	}
}

func TestNotesOfWhatOtherDoorsHaveDeletedAreForgotten(t *testing.T) {
	r := newRig(t)
	r.topic("news")
	r.subscribeTo("news", "readers")
	if err := r.store.DeleteQueue(t.Context(), queue.Name{Namespace: "default", Name: "readers"}); err != nil {
		t.Fatal(err)
	}
	if err := r.door.tidy(t.Context()); err != nil {
		t.Fatal(err)
	}
	if notes := must(r.store.Notes(t.Context(), room)); len(notes) != 0 {
		t.Errorf("there are notes: %v", notes)
	}
}

func TestPoliciesAreKeptAndGrantsAreTold(t *testing.T) {
	r := newRig(t)
	r.topic("news")
	iam := iampb.NewIAMPolicyClient(r.conn)
	policy := &iampb.Policy{Bindings: []*iampb.Binding{{Role: "roles/pubsub.publisher", Members: []string{"user:a@b"}}}}
	set, err := iam.SetIamPolicy(t.Context(), &iampb.SetIamPolicyRequest{Resource: topicName("news"), Policy: policy})
	if err != nil || len(set.Etag) == 0 {
		t.Fatalf("%v, %v", set, err)
	}
	got, err := iam.GetIamPolicy(t.Context(), &iampb.GetIamPolicyRequest{Resource: topicName("news")})
	if err != nil || !proto.Equal(got, set) {
		t.Errorf("%v, %v", got, err)
	}
	policy.Etag = []byte("old")
	_, err = iam.SetIamPolicy(t.Context(), &iampb.SetIamPolicyRequest{Resource: topicName("news"), Policy: policy})
	wantCode(t, err, codes.Aborted)
	may, err := iam.TestIamPermissions(t.Context(), &iampb.TestIamPermissionsRequest{Resource: topicName("news"),
		Permissions: []string{"pubsub.topics.publish", "pubsub.subscriptions.consume", "pubsub.topics.fly"}})
	if err != nil || !slices.Equal(may.Permissions, []string{"pubsub.topics.publish"}) {
		t.Errorf("%v, %v", may, err)
	}
	_, err = iam.GetIamPolicy(t.Context(), &iampb.GetIamPolicyRequest{Resource: topicName("none")})
	wantCode(t, err, codes.NotFound)
}

func TestAFilterKnowsAttributesAlone(t *testing.T) {
	r := newRig(t)
	r.subscribe("news", func(s *pubsubpb.Subscription) {
		s.Filter = `NOT attributes:key AND NOT attributes:id AND NOT attributes:body`
	})
	r.publish("news", "an ordering key", "a")
	if _, err := r.pub.Publish(t.Context(),
		&pubsubpb.PublishRequest{Topic: topicName("news"),
			Messages: []*pubsubpb.PubsubMessage{{Attributes: map[string]string{"key": "x"}}}}); err != nil {
		t.Fatal(err)
	}
	if got := r.pull("news", 10); !slices.Equal(texts(got), []string{"a"}) {
		t.Errorf("%q came", texts(got))
	}
}

func TestAFilterLetsThroughWhatItSays(t *testing.T) {
	r := newRig(t)
	r.subscribe("news", func(s *pubsubpb.Subscription) {
		s.Filter = `attributes.lang = "ja" AND NOT hasPrefix(attributes.region, "us-")`
	})
	for _, attrs := range []map[string]string{{"lang": "ja"}, {"lang": "en"}, {"lang": "ja", "region": "us-1"},
		{"lang": "ja", "region": "asia"}} {
		if _, err := r.pub.Publish(t.Context(),
			&pubsubpb.PublishRequest{Topic: topicName("news"),
				Messages: []*pubsubpb.PubsubMessage{{Attributes: attrs}}}); err != nil {
			t.Fatal(err)
		}
	}
	got := r.pull("news", 10)
	if len(got) != 2 || got[0].Message.Attributes["region"] != "" || got[1].Message.Attributes["region"] != "asia" {
		t.Errorf("%v came", got)
	}
	if s, err := r.sub.GetSubscription(t.Context(),
		&pubsubpb.GetSubscriptionRequest{Subscription: subscriptionName("news")}); err != nil ||
		s.Filter[:10] != "attributes" {
		t.Errorf("%v, %v", s, err)
	}
}
