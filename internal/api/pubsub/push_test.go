package pubsub

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"cloud.google.com/go/pubsub/v2/apiv1/pubsubpb"
)

// endpoint is a server that push subscriptions send to. It refuses each message once.
type endpoint struct {
	*httptest.Server
	t    *testing.T
	took chan string
	told chan string // of this endpoint
	seen map[string]bool
}

// report takes what a door reports. That the endpoint fails and that it works again is kept; all else is an error.
func (e *endpoint) report(err error) {
	if what, ok := strings.CutPrefix(err.Error(), "push to "+e.URL+" "); ok {
		e.told <- what
		return
	}
	e.t.Error("reported:", err)
}

func newEndpoint(t *testing.T) *endpoint {
	e := &endpoint{t: t, took: make(chan string, 100), told: make(chan string, 100), seen: map[string]bool{}}
	e.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		var wrapped struct {
			Message struct {
				Data []byte
			}
			Subscription string
		}
		if err := json.Unmarshal(body, &wrapped); err != nil {
			t.Errorf("%s: %v", body, err)
		}
		if wrapped.Subscription != subscriptionName("pushed") {
			t.Errorf("it is of %q", wrapped.Subscription)
		}
		text := string(wrapped.Message.Data)
		if !e.seen[text] {
			e.seen[text] = true
			w.WriteHeader(http.StatusServiceUnavailable)
			return
		}
		e.took <- text
	}))
	t.Cleanup(e.Close)
	return e
}

func TestMessagesArePushedToAnEndpointUntilItTakesThem(t *testing.T) {
	e := newEndpoint(t)
	s, stop := openStore(t, t.TempDir(), time.Now)
	t.Cleanup(stop)
	r := newRigWith(t, Config{}, Options{Store: s, Report: e.report})
	r.topic("news")
	r.subscribeTo("news", "pushed", func(s *pubsubpb.Subscription) {
		s.PushConfig = &pubsubpb.PushConfig{PushEndpoint: e.URL}
		s.EnableMessageOrdering = true
	})
	r.publish("news", "k", "a", "b", "c")
	var got []string
	for range 3 {
		got = append(got, <-e.took)
	}
	if !slices.Equal(got, []string{"a", "b", "c"}) {
		t.Errorf("%q were taken", got)
	}
	for _, want := range []string{"fails: the answer is 503 Service Unavailable", "works again"} {
		if told := <-e.told; told != want {
			t.Errorf("it is told that the endpoint %s, wanted %s", told, want)
		}
	}
	r.left("pushed", 0)
	// Without an endpoint messages are pulled.
	if _, err := r.sub.ModifyPushConfig(t.Context(),
		&pubsubpb.ModifyPushConfigRequest{Subscription: subscriptionName("pushed")}); err != nil {
		t.Fatal(err)
	}
	r.waiters("pushed", 0)
	r.publish("news", "", "d")
	res, err := r.sub.Pull(t.Context(), &pubsubpb.PullRequest{Subscription: subscriptionName("pushed"), MaxMessages: 1})
	if err != nil || !slices.Equal(texts(res.GetReceivedMessages()), []string{"d"}) {
		t.Errorf("%v, %v", res, err)
	}
}

func TestPushingGoesOnAfterARestart(t *testing.T) {
	e := newEndpoint(t)
	dir := t.TempDir()
	s, stop := openStore(t, dir, time.Now)
	r := newRigWith(t, Config{}, Options{Store: s, Report: e.report})
	r.topic("news")
	r.subscribeTo("news", "pushed",
		func(s *pubsubpb.Subscription) { s.PushConfig = &pubsubpb.PushConfig{PushEndpoint: e.URL} })
	r.close()
	stop()
	s, stop = openStore(t, dir, time.Now)
	t.Cleanup(stop)
	r = newRigWith(t, Config{}, Options{Store: s, Report: e.report})
	r.publish("news", "", "a")
	if got := <-e.took; got != "a" {
		t.Errorf("%q was taken", got)
	}
	r.left("pushed", 0)
}

// TestAPusherHasOneClaimOfAKeyAtATime: while it works on a message of a key, no other claim of its gives it more of
// that key. A claim on its way to it could be taken back by a nack without its knowing, and its messages would lie
// about until their deadline.
func TestAPusherHasOneClaimOfAKeyAtATime(t *testing.T) {
	r := newRig(t)
	r.subscribe("pushed", func(s *pubsubpb.Subscription) { s.EnableMessageOrdering = true })
	r.publish("pushed", "k", "a", "b")
	r.publish("pushed", "", "c")
	sub, err := r.door.subscription(t.Context(), resource{"local", kindSubscription, "pushed"})
	if err != nil {
		t.Fatal(err)
	}
	source := newPushSource(r.door, sub)
	claim := func() string {
		ms, err := source.Claim(t.Context(), 1)
		if err != nil || len(ms) != 1 {
			t.Fatalf("%v, %v", ms, err)
		}
		if string(ms[0].Data) == "a" {
			t.Cleanup(func() { _ = source.Nack(context.Background(), ms[0]) })
		}
		return string(ms[0].Data)
	}
	if first, second := claim(), claim(); first != "a" || second != "c" {
		t.Errorf("claimed %q and then %q", first, second)
	}
}
