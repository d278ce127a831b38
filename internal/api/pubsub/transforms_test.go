package pubsub

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	client "cloud.google.com/go/pubsub/v2"
	"cloud.google.com/go/pubsub/v2/apiv1/pubsubpb"
	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/types/known/fieldmaskpb"
)

// script is a transform by a function of the name f.
func script(body string) *pubsubpb.MessageTransform { return scriptAs("f", body) }

func scriptAs(name, body string) *pubsubpb.MessageTransform {
	return &pubsubpb.MessageTransform{Transform: &pubsubpb.MessageTransform_JavascriptUdf{
		JavascriptUdf: &pubsubpb.JavaScriptUDF{
			FunctionName: name, Code: "function " + name + "(message, metadata) {" + body + "}",
		}}}
}

func scriptRig(t *testing.T) *rig {
	t.Helper()
	s, stop := openStore(t, t.TempDir(), time.Now)
	t.Cleanup(stop)
	return newRigWith(t, Config{}, Options{Store: s, JavaScript: true})
}

func (r *rig) scriptTopic(id string, transforms ...*pubsubpb.MessageTransform) {
	r.t.Helper()
	if _, err := r.pub.CreateTopic(r.t.Context(),
		&pubsubpb.Topic{Name: topicName(id), MessageTransforms: transforms}); err != nil {
		r.t.Fatal(err)
	}
}

// TestATopicsFunctionsChangeWhatIsPublished uses Google's client. What a function drops has an id like the rest.
func TestATopicsFunctionsChangeWhatIsPublished(t *testing.T) {
	r := scriptRig(t)
	disabled := scriptAs("g", `throw new Error("it is disabled");`)
	disabled.Disabled = true
	r.scriptTopic("news", script(`message.attributes.by = "f"; return message.data.startsWith("-") ? null : message;`),
		disabled,
		scriptAs("h", `message.data += "!"; return message;`))
	r.subscribeTo("news", "all")
	r.subscribeTo("news", "some", func(s *pubsubpb.Subscription) { s.Filter = `attributes.by = "f"` })
	p := r.google().Publisher("news")
	var ids []string
	for _, text := range []string{"a", "-b", "c"} {
		id, err := p.Publish(t.Context(), &client.Message{Data: []byte(text)}).Get(t.Context())
		if err != nil || id == "" {
			t.Fatalf("%q %v", id, err)
		}
		ids = append(ids, id)
	}
	for _, s := range []string{"all", "some"} { // a filter sees what the functions made
		got := r.pull(s, 10)
		if !slices.Equal(texts(got), []string{"a!", "c!"}) || got[0].Message.Attributes["by"] != "f" ||
			got[1].Message.MessageId != ids[2] {
			t.Errorf("%s: %v", s, got)
		}
	}
	_, err := r.pub.Publish(t.Context(),
		&pubsubpb.PublishRequest{Topic: topicName("news"), Messages: []*pubsubpb.PubsubMessage{{Data: []byte("-")}}})
	if err != nil {
		t.Errorf("nothing but dropped messages: %v", err)
	}
}

func TestAPublishFailsAsAWholeWhereAFunctionDoes(t *testing.T) {
	r := scriptRig(t)
	r.scriptTopic("news",
		script(`if (message.data === "bad") throw new Error("so bad"); message.data = message.data.repeat(message.attributes.n || 1); return message;`))
	r.subscribeTo("news", "all")
	for _, c := range []struct {
		ms   []*pubsubpb.PubsubMessage
		want string
	}{
		{[]*pubsubpb.PubsubMessage{{Data: []byte("good")}, {Data: []byte("bad")}},
			"message 1: function f: Error: so bad"},
		{[]*pubsubpb.PubsubMessage{{Data: []byte("0123456789"), Attributes: map[string]string{"n": "1000000"}}},
			"more than 10000000 bytes"},
		{[]*pubsubpb.PubsubMessage{{Data: []byte{0xff}}}, "not UTF-8"},
	} {
		_, err := r.pub.Publish(t.Context(), &pubsubpb.PublishRequest{Topic: topicName("news"), Messages: c.ms})
		wantCode(t, err, codes.InvalidArgument)
		if !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v, not %q", err, c.want)
		}
	}
	r.left("all", 0)
}

