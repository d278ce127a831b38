package rest_test

import (
	"bytes"
	"encoding/base64"
	"math/rand/v2"
	"net/http"
	"strings"
	"testing"
	"time"

	"cloud.google.com/go/iam/apiv1/iampb"
	"cloud.google.com/go/pubsub/v2/apiv1/pubsubpb"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/known/fieldmaskpb"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/hikyaku/hikyaku/internal/api/pubsub/rest"
	"github.com/hikyaku/hikyaku/internal/door"
	"github.com/hikyaku/hikyaku/internal/door/doortest"
	"github.com/hikyaku/hikyaku/internal/metricstest"
)

func TestCallsArriveAsTheirAnnotationsSay(t *testing.T) {
	s := &service{}
	front := start(t, s, rest.Options{})
	const topic, subscription = "projects/p/topics/news", "projects/p/subscriptions/news"
	for _, c := range []struct {
		method, path, body string
		want               proto.Message
	}{
		{"PUT", "/v1/" + topic, "", &pubsubpb.Topic{Name: topic}},
		{"PUT", "/v1/" + topic, `{"labels": {"a": "b"}, "messageRetentionDuration": "600s"}`,
			&pubsubpb.Topic{Name: topic, Labels: map[string]string{"a": "b"},
				MessageRetentionDuration: durationpb.New(10 * time.Minute)}},
		{"PUT", "/v1/" + topic, `{"name": "what the path says wins"}`, &pubsubpb.Topic{Name: topic}},
		{"PATCH", "/v1/" + topic, `{"topic": {"labels": {"a": "b"}}, "updateMask": "labels,messageRetentionDuration"}`,
			&pubsubpb.UpdateTopicRequest{Topic: &pubsubpb.Topic{Name: topic, Labels: map[string]string{"a": "b"}},
				UpdateMask: &fieldmaskpb.FieldMask{Paths: []string{"labels", "message_retention_duration"}}}},
		{"PATCH", "/v1/" + topic,
			`{"topic": {}, "update_mask": "message_retention_duration,schema_settings.schema"}`,
			&pubsubpb.UpdateTopicRequest{Topic: &pubsubpb.Topic{Name: topic}, UpdateMask: &fieldmaskpb.FieldMask{
				Paths: []string{"message_retention_duration", "schema_settings.schema"}}}},
		{"PATCH", "/v1/" + topic + "?updateMask=kms_key_name", `{"topic": {"labels": {"a_b": "c_d"}}}`,
			&pubsubpb.UpdateTopicRequest{Topic: &pubsubpb.Topic{Name: topic, Labels: map[string]string{"a_b": "c_d"}},
				UpdateMask: &fieldmaskpb.FieldMask{Paths: []string{"kms_key_name"}}}},
		{"GET", "/v1/" + topic, "", &pubsubpb.GetTopicRequest{Topic: topic}},
		{"GET", "/v1/projects/p/topics?pageSize=3&pageToken=x%20y", "",
			&pubsubpb.ListTopicsRequest{Project: "projects/p", PageSize: 3, PageToken: "x y"}},
		{"GET", "/v1/projects/p/topics?page_size=3", "",
			&pubsubpb.ListTopicsRequest{Project: "projects/p", PageSize: 3}},
		{"DELETE", "/v1/" + topic, "", &pubsubpb.DeleteTopicRequest{Topic: topic}},
		{"POST", "/v1/" + topic + ":publish",
			`{"messages": [{"data": "aGVsbG8=", "attributes": {"lang": "ja"}, "orderingKey": "k"}, {"data": "_-8"}]}`,
			&pubsubpb.PublishRequest{Topic: topic, Messages: []*pubsubpb.PubsubMessage{
				{Data: []byte("hello"), Attributes: map[string]string{"lang": "ja"}, OrderingKey: "k"},
				{Data: []byte{0xff, 0xef}}}}},
		{"POST", "/v1/" + subscription + ":pull", `{"max_messages": 5}`,
			&pubsubpb.PullRequest{Subscription: subscription, MaxMessages: 5}},
		{"POST", "/v1/projects/p/schemas?schemaId=s", `{"type": "AVRO", "definition": "{}"}`,
			&pubsubpb.CreateSchemaRequest{Parent: "projects/p", SchemaId: "s",
				Schema: &pubsubpb.Schema{Type: pubsubpb.Schema_AVRO, Definition: "{}"}}},
		{"GET", "/v1/projects/p/schemas/s?view=FULL", "",
			&pubsubpb.GetSchemaRequest{Name: "projects/p/schemas/s", View: pubsubpb.SchemaView_FULL}},
		{"GET", "/v1/projects/p/schemas/s@12ab", "", &pubsubpb.GetSchemaRequest{Name: "projects/p/schemas/s@12ab"}},
		{"POST", "/v1/" + topic + ":getIamPolicy", `{}`, &iampb.GetIamPolicyRequest{Resource: topic}},
		{"GET", "/v1/" + topic + ":getIamPolicy?options.requestedPolicyVersion=3", "",
			&iampb.GetIamPolicyRequest{Resource: topic, Options: &iampb.GetPolicyOptions{RequestedPolicyVersion: 3}}},
		{"POST", "/v1/" + subscription + ":testIamPermissions", `{"permissions": ["a", "b"]}`,
			&iampb.TestIamPermissionsRequest{Resource: subscription, Permissions: []string{"a", "b"}}},
	} {
		if status, body, _ := call(t, front, c.method, c.path, c.body); status != http.StatusOK ||
			compact(t, body) != "{}" {
			t.Errorf("%s %s: %d %s", c.method, c.path, status, body)
		}
		s.wasAsked(t, c.want)
	}
}

