package pubsub

import (
	"bytes"
	"context"
	"testing"
	"time"

	pb "cloud.google.com/go/pubsub/v2/apiv1/pubsubpb"
	"google.golang.org/grpc/codes"

	"github.com/hikyaku/hikyaku/internal/door"
)

// checked makes a topic whose messages are checked against a schema.
func (r *rig) checked(kind pb.Schema_Type, definition string, encoding pb.Encoding) {
	r.t.Helper()
	if _, err := pb.NewSchemaServiceClient(r.conn).CreateSchema(r.t.Context(), &pb.CreateSchemaRequest{
		Parent: "projects/local", SchemaId: "seen",
		Schema: &pb.Schema{Type: kind, Definition: definition}}); err != nil {
		r.t.Fatal(err)
	}
	if _, err := r.pub.CreateTopic(r.t.Context(), &pb.Topic{Name: topicName("news"),
		SchemaSettings: &pb.SchemaSettings{Schema: seenName, Encoding: encoding}}); err != nil {
		r.t.Fatal(err)
	}
}

// full gives the door an account of bytes of which so many are left.
func (r *rig) full(limit, left int64, patience time.Duration) *door.Busy {
	r.t.Helper()
	all := door.NewBusy(limit)
	all.Patience = patience
	r.door.busy, r.door.answers = all, all.Share(limit/2)
	if !all.Try(limit - left) {
		r.t.Fatal("the account is full already")
	}
	r.t.Cleanup(func() { all.Give(limit - left) })
	return all
}

// TestAPublishWaitsOnceForRoomToCheckItsMessages: not once for each of its messages.
func TestAPublishWaitsOnceForRoomToCheckItsMessages(t *testing.T) {
	r := newRig(t)
	r.checked(pb.Schema_AVRO, `{"type": "array", "items": "int"}`, pb.Encoding_JSON)
	r.full(16<<20, 900<<10, 100*time.Millisecond)
	req := &pb.PublishRequest{Topic: topicName("news")}
	for range 100 {
		body := append([]byte{'['}, bytes.Repeat([]byte("1,"), 1000)...)
		req.Messages = append(req.Messages, &pb.PubsubMessage{Data: append(body, "1]"...)})
	}
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
	defer cancel()
	_, err := r.pub.Publish(ctx, req)
	wantCode(t, err, codes.ResourceExhausted)
}
