package pubsub

import (
	"strings"
	"testing"

	"cloud.google.com/go/pubsub/v2/apiv1/pubsubpb"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"

	"github.com/hikyaku/hikyaku/internal/message"
)

func TestShortValuesOfMessagesAreWeighed(t *testing.T) {
	ids := make([]string, 1000)
	labels := map[string]string{}
	for i := range 100 {
		labels[strings.Repeat("k", i)] = ""
	}
	for _, c := range []struct {
		name string
		m    proto.Message
		want int64
	}{
		{"ids", &pubsubpb.AcknowledgeRequest{Subscription: "s", AckIds: ids}, 1000 * textBytes},
		{"numbers", &pubsubpb.StreamingPullRequest{ModifyDeadlineSeconds: make([]int32, 1000)}, 1003 * packedBytes},
		{"a map", &pubsubpb.Topic{Labels: labels}, 100 * innerBytes},
		{"within others", &pubsubpb.UpdateTopicRequest{Topic: &pubsubpb.Topic{Labels: labels}}, 101 * innerBytes},
		{"one text", &pubsubpb.Topic{Name: strings.Repeat("n", 1000)}, 0},
	} {
		data, err := proto.Marshal(c.m)
		if err != nil {
			t.Fatal(err)
		}
		if got := weigh(data, c.m.ProtoReflect().Descriptor(), 0); got != c.want {
			t.Errorf("%s: %d bytes, %d are wanted", c.name, got, c.want)
		}
	}
}

func TestAMessageKeepsNoMoreAttributesThanItMayHave(t *testing.T) {
	attribute := func(b []byte, name string) []byte {
		return protowire.AppendBytes(protowire.AppendTag(b, 2, protowire.BytesType), appendText(nil, 1, name))
	}
	var same, other []byte
	for i := range 10_000 {
		same, other = attribute(same, strings.Repeat("n", i%7)), attribute(other, strings.Repeat("n", i%1000))
	}
	var m message.Message
	if err := readMessage(&m, same); err != nil || len(m.Attributes) != 7 {
		t.Errorf("%d attributes, %v: of one name the last counts", len(m.Attributes), err)
	}
	m = message.Message{}
	if err := readMessage(&m, other); err != nil || len(m.Attributes) <= maxAttributes ||
		cap(m.Attributes) > 10*maxAttributes {
		t.Errorf("%d attributes in room for %d, %v", len(m.Attributes), cap(m.Attributes), err)
	}
}