// TestANameThatStandsTwiceIsRefusedBesideAMask: also where the mask has names of Protocol Buffers.
func TestANameThatStandsTwiceIsRefusedBesideAMask(t *testing.T) {
	front := start(t, &service{}, rest.Options{})
	for _, mask := range []string{"labels", "kms_key_name"} {
		status, body, _ := call(t, front, "PATCH", "/v1/projects/p/topics/news",
			`{"topic": {"labels": {"a": "b"}}, "topic": {}, "updateMask": "`+mask+`"}`)
		if status != http.StatusBadRequest {
			t.Errorf("%s: %d %s", mask, status, body)
		}
	}
}

// TestAPostMayStandForAnotherMethod, as Google's client for Python has it for long addresses.
func TestAPostMayStandForAnotherMethod(t *testing.T) {
	s := &service{}
	front := start(t, s, rest.Options{})
	const topic = "projects/p/topics/news"
	as := func(method, kind string) func(*http.Request) {
		return func(r *http.Request) {
			r.Header.Set("X-HTTP-Method-Override", method)
			if kind != "" {
				r.Header.Set("Content-Type", kind)
			}
		}
	}
	const form = "application/x-www-form-urlencoded"
	for _, c := range []struct {
		method, kind, path, body string
		want                     proto.Message
	}{
		{"GET", "", "/v1/" + topic, "", &pubsubpb.GetTopicRequest{Topic: topic}},
		{"get", form, "/v1/projects/p/topics?pageSize=3", "pageToken=x%20y&alt=json",
			&pubsubpb.ListTopicsRequest{Project: "projects/p", PageSize: 3, PageToken: "x y"}},
		{"DELETE", "", "/v1/" + topic, "", &pubsubpb.DeleteTopicRequest{Topic: topic}},
		{"PUT", "", "/v1/" + topic, "{}", &pubsubpb.Topic{Name: topic}},
		{"POST", "", "/v1/" + topic + ":publish", "{}", &pubsubpb.PublishRequest{Topic: topic}},
	} {
		if status, body, _ := call(t, front, "POST", c.path, c.body, as(c.method, c.kind)); status != http.StatusOK {
			t.Errorf("%s %s: %d %s", c.method, c.path, status, body)
		}
		s.wasAsked(t, c.want)
	}
	long := strings.Repeat("a", 100<<10)
	for _, edit := range []func(*http.Request){as("CONNECT", ""), as("GET", form)} {
		status, body, _ := call(t, front, "POST", "/v1/projects/p/topics", long, edit)
		if status != http.StatusBadRequest {
			t.Errorf("%d %s", status, body)
		}
	}
	call(t, front, "GET", "/v1/"+topic, "", as("DELETE", "")) // only a POST stands for another
	s.wasAsked(t, &pubsubpb.GetTopicRequest{Topic: topic})
}

func TestNamesWithEscapesAreTakenOffOnce(t *testing.T) {
	s := &service{}
	front := start(t, s, rest.Options{})
	for path, name := range map[string]string{
		"a+b": "a+b", "a%2Bb": "a+b", "a%252Bb": "a%2Bb", "a~b.c_d-e": "a~b.c_d-e", "a%25": "a%", "%E9%A3%9B": "飛",
		"a%3Ab": "a:b", "a%2Fb": "a/b",
	} {
		call(t, front, "GET", "/v1/projects/p/topics/"+path, "")
		s.wasAsked(t, &pubsubpb.GetTopicRequest{Topic: "projects/p/topics/" + name})
	}
	for path, name := range map[string]string{"a+b:publish": "a+b", "a%3Ab:publish": "a:b"} {
		call(t, front, "POST", "/v1/projects/p/topics/"+path, "{}")
		s.wasAsked(t, &pubsubpb.PublishRequest{Topic: "projects/p/topics/" + name})
	}
}

