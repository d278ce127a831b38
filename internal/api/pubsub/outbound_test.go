package pubsub

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"cloud.google.com/go/pubsub/v2/apiv1/pubsubpb"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

func TestWithUsersPushEndpointsInsideAreRefusedWhenTheyAreSet(t *testing.T) {
	s, stop := openStore(t, t.TempDir(), time.Now)
	t.Cleanup(stop)
	r := newRigOver(t, Config{}, testUsers(t), s)
	boss := as(t.Context(), "boss-secret")
	if _, err := r.pub.CreateTopic(boss, &pubsubpb.Topic{Name: topicName("news")}); err != nil {
		t.Fatal(err)
	}
	for _, endpoint := range []string{
		"http://127.0.0.1:8085/v1", "http://localhost/", "http://169.254.169.254/latest/meta-data/",
		"https://10.1.2.3/", "http://[::1]:7700/",
		"http://[::ffff:192.168.1.1]/", "http://2130706433/", "http://0x7f.1/", "http://0.0.0.0:80/",
		"http://[64:ff9b::a00:1]/",
	} {
		config := &pubsubpb.PushConfig{PushEndpoint: endpoint}
		_, err := r.sub.CreateSubscription(boss,
			&pubsubpb.Subscription{Name: subscriptionName("pushed"), Topic: topicName("news"), PushConfig: config})
		if status.Code(err) != codes.InvalidArgument || !strings.Contains(err.Error(), "outbound: allow") {
			t.Errorf("create with %s: %v", endpoint, err)
		}
	}
	if _, err := r.sub.CreateSubscription(boss,
		&pubsubpb.Subscription{Name: subscriptionName("pulled"), Topic: topicName("news")}); err != nil {
		t.Fatal(err)
	}
	_, err := r.sub.ModifyPushConfig(boss, &pubsubpb.ModifyPushConfigRequest{
		Subscription: subscriptionName("pulled"), PushConfig: &pubsubpb.PushConfig{PushEndpoint: "http://127.0.0.1:1/"},
	})
	if status.Code(err) != codes.InvalidArgument {
		t.Errorf("modify: %v", err)
	}
}

func TestWithUsersSubscriptionsThereWereArePushedToNothingInside(t *testing.T) {
	var requests atomic.Int64
	inside := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { requests.Add(1) }))
	defer inside.Close()
	s, stop := openStore(t, t.TempDir(), time.Now)
	t.Cleanup(stop)
	before := newRigOver(t, Config{}, nil, s)
	before.topic("news")
	before.subscribeTo("news", "pushed", func(s *pubsubpb.Subscription) {
		s.PushConfig = &pubsubpb.PushConfig{PushEndpoint: inside.URL}
	})
	before.publish("news", "", "taken")
	before.left("pushed", 0)
	if requests.Load() != 1 {
		t.Fatalf("%d requests without users", requests.Load())
	}
	before.close()

	told := make(chan error, 100)
	d, err := New(Config{Listen: "127.0.0.1:0"},
		Options{Store: s, Users: testUsers(t), Report: func(err error) { told <- err }})
	if err != nil {
		t.Fatal(err)
	}
	r := &rig{t: t, store: s, door: d}
	defer r.close()
	addr, err := d.Start(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	r.addr = addr.String()
	pub := pubsubpb.NewPublisherClient(r.dial())
	if _, err := pub.Publish(as(t.Context(), "boss-secret"),
		&pubsubpb.PublishRequest{Topic: topicName("news"),
			Messages: []*pubsubpb.PubsubMessage{{Data: []byte("kept")}}}); err != nil {
		t.Fatal(err)
	}
	select {
	case err := <-told:
		if !strings.Contains(err.Error(), "127.0.0.1 may not be reached") ||
			!strings.Contains(err.Error(), "outbound: allow") {
			t.Errorf("told: %v", err)
		}
	case <-time.After(time.Minute):
		t.Error("nobody is told that messages are not pushed")
	}
	if requests.Load() != 1 {
		t.Error("the endpoint was reached")
	}
}