// TestASubscriptionsFunctionsChangeWhatIsDelivered: what they drop is acknowledged, what they fail at is a dead letter
// after its tries, as it was published.
func TestASubscriptionsFunctionsChangeWhatIsDelivered(t *testing.T) {
	r := scriptRig(t)
	r.topic("news")
	r.topic("dead")
	r.subscribeTo("dead", "dead")
	transform := script(`
		if (message.data === "drop") return null;
		if (message.data === "bad") throw new Error("so bad");
		return {data: message.data + " " + metadata.ordering_key + " " + (metadata.message_id.length > 0), attributes: {a: "b"}};`)
	r.subscribeTo("news", "readers", func(s *pubsubpb.Subscription) {
		s.MessageTransforms = []*pubsubpb.MessageTransform{transform}
		s.DeadLetterPolicy = &pubsubpb.DeadLetterPolicy{DeadLetterTopic: topicName("dead"), MaxDeliveryAttempts: 5}
	})
	r.publish("news", "", "drop")
	r.publish("news", "k", "a")
	r.publish("news", "", "drop")
	got := r.pull("readers", 10)
	if !slices.Equal(texts(got), []string{"a k true"}) || fmt.Sprint(got[0].Message.Attributes) != "map[a:b]" {
		t.Fatalf("%v", got)
	}
	if err := r.ack("readers", got...); err != nil {
		t.Fatal(err)
	}
	r.left("readers", 0)
	transformRest = backoff{time.Millisecond, time.Millisecond}
	t.Cleanup(func() { transformRest = backoff{time.Second, time.Minute} })
	r.publish("news", "", "bad")
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	go func() { // somebody has to ask for it
		_, _ = r.sub.Pull(ctx, &pubsubpb.PullRequest{Subscription: subscriptionName("readers"), MaxMessages: 1})
	}()
	dead := receive(t, r.stream("dead"), 1)
	if !slices.Equal(texts(dead), []string{"bad"}) || dead[0].Message.Attributes[deathCount] != "5" {
		t.Errorf("%v", dead)
	}
}

// TestAFunctionThatFailsKeepsTheOrderOfAKey: what is behind it of its key waits for it, other keys do not.
func TestAFunctionThatFailsKeepsTheOrderOfAKey(t *testing.T) {
	r := scriptRig(t)
	r.topic("news")
	r.subscribeTo("news", "readers", func(s *pubsubpb.Subscription) {
		s.EnableMessageOrdering = true
		s.MessageTransforms = []*pubsubpb.MessageTransform{script(
			`if (message.data === "k1") throw 1; return message;`)}
	})
	r.publish("news", "k", "k1", "k2")
	r.publish("news", "l", "l1", "l2")
	st := r.stream("readers")
	got := receive(t, st, 2)
	if !slices.Equal(texts(got), []string{"l1", "l2"}) {
		t.Errorf("%q came", texts(got))
	}
	if err := r.ack("readers", got...); err != nil {
		t.Fatal(err)
	}
	if _, err := r.sub.UpdateSubscription(t.Context(), &pubsubpb.UpdateSubscriptionRequest{
		Subscription: &pubsubpb.Subscription{Name: subscriptionName("readers")},
		UpdateMask:   &fieldmaskpb.FieldMask{Paths: []string{"message_transforms"}},
	}); err != nil {
		t.Fatal(err)
	}
	if got := receive(t, st, 2); !slices.Equal(texts(got), []string{"k1", "k2"}) {
		t.Errorf("afterwards %q came", texts(got))
	}
}