func TestAnswersAreTheProtocolBuffersJSON(t *testing.T) {
	s := &service{answer: &pubsubpb.PullResponse{ReceivedMessages: []*pubsubpb.ReceivedMessage{{
		AckId: "<a&b>", DeliveryAttempt: 2, Message: &pubsubpb.PubsubMessage{Data: []byte{0xff, 0xef}, MessageId: "1",
			Attributes:  map[string]string{"k": "v"},
			PublishTime: timestamppb.New(time.Date(2026, 1, 2, 3, 4, 5, 6e6, time.UTC))},
	}}}}
	front := start(t, s, rest.Options{})
	status, body, header := call(t, front, "POST", "/v1/projects/p/subscriptions/s:pull", `{"maxMessages": 1}`)
	want := `{"receivedMessages":[{"ackId":"<a&b>","message":{"data":"/+8=","attributes":{"k":"v"},"messageId":"1","publishTime":"2026-01-02T03:04:05.006Z"},"deliveryAttempt":2}]}`
	if got := compact(t, body); status != http.StatusOK || got != want {
		t.Errorf("%d %s\nwanted %s", status, got, want)
	}
	if got := header.Get("Content-Type"); got != "application/json; charset=UTF-8" {
		t.Errorf("Content-Type: %s", got)
	}
	for name := range header {
		if name == "Trailer" || strings.HasPrefix(name, "Grpc") {
			t.Errorf("the answer has the header %s", name)
		}
	}
}

func TestHeadersArriveAsMetadata(t *testing.T) {
	s := &service{}
	front := start(t, s, rest.Options{})
	sent := func(edit func(*http.Request), path string) string {
		call(t, front, "GET", path, "", edit)
		s.mu.Lock()
		defer s.mu.Unlock()
		return strings.Join(s.header.Get("authorization"), ",")
	}
	bearer := func(r *http.Request) { r.Header.Set("Authorization", "Bearer secret") }
	nothing := func(*http.Request) {}
	for _, c := range []struct {
		edit       func(*http.Request)
		path, want string
	}{
		{bearer, "/v1/projects/p/topics/t", "Bearer secret"},
		{nothing, "/v1/projects/p/topics/t", ""},
		{nothing, "/v1/projects/p/topics/t?access_token=other", "Bearer other"},
		{nothing, "/v1/projects/p/topics/t?oauth_token=other", "Bearer other"},
		{bearer, "/v1/projects/p/topics/t?access_token=other", "Bearer secret"},
	} {
		if got := sent(c.edit, c.path); got != c.want {
			t.Errorf("%s: %q, wanted %q", c.path, got, c.want)
		}
	}
}

func TestParametersOfAllGoogleAPIsAreTaken(t *testing.T) {
	s := &service{}
	front := start(t, s, rest.Options{})
	path := "/v1/projects/p/topics?alt=json&%24alt=json&key=K&prettyPrint=false&quotaUser=q&fields=name&%24.xgafv=2" +
		"&uploadType=media&upload_protocol=raw&pageSize=1&$apiVersion=2026-01-01&$apiFormat=1&$userProject=p&passwd=x" +
		"&$ct=application/json&$outputDefaults=false&$httpMethod=GET"
	if status, body, _ := call(t, front, "GET", path, ""); status != http.StatusOK {
		t.Errorf("%d %s", status, body)
	}
	s.wasAsked(t, &pubsubpb.ListTopicsRequest{Project: "projects/p", PageSize: 1})
}

