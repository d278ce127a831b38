package pubsub

import (
	"bytes"
	"testing"
	"time"

	"cloud.google.com/go/pubsub/v2/apiv1/pubsubpb"
	"github.com/google/go-cmp/cmp"
	"google.golang.org/grpc"
	"google.golang.org/grpc/encoding/gzip"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/testing/protocmp"
	"google.golang.org/protobuf/types/known/timestamppb"
	"pgregory.net/rapid"

	"github.com/hikyaku/hikyaku/internal/message"
)

// FuzzPublishRequest reads requests as the generated code does.
func FuzzPublishRequest(f *testing.F) {
	for _, req := range []*pubsubpb.PublishRequest{
		{},
		{Topic: "projects/p/topics/t", Messages: []*pubsubpb.PubsubMessage{{Data: []byte("a"), OrderingKey: "k"}, {},
			{Attributes: map[string]string{"b": "c", "a": ""}}}},
		{Messages: []*pubsubpb.PubsubMessage{{MessageId: "x", PublishTime: timestamppb.New(time.Unix(5, 6)),
			Data: []byte{0xff}}}},
	} {
		data, err := proto.Marshal(req)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	f.Add([]byte{0x12, 0x0a, 0x12, 3, 0x0a, 1, 'a', 0x12, 3, 0x0a, 1, 'a'}) // the same attribute twice
	f.Add([]byte{0x12, 0x02, 0x0a})
	f.Add([]byte{0x0a, 1, 0xff})
	f.Fuzz(func(t *testing.T, data []byte) {
		var want pubsubpb.PublishRequest
		wrong := proto.Unmarshal(data, &want)
		var got publishRequest
		err := got.readWire(bytes.Clone(data))
		if wrong != nil {
			return // the generated code also minds fields that are passed over here
		}
		if err != nil {
			t.Fatalf("%x: %v", data, err)
		}
		if len(want.Messages) > maxPublishMessages+1 {
			return
		}
		if got.topic != want.Topic || len(got.messages) != len(want.Messages) {
			t.Fatalf("%x: topic %q, %d messages; not %q, %d", data, got.topic, len(got.messages), want.Topic,
				len(want.Messages))
		}
		for i, w := range want.Messages {
			m := &got.messages[i]
			if !bytes.Equal(m.Body, w.Data) || m.Key != w.OrderingKey || len(m.Attributes) != len(w.Attributes) {
				t.Fatalf("%x: message %d is %+v, not %v", data, i, m, w)
			}
			for j, a := range m.Attributes {
				if v, ok := w.Attributes[a.Name]; !ok || v != a.Value.AsString() {
					t.Fatalf("%x: message %d has %s=%q, not %q", data, i, a.Name, a.Value.AsString(), v)
				}
				if j > 0 && m.Attributes[j-1].Name >= a.Name {
					t.Fatalf("%x: the attributes of message %d are not in order", data, i)
				}
			}
		}
	})
}

func TestResponsesAreWhatTheGeneratedCodeReads(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var told []delivery
		want := &pubsubpb.StreamingPullResponse{}
		for range rapid.IntRange(0, 4).Draw(t, "messages") {
			x := delivery{
				ackID: rapid.String().Draw(t, "ack id"), id: message.NewID(),
				body: rapid.SliceOf(rapid.Byte()).Draw(t, "body"), key: rapid.String().Draw(t, "key"),
				time: time.Unix(rapid.Int64Range(0, 1<<33).Draw(t, "seconds"),
					rapid.Int64Range(0, 999_999_999).Draw(t, "nanoseconds")),
				attempt: rapid.IntRange(0, 300).Draw(t, "attempt"),
			}
			m := &pubsubpb.PubsubMessage{MessageId: x.id.String(), OrderingKey: x.key,
				PublishTime: timestamppb.New(x.time), Attributes: rapid.MapOf(rapid.String(), rapid.String()).Draw(t,
					"attributes")}
			if len(x.body) > 0 {
				m.Data = x.body
			}
			for k, v := range m.Attributes {
				x.attrs = append(x.attrs, textAttribute{k, v})
			}
			x.measure()
			told = append(told, x)
			want.ReceivedMessages = append(want.ReceivedMessages,
				&pubsubpb.ReceivedMessage{AckId: x.ackID, Message: m, DeliveryAttempt: int32(x.attempt)})
		}
		once, ordered := rapid.Bool().Draw(t, "exactly once"), rapid.Bool().Draw(t, "ordered")
		want.SubscriptionProperties = &pubsubpb.StreamingPullResponse_SubscriptionProperties{
			ExactlyOnceDeliveryEnabled: once, MessageOrderingEnabled: ordered}
		data, err := codec{}.Marshal(receivedFrame(told, appendProperties(nil, once, ordered)))
		if err != nil {
			t.Fatal(err)
		}
		defer data.Free()
		got := &pubsubpb.StreamingPullResponse{}
		if err := proto.Unmarshal(data.Materialize(), got); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got, protocmp.Transform()); diff != "" {
			t.Fatalf("(-want +got):\n%s", diff)
		}
	})
}

func TestCompressedRequestsAreRead(t *testing.T) {
	r := newRig(t)
	r.subscribe("news")
	body := bytes.Repeat([]byte("飛脚"), 10_000)
	if _, err := r.pub.Publish(t.Context(),
		&pubsubpb.PublishRequest{Topic: topicName("news"), Messages: []*pubsubpb.PubsubMessage{{Data: body}}},
		grpc.UseCompressor(gzip.Name)); err != nil {
		t.Fatal(err)
	}
	res, err := r.sub.Pull(t.Context(), &pubsubpb.PullRequest{Subscription: subscriptionName("news"), MaxMessages: 1},
		grpc.UseCompressor(gzip.Name))
	if err != nil || len(res.ReceivedMessages) != 1 || !bytes.Equal(res.ReceivedMessages[0].Message.Data, body) {
		t.Errorf("%d messages came, %v", len(res.GetReceivedMessages()), err)
	}
}

func TestAckIDsAreTheirUsers(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a := ackID{stream: rapid.Uint32().Draw(t, "stream"), attempt: rapid.Uint16().Draw(t, "attempt")}
		a.token.Queue, a.token.Sequence = rapid.Uint32().Draw(t, "queue"), rapid.Uint64().Draw(t, "sequence")
		a.token.Serial, a.token.Epoch = rapid.Uint32().Draw(t, "serial"), rapid.Uint32().Draw(t, "epoch")
		text := a.text(nil)
		if back, err := parseAckID(text, nil); err != nil || back != a {
			t.Fatalf("%+v became %+v, %v", a, back, err)
		}
		if _, err := parseAckID(rapid.String().Draw(t, "nonsense"), nil); err == nil {
			t.Fatal("nonsense is an ack id")
		}
	})
}
