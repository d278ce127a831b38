package pubsub

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"cloud.google.com/go/iam/apiv1/iampb"
	pb "cloud.google.com/go/pubsub/v2/apiv1/pubsubpb"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/peer"

	"github.com/hikyaku/hikyaku/internal/door/doortest"
	"github.com/hikyaku/hikyaku/internal/queue"
)

// awayRig is a rig over a store of which the questions of calls can be made to fail.
type awayRig struct {
	*rig
	away    *doortest.Away
	schemas pb.SchemaServiceClient
	iam     iampb.IAMPolicyClient
}

func newAwayRig(t *testing.T) *awayRig {
	t.Helper()
	s, stop := openStore(t, t.TempDir(), time.Now)
	t.Cleanup(stop)
	away := &doortest.Away{Service: s, Of: func(ctx context.Context) bool {
		_, called := peer.FromContext(ctx)
		return called
	}}
	r := newRigWith(t, Config{}, Options{Store: away})
	r.store = s
	return &awayRig{r, away, pb.NewSchemaServiceClient(r.conn), iampb.NewIAMPolicyClient(r.conn)}
}

// subjects are what a call is about. Each is called so in its kind: a topic with a schema of two revisions, the first
// of which is old; its subscription, with a snapshot and a message that was handed out as ack; a topic for dead
// letters, whose subscription has one; a queue that is its own topic; a subscription that is detached.
type subjects struct{ id, dead, own, detached, old, ack string }