// TestAParameterStandsForItsHeader: $ct for Content-Type, $httpMethod for X-HTTP-Method-Override.
func TestAParameterStandsForItsHeader(t *testing.T) {
	s := &service{}
	front := start(t, s, rest.Options{})
	for path, want := range map[string]int{
		"/v1/projects/p/topics/t:publish?$ct=application/json":                  http.StatusOK,
		"/v1/projects/p/topics/t:publish?$ct=application/x-protobuf":            http.StatusBadRequest,
		"/v1/projects/p/topics/t?$ct=application/json&%24httpMethod=put":        http.StatusOK,
		"/v1/projects/p/topics/t:publish?$ct=application/json&$httpMethod=POST": http.StatusOK,
	} {
		status, body, _ := call(t, front, "POST", path, `{}`,
			func(r *http.Request) { r.Header.Set("Content-Type", "image/png") })
		if status != want {
			t.Errorf("%s: %d %s", path, status, body)
		}
	}
	s.asked = nil
	if status, body, _ := call(t, front, "GET", "/v1/projects/p/topics/t?$httpMethod=DELETE", ""); status !=
		http.StatusBadRequest || s.asked != nil {
		t.Errorf("a GET that is to delete: %d %s", status, body)
	}
}

// TestAnAnswerMayHaveFieldsWithoutValues, by $outputDefaults.
func TestAnAnswerMayHaveFieldsWithoutValues(t *testing.T) {
	front := start(t, &service{}, rest.Options{})
	for query, want := range map[string]string{
		"?$outputDefaults=true": `{"topics":[],"nextPageToken":""}`, "?$outputDefaults=0": `{}`,
		"?$outputDefaults=true&$alt=json;enum-encoding=int": `{"topics":[],"nextPageToken":""}`,
	} {
		status, body, _ := call(t, front, "GET", "/v1/projects/p/topics"+query, "")
		if status != http.StatusOK || compact(t, body) != want {
			t.Errorf("%s: %d %s", query, status, body)
		}
	}
}

func TestBodiesOfTheTypesThatClientsSendAreJSON(t *testing.T) {
	s := &service{}
	front := start(t, s, rest.Options{})
	for _, kind := range []string{"", "application/json", "application/json; charset=UTF-8",
		"application/json;charset=utf-8", "text/plain;charset=UTF-8",
		"application/x-www-form-urlencoded"} {
		status, body, _ := call(t, front, "POST", "/v1/projects/p/topics/t:publish", `{"messages": [{"data": "eA=="}]}`,
			func(r *http.Request) {
				r.Header.Del("Content-Type")
				if kind != "" {
					r.Header.Set("Content-Type", kind)
				}
			})
		if status != http.StatusOK {
			t.Errorf("%q: %d %s", kind, status, body)
		}
		s.wasAsked(t, &pubsubpb.PublishRequest{Topic: "projects/p/topics/t",
			Messages: []*pubsubpb.PubsubMessage{{Data: []byte("x")}}})
	}
}

// TestABodyThatSaysNothingIsNone, as Google's library for Node sends one with a POST that has none.
func TestABodyThatSaysNothingIsNone(t *testing.T) {
	s := &service{}
	front := start(t, s, rest.Options{})
	const topic, subscription = "projects/p/topics/t", "projects/p/subscriptions/s"
	for _, body := range []string{"{}", " {\n} ", `""`} {
		for path, want := range map[string]proto.Message{
			subscription + ":detach": &pubsubpb.DetachSubscriptionRequest{Subscription: subscription},
			topic + ":publish":       &pubsubpb.PublishRequest{Topic: topic},
		} {
			if status, answer, _ := call(t, front, "POST", "/v1/"+path, body); status != http.StatusOK {
				t.Errorf("%s with %q: %d %s", path, body, status, answer)
			}
			s.wasAsked(t, want)
		}
	}
	for _, body := range []string{`{"subscription": "x"}`, "[]", "{}{}", `"x"`} {
		if status, answer, _ := call(t, front, "POST", "/v1/"+subscription+":detach", body); status !=
			http.StatusBadRequest {
			t.Errorf("%q: %d %s", body, status, answer)
		}
	}
}

func TestPackedBodiesAreUnpacked(t *testing.T) {
	s := &service{}
	front := start(t, s, rest.Options{})
	status, body, _ := call(t, front, "POST", "/v1/projects/p/topics/t:publish",
		doortest.Packed(t, `{"messages": [{"data": "eA=="}]}`), gzipped)
	if status != http.StatusOK {
		t.Errorf("%d %s", status, body)
	}
	s.wasAsked(t, &pubsubpb.PublishRequest{Topic: "projects/p/topics/t",
		Messages: []*pubsubpb.PubsubMessage{{Data: []byte("x")}}})
}

func gzipped(r *http.Request) { r.Header.Set("Content-Encoding", "gzip") }