// TestTransformsAreCheckedKeptAndChanged, also over a restart of the door.
func TestTransformsAreCheckedKeptAndChanged(t *testing.T) {
	r := scriptRig(t)
	udf := func(name, code string) *pubsubpb.MessageTransform {
		return &pubsubpb.MessageTransform{Transform: &pubsubpb.MessageTransform_JavascriptUdf{
			JavascriptUdf: &pubsubpb.JavaScriptUDF{FunctionName: name, Code: code}}}
	}
	ok := script("return message")
	for name, c := range map[string]struct {
		all  []*pubsubpb.MessageTransform
		want codes.Code
	}{
		"no type":     {[]*pubsubpb.MessageTransform{{}}, codes.InvalidArgument},
		"no name":     {[]*pubsubpb.MessageTransform{udf("", "function f() {}")}, codes.InvalidArgument},
		"no code":     {[]*pubsubpb.MessageTransform{udf("f", "")}, codes.InvalidArgument},
		"no function": {[]*pubsubpb.MessageTransform{udf("g", "function f() {}")}, codes.InvalidArgument},
		"no JavaScript, disabled": {[]*pubsubpb.MessageTransform{{Disabled: true,
			Transform: udf("f", "function f( {}").Transform}}, codes.InvalidArgument},
		"hostile": {[]*pubsubpb.MessageTransform{udf("f", strings.Repeat("(", 20<<10))},
			codes.InvalidArgument},
		"large code": {[]*pubsubpb.MessageTransform{udf("f",
			"function f() {}"+strings.Repeat(" ", 20<<10))}, codes.InvalidArgument},
		"one name of two": {[]*pubsubpb.MessageTransform{ok, udf("f", "function f() {}")}, codes.InvalidArgument},
		"too many":        {[]*pubsubpb.MessageTransform{ok, ok, ok, ok, ok, ok}, codes.InvalidArgument},
		"compression": {[]*pubsubpb.MessageTransform{{Transform: &pubsubpb.MessageTransform_Compression{}}},
			codes.Unimplemented},
		"inference": {[]*pubsubpb.MessageTransform{{
			Transform: &pubsubpb.MessageTransform_AiInference{
				AiInference: &pubsubpb.AIInference{}}}}, codes.Unimplemented},
	} {
		_, err := r.pub.CreateTopic(t.Context(), &pubsubpb.Topic{Name: topicName("wrong"), MessageTransforms: c.all})
		if wantCode(t, err, c.want); t.Failed() {
			t.Fatal(name)
		}
	}
	r.scriptTopic("news")
	r.subscribeTo("news", "readers")
	topic := func(change ...*pubsubpb.MessageTransform) {
		t.Helper()
		got, err := r.pub.UpdateTopic(t.Context(), &pubsubpb.UpdateTopicRequest{
			Topic:      &pubsubpb.Topic{Name: topicName("news"), MessageTransforms: change},
			UpdateMask: &fieldmaskpb.FieldMask{Paths: []string{"message_transforms"}},
		})
		if err != nil || len(got.MessageTransforms) != len(change) {
			t.Fatalf("%v %v", got, err)
		}
	}
	for _, c := range []struct {
		change []*pubsubpb.MessageTransform
		want   string
	}{{[]*pubsubpb.MessageTransform{script(`message.data = "1"; return message`)}, "1"}, {nil, "x"},
		{[]*pubsubpb.MessageTransform{script(`message.data = "2"; return message`)}, "2"}} {
		topic(c.change...)
		r.publish("news", "", "x")
		got := r.pull("readers", 1)
		if !slices.Equal(texts(got), []string{c.want}) {
			t.Errorf("%v, not %s", got, c.want)
		}
		if err := r.ack("readers", got...); err != nil {
			t.Fatal(err)
		}
	}
	r.close()
	again := newRigWith(t, Config{}, Options{Store: r.store, JavaScript: true})
	again.publish("news", "", "x")
	if got := again.pull("readers", 1); !slices.Equal(texts(got), []string{"2"}) {
		t.Errorf("after a restart of the door: %v", got)
	}
}