// make makes them anew, under names that nobody had before.
func (r *awayRig) make(number int) subjects {
	r.t.Helper()
	ctx, t := r.t.Context(), r.t
	id := fmt.Sprintf("news-%04d", number)
	x := subjects{id: id, dead: id + "-dead", own: id + "-own", detached: id + "-detached"}
	must := func(_ any, err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	first, err := r.schemas.CreateSchema(ctx, &pb.CreateSchemaRequest{Parent: "projects/local", SchemaId: id,
		Schema: &pb.Schema{Type: pb.Schema_AVRO, Definition: seenV1}})
	must(first, err)
	x.old = first.RevisionId
	must(r.schemas.CommitSchema(ctx,
		&pb.CommitSchemaRequest{Name: first.Name, Schema: &pb.Schema{Type: pb.Schema_AVRO, Definition: seenV2}}))
	must(r.pub.CreateTopic(ctx, &pb.Topic{Name: topicName(id),
		SchemaSettings: &pb.SchemaSettings{Schema: first.Name, Encoding: pb.Encoding_JSON}}))
	r.subscribe(x.dead)
	r.subscribeTo(id, id, func(s *pb.Subscription) {
		s.DeadLetterPolicy = &pb.DeadLetterPolicy{DeadLetterTopic: topicName(x.dead), MaxDeliveryAttempts: 5}
	})
	must(r.sub.CreateSnapshot(ctx,
		&pb.CreateSnapshotRequest{Name: snapshotName(id), Subscription: subscriptionName(id)}))
	name := func(id string) queue.Name { return queue.Name{Namespace: "default", Name: id} }
	must(r.store.CreateQueue(ctx, name(x.own), queue.Definition{}))
	r.subscribeTo(id, x.detached)
	must(r.pub.DetachSubscription(ctx, &pb.DetachSubscriptionRequest{Subscription: subscriptionName(x.detached)}))
	r.publish(id, "", `{"at": 1}`, `{"at": 2}`)
	claims, err := r.store.Claim(ctx, queue.ClaimRequest{From: []queue.From{{Queue: name(id)}}, Max: 1})
	must(claims, err)
	must(r.store.Settle(ctx, []queue.Settlement{{Token: claims[0].Token, Kind: queue.Dead}}))
	x.ack = r.pull(id, 1)[0].AckId
	r.door.changes.Add(1) // what the door has read is read anew
	r.door.schemas.all.Range(func(key, _ any) bool { r.door.schemas.forget(key); return true })
	return x
}

// awayCall is a call that asks the store something.
type awayCall struct {
	name string
	do   func(ctx context.Context, r *awayRig, x subjects) (any, error)
	code codes.Code // of a store that is there
}

// TestWhatCannotBeAskedIsUnavailable: whatever a call has to ask the store, and gets no answer to, is neither missing
// nor empty.
func TestWhatCannotBeAskedIsUnavailable(t *testing.T) {
	r := newAwayRig(t)
	number := 0
	ask := func(c awayCall, question string, nth int) error {
		number++
		r.away.Go()
		x := r.make(number)
		r.away.GoOnce(question, nth)
		_, err := c.do(t.Context(), r, x)
		return err
	}
	heard := map[string]bool{}
	for _, c := range append(append(topicCalls(), subscriptionCalls()...), schemaCalls()...) {
		t.Run(c.name, func(t *testing.T) {
			wantCode(t, ask(c, "", 0), c.code)
			asked := r.away.Asked()
			if len(asked) == 0 {
				t.Error("it asks nothing")
			}
			for question, times := range asked {
				heard[question] = true
				for nth := range min(times, 5) { // some look at all that there is
					if err := ask(c, question, nth+1); err == nil {
						t.Errorf("it goes on though the store does not answer %s, time %d", question, nth+1)
					} else {
						wantCode(t, err, codes.Unavailable)
					}
				}
			}
		})
	}
	for _, question := range []string{"Definition", "HasTopic", "Note", "NoteKeys", "NoteSize", "Peek", "Queues",
		"Snapshots", "TopicStats", "Topics"} {
		if !heard[question] {
			t.Errorf("no call asks %s", question)
		}
	}
}

// TestAStreamEndsWhenTheStoreIsAway: its client opens another one, and finds what was not handed out.
func TestAStreamEndsWhenTheStoreIsAway(t *testing.T) {
	r := newAwayRig(t)
	// It asks when it is opened, when it begins to take, for the maker of a dead letter, and when it goes on.
	for nth := 1; nth <= 4; nth++ {
		r.away.Go()
		x := r.make(nth)
		r.away.GoOnce("Definition", nth)
		st := r.stream(x.dead)
		var err error
		received := 0
		for err == nil && (received == 0 || nth == 4) {
			if _, err = st.Recv(); err == nil {
				received++
			}
		}
		wantCode(t, err, codes.Unavailable)
		if left := len(r.pull(x.dead, 1)); received+left != 1 || left == 0 && nth < 4 {
			t.Errorf("without an answer to question %d the stream has had %d messages, and %d are left", nth, received,
				left)
		}
	}
}

// TestPushersGoOnWhileTheStoreIsAway: that nobody says which subscriptions there are does not mean that there are none.
func TestPushersGoOnWhileTheStoreIsAway(t *testing.T) {
	s, stop := openStore(t, t.TempDir(), time.Now)
	t.Cleanup(stop)
	away := &doortest.Away{Service: s}
	e := newEndpoint(t)
	r := newRigWith(t, Config{}, Options{Store: away, Report: func(err error) {
		if !errors.Is(err, queue.ErrUnavailable) {
			e.report(err)
		}
	}})
	r.subscribe("pushed", func(s *pb.Subscription) { s.PushConfig = &pb.PushConfig{PushEndpoint: e.URL} })
	r.publish("pushed", "", "all is well")
	<-e.took
	for _, question := range []string{"Queues", "Definition"} {
		away.Go(question)
		for times := range 2 { // the second look begins when the first has ended
			r.door.pushers.look()
			doortest.Until(t, "the door looks", func() bool { return away.Asked()[question] > times })
		}
		r.publish("pushed", "", question)
		<-e.took
	}
}

// TestNothingIsForgottenWhileTheStoreIsAway: what it does not tell of is not gone.
func TestNothingIsForgottenWhileTheStoreIsAway(t *testing.T) {
	r := newAwayRig(t)
	r.make(1)
	before := len(must(r.store.Notes(t.Context(), room)))
	away := &doortest.Away{Service: r.store}
	d, err := New(Config{}, Options{Store: away}) // its own look in the background is not in the way
	if err != nil {
		t.Fatal(err)
	}
	away.Go()
	if err := d.tidy(t.Context()); err != nil || len(must(r.store.Notes(t.Context(), room))) != before {
		t.Fatalf("%d of %d notes are left: %v", len(must(r.store.Notes(t.Context(), room))), before, err)
	}
	for question, times := range away.Asked() {
		for nth := range times {
			d.changes.Add(1)
			away.GoOnce(question, nth+1)
			if err := d.tidy(t.Context()); !errors.Is(err, queue.ErrUnavailable) {
				t.Errorf("it goes on though the store does not answer %s, time %d: %v", question, nth+1, err)
			}
			if left := len(must(r.store.Notes(t.Context(), room))); left != before {
				t.Errorf("%d of %d notes are left without an answer to %s, time %d", left, before, question, nth+1)
			}
		}
	}
}