// TestAPackedBodyTakesRoomForWhatItBecomes: one of gzip may be a thousand times as large, and is refused as soon as
// there is no room for that: who holds a part does not wait for more, for as long as others might do the same.
func TestAPackedBodyTakesRoomForWhatItBecomes(t *testing.T) {
	const publish = "/v1/projects/p/topics/t:publish"
	s := &service{}
	all := door.NewBusy(32 << 20)
	all.Patience = time.Hour
	front := start(t, s, rest.Options{Busy: all})
	noise := make([]byte, 1<<20)
	_, _ = rand.NewChaCha8([32]byte{}).Read(noise)
	for _, c := range []struct {
		name string
		text string
		held int64 // by others
		want int
	}{
		{"a thousand times as large", publishing(make([]byte, 7<<20)), 0, http.StatusBadRequest},
		{"larger than there is room for now", publishing(make([]byte, 1<<20)), 24 << 20, http.StatusTooManyRequests},
		{"much larger", publishing(make([]byte, 1<<20)), 0, http.StatusOK},
		{"hardly larger", publishing(noise), 0, http.StatusOK},
		{"small", publishing([]byte("x")), 31 << 20, http.StatusOK},
	} {
		if !all.Try(c.held) {
			t.Fatal("there is no room")
		}
		status, body, _ := call(t, front, "POST", publish, doortest.Packed(t, c.text), gzipped)
		if status != c.want {
			t.Errorf("%s: %d %s", c.name, status, body)
		}
		all.Give(c.held)
		doortest.Until(t, "all is given back", func() bool { return all.Used() == 0 })
	}
}

// TestARequestThatWaitsForRoomIsCounted, as those of gRPC are.
func TestARequestThatWaitsForRoomIsCounted(t *testing.T) {
	all, traffic := door.NewBusy(32<<20), door.NewTraffic("pubsub")
	all.Patience = time.Hour
	front := start(t, &service{}, rest.Options{Busy: all, Traffic: traffic})
	if !all.Try(all.Limit()) {
		t.Fatal("there is no room")
	}
	answered := make(chan int)
	go func() {
		res, err := front.Client().Post(front.URL+"/v1/projects/p/topics/t:publish", "application/json",
			strings.NewReader(publishing(make([]byte, 1<<20))))
		if err != nil {
			t.Error(err)
			close(answered)
			return
		}
		res.Body.Close()
		answered <- res.StatusCode
	}()
	doortest.Until(t, "the request waits and is counted", func() bool {
		return metricstest.Of(t, traffic)["hikyaku_door_waiting pubsub room"] == 1
	})
	all.Give(all.Limit())
	if got := <-answered; got != http.StatusOK {
		t.Errorf("answered with %d", got)
	}
}

// publishing is the body of a request that publishes one message.
func publishing(data []byte) string {
	return `{"messages": [{"data": "` + base64.StdEncoding.EncodeToString(data) + `"}]}`
}

func TestTheLargestPublishFits(t *testing.T) {
	s := &service{}
	front := start(t, s, rest.Options{})
	data := bytes.Repeat([]byte{0xfb}, 10<<20)
	body := publishing(data)
	if status, answer, _ := call(t, front, "POST", "/v1/projects/p/topics/t:publish", body); status != http.StatusOK {
		t.Fatalf("%d %s", status, answer)
	}
	if got := s.asked.(*pubsubpb.PublishRequest).Messages; len(got) != 1 || !bytes.Equal(got[0].Data, data) {
		t.Error("another message arrived")
	}
}

func TestAClientsDeadlineIsThatOfTheCall(t *testing.T) {
	s := &service{}
	front := start(t, s, rest.Options{})
	for value, want := range map[string]time.Duration{"1.5": 1500 * time.Millisecond, "90": 90 * time.Second, "": 0} {
		begun := time.Now()
		if status, answer, _ := call(t, front, "GET", "/v1/projects/p/topics/t", "", func(r *http.Request) {
			if value != "" {
				r.Header.Set("X-Server-Timeout", value)
			}
		}); status != http.StatusOK {
			t.Fatalf("%d %s", status, answer)
		}
		if (want == 0) != s.until.IsZero() || want > 0 && (s.until.Before(begun.Add(want)) ||
			s.until.After(time.Now().Add(want))) {
			t.Errorf("%q seconds: the call has until %v", value, s.until)
		}
	}
}

func TestAServerWithoutPoliciesHasAHandlerToo(t *testing.T) {
	services := newServices()
	pubsubpb.RegisterPublisherServer(services, &service{})
	if _, err := rest.New(services, rest.Options{}); err != nil {
		t.Error(err)
	}
	if _, err := rest.New(services, rest.Options{MaxBodyBytes: -1}); err == nil {
		t.Error("a negative limit is accepted")
	}
}
