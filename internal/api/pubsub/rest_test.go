package pubsub

import (
	"context"
	"errors"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"

	client "cloud.google.com/go/pubsub/v2"
	apiv1 "cloud.google.com/go/pubsub/v2/apiv1"
	"cloud.google.com/go/pubsub/v2/apiv1/pubsubpb"
	"google.golang.org/api/iterator"
	"google.golang.org/api/option"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/hikyaku/hikyaku/publisher"
)

// TestGooglesRESTClientsWork: their transports say in every call how answers are to be encoded.
func TestGooglesRESTClientsWork(t *testing.T) {
	r := newRig(t)
	ctx := context.Background()
	to := []option.ClientOption{option.WithEndpoint("http://" + r.addr), option.WithoutAuthentication()}
	topics, err := apiv1.NewTopicAdminRESTClient(ctx, to...)
	if err != nil {
		t.Fatal(err)
	}
	defer topics.Close()
	subs, err := apiv1.NewSubscriptionAdminRESTClient(ctx, to...)
	if err != nil {
		t.Fatal(err)
	}
	defer subs.Close()
	schemas, err := apiv1.NewSchemaRESTClient(ctx, to...)
	if err != nil {
		t.Fatal(err)
	}
	defer schemas.Close()
	schema := &pubsubpb.CreateSchemaRequest{Parent: "projects/local", SchemaId: "text",
		Schema: &pubsubpb.Schema{Type: pubsubpb.Schema_AVRO, Definition: `{"type": "string"}`}}
	if made, err := schemas.CreateSchema(ctx, schema); err != nil || made.Type != pubsubpb.Schema_AVRO {
		t.Fatalf("%v, %v", made, err)
	}
	topic := &pubsubpb.Topic{Name: topicName("news"),
		SchemaSettings: &pubsubpb.SchemaSettings{Schema: "projects/local/schemas/text",
			Encoding: pubsubpb.Encoding_JSON}}
	if made, err := topics.CreateTopic(ctx, topic); err != nil ||
		made.SchemaSettings.Encoding != pubsubpb.Encoding_JSON {
		t.Fatalf("%v, %v", made, err)
	}
	if _, err := subs.CreateSubscription(ctx,
		&pubsubpb.Subscription{Name: subscriptionName("news"), Topic: topicName("news")}); err != nil {
		t.Fatal(err)
	}
	p := publisher.NewWithTopicClient(topics, topicName("news"))
	defer p.Stop()
	id, err := p.Publish(ctx, &client.Message{Data: []byte(`"hello"`)}).Get(ctx)
	if err != nil {
		t.Fatal(err)
	}
	got, err := subs.Pull(ctx, &pubsubpb.PullRequest{Subscription: subscriptionName("news"), MaxMessages: 10})
	if err != nil || len(got.ReceivedMessages) != 1 || got.ReceivedMessages[0].Message.MessageId != id ||
		string(got.ReceivedMessages[0].Message.Data) != `"hello"` {
		t.Fatalf("%v, %v", got, err)
	}
	if err := subs.Acknowledge(ctx, &pubsubpb.AcknowledgeRequest{Subscription: subscriptionName("news"),
		AckIds: ackIDs(got.ReceivedMessages)}); err != nil {
		t.Error(err)
	}
	if _, err := p.Publish(ctx, &client.Message{Data: []byte("no JSON")}).Get(ctx); err == nil {
		t.Error("what the schema does not let in was published")
	}
	all := topics.ListTopics(ctx, &pubsubpb.ListTopicsRequest{Project: "projects/local"})
	if one, err := all.Next(); err != nil || one.Name != topicName("news") {
		t.Errorf("%v, %v", one, err)
	}
	if _, err := all.Next(); !errors.Is(err, iterator.Done) {
		t.Error(err)
	}
	if err := topics.DeleteTopic(ctx,
		&pubsubpb.DeleteTopicRequest{Topic: topicName("nothing")}); status.Code(err) != codes.NotFound {
		t.Errorf("%v", err)
	}
}

// TestASnapshotOfAnotherSubscriptionIsSoughtOverREST: what that one has acknowledged is acknowledged then, and the rest
// waits, though it was acknowledged here.
func TestASnapshotOfAnotherSubscriptionIsSoughtOverREST(t *testing.T) {
	r := newRig(t)
	r.subscribe("news")
	r.subscribeTo("news", "readers", func(s *pubsubpb.Subscription) { s.RetainAckedMessages = true })
	r.publish("news", "", "a", "b", "c")
	if err := r.ack("news", r.pull("news", 10)[1]); err != nil {
		t.Fatal(err)
	}
	call := func(method, path, body string) {
		t.Helper()
		if code, answer := r.rest(method, "/v1/projects/local/"+path, body); code != http.StatusOK {
			t.Fatalf("%s %s: %d %s", method, path, code, answer)
		}
	}
	call(http.MethodPut, "snapshots/snap", `{"subscription": "`+subscriptionName("news")+`"}`)
	if err := r.ack("readers", r.pull("readers", 10)...); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		call(http.MethodPost, "subscriptions/readers:seek", `{"snapshot": "`+snapshotName("snap")+`"}`)
		got := r.pull("readers", 10)
		if !slices.Equal(texts(got), []string{"a", "c"}) {
			t.Errorf("after the snapshot %q came", texts(got))
		}
		if err := r.ack("readers", got...); err != nil {
			t.Fatal(err)
		}
	}
}

// TestParametersOfAllGoogleAPIsDoWhatIsDocumented, over the door's own port.
func TestParametersOfAllGoogleAPIsDoWhatIsDocumented(t *testing.T) {
	r := newRig(t)
	r.subscribe("news", func(s *pubsubpb.Subscription) { s.AckDeadlineSeconds = 20 })
	const base = "/v1/projects/local/subscriptions/news?"
	for query, want := range map[string]string{
		"$alt=json;enum-encoding=int":                              `"state":1`,
		"%24alt=json%3Benum-encoding%3Dint":                        `"state":1`,
		"$alt=json":                                                `"state":"ACTIVE"`,
		"alt=json&prettyPrint=true":                                "\n  \"state\": \"ACTIVE\"",
		"prettyPrint=false&key=x&quotaUser=y":                      `"state":"ACTIVE"`,
		"fields=ackDeadlineSeconds":                                `{"ackDeadlineSeconds":20}`,
		"$fields=ack_deadline_seconds&$alt=json;enum-encoding=int": `{"ackDeadlineSeconds":20}`,
		"$.xgafv=2&upload_protocol=raw&uploadType=media":           `"state":"ACTIVE"`,
		"alt=media":                  "400 ",
		"$alt=json;enum-encoding=no": "400 ",
		"callback=f":                 "400 ",
		"$.xgafv=3":                  "400 ",
		"fields=a(":                  "400 ",
		"prettyPrint=perhaps":        "400 ",
		"nonsense=1":                 "400 ",
	} {
		res, err := http.Get("http://" + r.addr + base + query)
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(res.Body)
		res.Body.Close()
		if err != nil {
			t.Fatal(err)
		}
		got := res.Status[:4] + string(body)
		if !strings.Contains(query, "prettyPrint=true") {
			got = strings.ReplaceAll(got, `": `, `":`)
		}
		if !strings.Contains(got, want) {
			t.Errorf("%s: %s", query, got)
		}
	}
}
