package pubsub

import (
	"testing"
	"time"

	"cloud.google.com/go/pubsub/v2/apiv1/pubsubpb"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/hikyaku/hikyaku/internal/access"
)

func TestWrongTokensAreCountedWithWhereTheyComeFrom(t *testing.T) {
	s, stop := openStore(t, t.TempDir(), time.Now)
	t.Cleanup(stop)
	users := testUsers(t)
	counted, logged := make(chan string, 10), make(chan access.Failure, 10)
	users.Watch(func(door, reason string) { counted <- door + " " + reason }, func(f access.Failure) { logged <- f })
	r := newRigOver(t, Config{}, users, s)
	for token, want := range map[string]string{"wrong": "pubsub secret", "": "pubsub missing"} {
		ctx := t.Context()
		if token != "" {
			ctx = as(ctx, token)
		}
		_, err := r.pub.CreateTopic(ctx, &pubsubpb.Topic{Name: topicName("news")})
		if status.Code(err) != codes.Unauthenticated {
			t.Errorf("%q: %v", token, err)
		}
		if got := <-counted; got != want {
			t.Errorf("%q is counted as %s", token, got)
		}
	}
	if f := <-logged; f.Address != "127.0.0.1" || f.Reason != access.WrongSecret || len(logged) != 0 {
		t.Errorf("%+v", f)
	}
	if _, err := r.pub.CreateTopic(as(t.Context(), "boss-secret"),
		&pubsubpb.Topic{Name: topicName("news")}); err != nil {
		t.Error(err)
	}
}
