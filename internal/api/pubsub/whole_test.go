package pubsub

import (
	"errors"
	"maps"
	"strings"
	"testing"
	"time"

	"cloud.google.com/go/iam/apiv1/iampb"
	pb "cloud.google.com/go/pubsub/v2/apiv1/pubsubpb"
	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/known/fieldmaskpb"

	"github.com/hikyaku/hikyaku/internal/journal"
	"github.com/hikyaku/hikyaku/internal/journal/file"
	"github.com/hikyaku/hikyaku/internal/queue"
)

// crowdedRig is a rig whose store has so much memory.
func crowdedRig(t *testing.T, memory int64) *rig {
	t.Helper()
	j, err := file.Open(t.Context(), file.Options{Dir: t.TempDir(), Durability: journal.OS, SegmentBytes: 4 << 20})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = j.Close() })
	s, err := queue.Open(t.Context(), queue.Options{Journal: j, Clock: time.Now, Limits: queue.Limits{Memory: memory},
		Namespaces: map[string][]string{"default": {"local"}}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return newRigOver(t, Config{}, nil, s)
}

// TestAnUpdateThatIsRefusedChangesNothing: neither the settings that the store knows nor those that are noted beside
// it, of whichever the store has no room for.
func TestAnUpdateThatIsRefusedChangesNothing(t *testing.T) {
	r := crowdedRig(t, 24<<10)
	r.subscribe("news")
	labels := map[string]string{}
	for _, c := range "abcdefghijklmnopqrstuvwxyz" {
		for n := range 2 {
			labels[strings.Repeat(string(c), 60+n)] = strings.Repeat("x", 63)
		}
	}
	fill := func(left int) { // the memory that is left, but for so many bytes
		t.Helper()
		for size := 8 << 10; size > left/4; {
			key := "k" + time.Now().Format(time.RFC3339Nano)
			if r.store.SetNotes(t.Context(), queue.Note{Room: "others", Key: key, Value: make([]byte, size)}) != nil {
				size /= 2
			}
		}
	}
	fill(4 << 10)
	topic, err := r.pub.GetTopic(t.Context(), &pb.GetTopicRequest{Topic: topicName("news")})
	if err != nil {
		t.Fatal(err)
	}
	_, err = r.pub.UpdateTopic(t.Context(), &pb.UpdateTopicRequest{
		Topic: &pb.Topic{Name: topicName("news"), Labels: labels, KmsKeyName: "projects/p/locations/l/keyRings/r/" +
			"cryptoKeys/k", MessageRetentionDuration: durationpb.New(time.Hour)},
		UpdateMask: &fieldmaskpb.FieldMask{Paths: []string{"labels", "kms_key_name", "message_retention_duration"}}})
	wantCode(t, err, codes.ResourceExhausted)
	if now, err := r.pub.GetTopic(t.Context(), &pb.GetTopicRequest{Topic: topicName("news")}); err != nil ||
		!proto.Equal(now, topic) {
		t.Errorf("the topic is %v, not %v: %v", now, topic, err)
	}
	sub, err := r.sub.GetSubscription(t.Context(), &pb.GetSubscriptionRequest{Subscription: subscriptionName("news")})
	if err != nil {
		t.Fatal(err)
	}
	_, err = r.sub.UpdateSubscription(t.Context(), &pb.UpdateSubscriptionRequest{
		Subscription: &pb.Subscription{Name: subscriptionName("news"), AckDeadlineSeconds: 77,
			PushConfig: &pb.PushConfig{PushEndpoint: "http://127.0.0.1:1/", Attributes: maps.Clone(labels)}},
		UpdateMask: &fieldmaskpb.FieldMask{Paths: []string{"ack_deadline_seconds", "push_config"}}})
	wantCode(t, err, codes.ResourceExhausted)
	if now, err := r.sub.GetSubscription(t.Context(),
		&pb.GetSubscriptionRequest{Subscription: subscriptionName("news")}); err != nil || !proto.Equal(now, sub) {
		t.Errorf("the subscription is %v, not %v: %v", now, sub, err)
	}
}

// TestWhatAnUpdateOfATopicDidNotComeToIsDone: each subscription follows by itself, and a crash may come between.
func TestWhatAnUpdateOfATopicDidNotComeToIsDone(t *testing.T) {
	r := newRig(t)
	r.subscribe("news")
	topic, _ := parseResource("topic", topicName("news"), kindTopic)
	is, err := r.door.topicNote(t.Context(), topic)
	if err != nil {
		t.Fatal(err)
	}
	if err := r.door.defineTopic(t.Context(), topic, is,
		&pb.Topic{MessageRetentionDuration: durationpb.New(time.Hour)}); err != nil {
		t.Fatal(err)
	}
	if err := r.door.tidy(t.Context()); err != nil {
		t.Fatal(err)
	}
	def, _, err := r.store.Definition(t.Context(), queue.Name{Namespace: "local", Name: "news"})
	if err != nil || def.History != time.Hour {
		t.Errorf("the history is %v: %v", def.History, err)
	}
}

// TestAPolicyGoesWithWhatItIsOf, also when another door deletes that, or a crash comes between.
func TestAPolicyGoesWithWhatItIsOf(t *testing.T) {
	r := newRig(t)
	r.subscribe("news")
	own := queue.Name{Namespace: "local", Name: "own"}
	if _, err := r.store.CreateQueue(t.Context(), own, queue.Definition{}); err != nil {
		t.Fatal(err)
	}
	policies := iampb.NewIAMPolicyClient(r.conn)
	set := func(resource string) {
		t.Helper()
		if _, err := policies.SetIamPolicy(t.Context(), &iampb.SetIamPolicyRequest{Resource: resource,
			Policy: &iampb.Policy{Bindings: []*iampb.Binding{{Role: "roles/x"}}}}); err != nil {
			t.Fatal(err)
		}
	}
	set(topicName("news"))
	set(subscriptionName("news"))
	set(topicName("own")) // a queue that is its own topic
	left := func() []string {
		t.Helper()
		if err := r.door.tidy(t.Context()); err != nil {
			t.Fatal(err)
		}
		return must(r.store.NoteKeys(t.Context(), room, "policies/"))
	}
	if keys := left(); len(keys) != 3 {
		t.Errorf("of what is there are left: %v", keys)
	}
	news := queue.Name{Namespace: "local", Name: "news"}
	if err := errors.Join(r.store.DeleteQueue(t.Context(), news), r.store.DeleteTopic(t.Context(), news)); err != nil {
		t.Fatal(err)
	}
	if keys := left(); len(keys) != 1 || !strings.HasSuffix(keys[0], "/own") {
		t.Errorf("of what is gone are left: %v", keys)
	}
}
