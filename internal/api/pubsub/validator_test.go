package pubsub

import (
	"bytes"
	"context"
	"fmt"
	"testing"
	"time"

	pb "cloud.google.com/go/pubsub/v2/apiv1/pubsubpb"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/hikyaku/hikyaku/internal/door"
	"github.com/hikyaku/hikyaku/internal/door/doortest"
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

// TestWhoHoldsRoomDoesNotWaitForMore: a request with a schema, or with messages that are checked against one, holds the
// room of its own bytes. Were it to wait for what it takes besides, two would wait for each other.
func TestWhoHoldsRoomDoesNotWaitForMore(t *testing.T) {
	r := newRig(t)
	const numbers = `{"type": "array", "items": "int"}`
	r.checked(pb.Schema_AVRO, numbers, pb.Encoding_JSON)
	many := append(append([]byte{'['}, bytes.Repeat([]byte("1,"), 20_000)...), "1]"...)
	fields := []byte(`{"type": "record", "name": "R", "fields": [`)
	for n := range 4000 {
		fields = fmt.Appendf(fields, `{"name": "f%d", "type": "int"},`, n)
	}
	large := &pb.Schema{Type: pb.Schema_AVRO, Definition: string(fields) + `{"name": "f", "type": "int"}]}`}
	schemas := pb.NewSchemaServiceClient(r.conn)
	all := r.full(32<<20, 900<<10, time.Hour)
	for name, call := range map[string]func(context.Context) error{
		"a publish": func(ctx context.Context) error {
			_, err := r.pub.Publish(ctx, &pb.PublishRequest{Topic: topicName("news"),
				Messages: []*pb.PubsubMessage{{Data: many}}})
			return err
		},
		"a message": func(ctx context.Context) error {
			_, err := schemas.ValidateMessage(ctx, &pb.ValidateMessageRequest{Parent: "projects/local",
				SchemaSpec: &pb.ValidateMessageRequest_Schema{Schema: &pb.Schema{Type: pb.Schema_AVRO,
					Definition: numbers}}, Message: many, Encoding: pb.Encoding_JSON})
			return err
		},
		"a look at a schema": func(ctx context.Context) error {
			_, err := schemas.ValidateSchema(ctx, &pb.ValidateSchemaRequest{Parent: "projects/local", Schema: large})
			return err
		},
		"a new schema": func(ctx context.Context) error {
			_, err := schemas.CreateSchema(ctx, &pb.CreateSchemaRequest{Parent: "projects/local", SchemaId: "large",
				Schema: large})
			return err
		},
		"a revision": func(ctx context.Context) error {
			_, err := schemas.CommitSchema(ctx, &pb.CommitSchemaRequest{Name: seenName, Schema: large})
			return err
		},
	} {
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		if err := call(ctx); status.Code(err) != codes.ResourceExhausted {
			t.Errorf("%s: %v", name, err)
		}
		cancel()
	}
	doortest.Until(t, "all is given back", func() bool { return all.Used() == 32<<20-900<<10 })
}
