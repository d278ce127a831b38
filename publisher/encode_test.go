package publisher

import (
	"errors"
	"testing"

	"cloud.google.com/go/pubsub/v2"
	"cloud.google.com/go/pubsub/v2/apiv1/pubsubpb"
	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/testing/protocmp"
	"pgregory.net/rapid"
)

func TestARequestIsWhatProtobufWouldMakeOfIt(t *testing.T) {
	anyMessage := rapid.Custom(func(t *rapid.T) *pubsub.Message {
		return &pubsub.Message{
			Data:        rapid.SliceOfN(rapid.Byte(), 0, 300).Draw(t, "data"),
			Attributes:  rapid.MapOfN(rapid.String(), rapid.String(), 0, 4).Draw(t, "attributes"),
			OrderingKey: rapid.String().Draw(t, "key"),
		}
	})
	rapid.Check(t, func(t *rapid.T) {
		topic := rapid.StringN(1, 40, -1).Draw(t, "topic")
		messages := rapid.SliceOfN(anyMessage, 1, 5).Draw(t, "messages")
		want := &pubsubpb.PublishRequest{Topic: topic}
		var l lane
		for _, m := range messages {
			size, err := sizeOf(m)
			if err != nil {
				t.Fatal(err)
			}
			pb := &pubsubpb.PubsubMessage{Data: m.Data, Attributes: m.Attributes, OrderingKey: m.OrderingKey}
			if size != proto.Size(pb) {
				t.Fatalf("size %d, want %d", size, proto.Size(pb))
			}
			want.Messages = append(want.Messages, pb)
			l.push(&PublishResult{msg: m, size: int32(size)})
		}
		r := newRequest(topic, l.first, l.count)
		defer r.free()
		if n := r.buffer.Len(); n != proto.Size(want) {
			t.Fatalf("%d bytes, want %d", n, proto.Size(want))
		}
		for name, got := range map[string]*pubsubpb.PublishRequest{"encoded": decoded(t, r), "whole": r.message()} {
			if d := cmp.Diff(want, got, protocmp.Transform()); d != "" {
				t.Fatalf("%s:\n%s", name, d)
			}
		}
	})
}

// decoded reads a request in the way a server does.
func decoded(t *rapid.T, r *request) *pubsubpb.PublishRequest {
	slice, err := r.Marshal(nil)
	if err != nil {
		t.Fatal(err)
	}
	defer slice.Free()
	got := new(pubsubpb.PublishRequest)
	if err := r.Unmarshal(slice, got); err != nil {
		t.Fatal(err)
	}
	return got
}

func TestTextThatIsNoneIsFoundBeforeItIsSent(t *testing.T) {
	for name, m := range map[string]*pubsub.Message{
		"name":  {Attributes: map[string]string{"\xff": ""}},
		"value": {Attributes: map[string]string{"a": "\xff"}},
		"key":   {OrderingKey: "\xff"},
	} {
		if _, err := sizeOf(m); !errors.Is(err, ErrInvalidText) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
