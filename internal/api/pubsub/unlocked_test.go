package pubsub

import (
	"context"
	"sync"
	"testing"
	"time"

	pb "cloud.google.com/go/pubsub/v2/apiv1/pubsubpb"
	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/types/known/fieldmaskpb"

	"github.com/hikyaku/hikyaku/internal/door/doortest"
)

// busyElsewhere lets somebody else change something until the function that it returns is called.
func (r *rig) busyElsewhere() (end func()) {
	r.door.admin.Lock()
	end = sync.OnceFunc(r.door.admin.Unlock)
	r.t.Cleanup(end)
	return end
}

// TestNothingIsCompiledWhileAdministrationWaits: a revision that is large, or functions of which each may take seconds
// to be looked at, hold up nobody who changes something else.
func TestNothingIsCompiledWhileAdministrationWaits(t *testing.T) {
	s, stop := openStore(t, t.TempDir(), time.Now)
	t.Cleanup(stop)
	r := newRigWith(t, Config{}, Options{Store: s, JavaScript: true})
	r.checked(pb.Schema_AVRO, seenV1, pb.Encoding_JSON)
	r.subscribeTo("news", "readers")
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	unlock := r.busyElsewhere()
	wrong := []*pb.MessageTransform{{Transform: &pb.MessageTransform_JavascriptUdf{
		JavascriptUdf: &pb.JavaScriptUDF{FunctionName: "f", Code: "function f("}}}}
	mask := &fieldmaskpb.FieldMask{Paths: []string{"message_transforms"}}
	_, err := r.pub.UpdateTopic(ctx, &pb.UpdateTopicRequest{UpdateMask: mask,
		Topic: &pb.Topic{Name: topicName("news"), MessageTransforms: wrong}})
	wantCode(t, err, codes.InvalidArgument)
	_, err = r.sub.UpdateSubscription(ctx, &pb.UpdateSubscriptionRequest{UpdateMask: mask,
		Subscription: &pb.Subscription{Name: subscriptionName("readers"), MessageTransforms: wrong}})
	wantCode(t, err, codes.InvalidArgument)
	committed := make(chan error, 1)
	go func() {
		_, err := pb.NewSchemaServiceClient(r.conn).CommitSchema(t.Context(),
			&pb.CommitSchemaRequest{Name: seenName, Schema: &pb.Schema{Type: pb.Schema_AVRO, Definition: seenV2}})
		committed <- err
	}()
	seen, _, _ := parseSchema("schema", seenName)
	all, err := r.door.revisions(t.Context(), seen)
	if err != nil {
		t.Fatal(err)
	}
	first := compiledKey{s.Resolve(seen.name()), all[0].RevisionId}
	doortest.Until(t, "the last revision is compiled", func() bool {
		_, ok := r.door.schemas.get(first)
		return ok
	})
	unlock()
	if err := <-committed; err != nil {
		t.Error(err)
	}
}

// TestARevisionGoesWithTheLastOneThatThereIs, also when that came while another one was looked at.
func TestARevisionGoesWithTheLastOneThatThereIs(t *testing.T) {
	r := newRig(t)
	r.checked(pb.Schema_AVRO, seenV1, pb.Encoding_JSON)
	seen, _, _ := parseSchema("schema", seenName)
	first, is, err := r.door.keptRevisions(t.Context(), seen)
	if err != nil {
		t.Fatal(err)
	}
	schemas := pb.NewSchemaServiceClient(r.conn)
	commit := func(definition string) error {
		_, err := schemas.CommitSchema(t.Context(), &pb.CommitSchemaRequest{Name: seenName,
			Schema: &pb.Schema{Type: pb.Schema_AVRO, Definition: definition}})
		return err
	}
	const with = `{"type": "record", "name": "Seen", "fields": [{"name": "at", "type": "long"}, ` +
		`{"name": "by", "type": "int", "default": 0}]}`
	unlock := r.busyElsewhere()
	late := make(chan error, 1)
	go func() { late <- commit(with) }() // goes with the first revision
	doortest.Until(t, "the first revision is compiled", func() bool {
		_, ok := r.door.schemas.get(compiledKey{r.store.Resolve(seen.name()), first[0].RevisionId})
		return ok
	})
	if _, err := r.door.commitSchema(t.Context(), seen, is, first, pb.Schema_AVRO, seenV2); err != nil {
		t.Fatal(err)
	}
	unlock()
	wantCode(t, <-late, codes.InvalidArgument)
}
