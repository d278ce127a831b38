package rest_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"cloud.google.com/go/pubsub/v2/apiv1/pubsubpb"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/hikyaku/hikyaku/internal/api/pubsub/rest"
)

// waiter is a service whose Pull waits until the caller goes away.
type waiter struct {
	pubsubpb.UnimplementedSubscriberServer
	waiting, gone chan struct{}
}

func (w *waiter) Pull(ctx context.Context, _ *pubsubpb.PullRequest) (*pubsubpb.PullResponse, error) {
	w.waiting <- struct{}{}
	<-ctx.Done()
	close(w.gone)
	return nil, status.FromContextError(ctx.Err()).Err()
}

func TestAServiceHearsThatTheClientWentAway(t *testing.T) {
	w := &waiter{waiting: make(chan struct{}), gone: make(chan struct{})}
	services := newServices()
	pubsubpb.RegisterSubscriberServer(services, w)
	h, err := rest.New(services, rest.Options{})
	if err != nil {
		t.Fatal(err)
	}
	front := httptest.NewServer(h)
	defer front.Close()
	ctx, leave := context.WithCancel(t.Context())
	r, err := http.NewRequestWithContext(ctx, "POST", front.URL+"/v1/projects/p/subscriptions/s:pull",
		strings.NewReader("{}"))
	if err != nil {
		t.Fatal(err)
	}
	var left sync.WaitGroup
	left.Go(func() {
		if answer, err := front.Client().Do(r); err == nil {
			_ = answer.Body.Close()
			t.Errorf("answered with %d", answer.StatusCode)
		}
	})
	<-w.waiting
	leave()
	<-w.gone
	left.Wait()
}

func TestManyCallsAtOnceGetTheirOwnAnswers(t *testing.T) {
	services := newServices()
	pubsubpb.RegisterPublisherServer(services, echo{})
	h, err := rest.New(services, rest.Options{})
	if err != nil {
		t.Fatal(err)
	}
	front := httptest.NewServer(h)
	defer front.Close()
	var calls sync.WaitGroup
	for i := range 16 {
		calls.Go(func() {
			for j := range 20 {
				name := fmt.Sprintf("projects/p/topics/t%d-%d", i, j)
				got, body, header := call(t, front, "GET", "/v1/"+name, "")
				if j%2 == 1 {
					refused(t, name, got, body, header, 404, "NOT_FOUND", name)
				} else if got != 200 || compact(t, body) != `{"name":"`+name+`"}` {
					t.Errorf("%s: %d %s", name, got, body)
				}
			}
		})
	}
	calls.Wait()
}

// echo knows every topic whose name ends with an even digit.
type echo struct {
	pubsubpb.UnimplementedPublisherServer
}

func (echo) GetTopic(_ context.Context, r *pubsubpb.GetTopicRequest) (*pubsubpb.Topic, error) {
	if strings.IndexByte("02468", r.Topic[len(r.Topic)-1]) < 0 {
		return nil, status.Errorf(codes.NotFound, "no %s", r.Topic)
	}
	return &pubsubpb.Topic{Name: r.Topic}, nil
}
