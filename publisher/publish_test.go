package publisher_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"cloud.google.com/go/pubsub/v2"
	apiv1 "cloud.google.com/go/pubsub/v2/apiv1"
	"cloud.google.com/go/pubsub/v2/apiv1/pubsubpb"
	"google.golang.org/api/option"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"

	"github.com/hikyaku/hikyaku/publisher"
)

func TestEveryConstructorPublishesToTheSameTopic(t *testing.T) {
	s := new(service)
	s.judge = func(ctx context.Context, r *pubsubpb.PublishRequest) error {
		md, _ := metadata.FromIncomingContext(ctx)
		if got := md.Get("x-goog-request-params"); !slices.Equal(got, []string{"topic=projects%2Fp%2Ftopics%2Ft"}) {
			return status.Errorf(codes.NotFound, "the request is to be taken to %q", got)
		}
		return nil
	}
	client := s.client(t)
	for name, p := range map[string]*publisher.Publisher{
		"id":           publisher.New(client, "t"),
		"name":         publisher.New(client, topic),
		"topic client": publisher.NewWithTopicClient(client.TopicAdminClient, topic),
		"connection":   publisher.NewWithConn(s.serve(t), topic),
	} {
		if p.ID() != "t" || p.String() != topic {
			t.Errorf("%s: id %q of %q", name, p.ID(), p)
		}
		allGood(t, p.Publish(t.Context(), &pubsub.Message{Data: []byte(name), Attributes: map[string]string{"a": "b"}}))
		p.Stop()
	}
	for _, r := range s.taken() {
		if r.Topic != topic || len(r.Messages) != 1 || r.Messages[0].Attributes["a"] != "b" {
			t.Errorf("the service got %v", r)
		}
	}
	if len(s.taken()) != 4 {
		t.Errorf("%d requests", len(s.taken()))
	}
}

// An API client that speaks JSON over HTTP has no use for encoded messages.
func TestAClientOfTheRESTFormWillDo(t *testing.T) {
	var got string
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		b, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		got = r.URL.Path + " " + string(b)
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprint(w, `{"messageIds":["one"]}`)
	}))
	defer web.Close()
	c, err := apiv1.NewTopicAdminRESTClient(t.Context(), option.WithEndpoint(web.URL),
		option.WithHTTPClient(web.Client()))
	if err != nil {
		t.Fatal(err)
	}
	p := publisher.NewWithTopicClient(c, topic)
	defer p.Stop()
	id, err := p.Publish(t.Context(), text("hello")).Get(t.Context())
	if err != nil || id != "one" || !strings.HasPrefix(got, "/v1/projects/p/topics/t:publish ") ||
		!strings.Contains(got, "aGVsbG8=") {
		t.Errorf("id %q, %v; the service got %s", id, err, got)
	}
}

func TestWhatCannotBePublishedFailsByItself(t *testing.T) {
	s := new(service)
	p := s.newPublisher(t)
	for name, c := range map[string]struct {
		m    *pubsub.Message
		want error
	}{
		"too large": {&pubsub.Message{Data: make([]byte, pubsub.MaxPublishRequestBytes)},
			pubsub.ErrOversizedMessage},
		"no text":         {&pubsub.Message{Attributes: map[string]string{"a": "\xff"}}, publisher.ErrInvalidText},
		"order not asked": {keyed("k", "x"), publisher.ErrOrderingNotEnabled},
		"no message":      {nil, nil},
	} {
		_, err := p.Publish(t.Context(), c.m).Get(t.Context())
		if err == nil || c.want != nil && !errors.Is(err, c.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if n := len(s.taken()); n != 0 {
		t.Errorf("%d requests were sent", n)
	}
	largest := make([]byte, pubsub.MaxPublishRequestBytes-len(topic)-20)
	allGood(t, p.Publish(t.Context(), &pubsub.Message{Data: largest}))
}

// One message that the service will not have must not take a thousand others with it.
func TestAMessageThatIsRefusedStandsAlone(t *testing.T) {
	poison := func(_ context.Context, r *pubsubpb.PublishRequest) error {
		for _, m := range r.Messages {
			if strings.HasPrefix(string(m.Data), "bad") {
				return status.Errorf(codes.InvalidArgument, "%s will not do", m.Data)
			}
		}
		return nil
	}
	for name, key := range map[string]string{"without a key": "", "with a key": "k"} {
		t.Run(name, func(t *testing.T) {
			s := &service{judge: poison}
			p := publisher.NewWithConn(s.serve(t), topic)
			p.EnableMessageOrdering = true
			p.PublishSettings = publisher.Thresholds(100, 1e6, 1e12)
			var rs []*publisher.PublishResult
			for i := range 100 {
				body := fmt.Sprint(i)
				if i == 37 || i == 80 {
					body = "bad"
				}
				rs = append(rs, p.Publish(t.Context(), keyed(key, body)))
			}
			p.Stop()
			for i, r := range rs {
				_, err := r.Get(t.Context())
				want := codes.OK
				if i == 37 || i == 80 && key == "" {
					want = codes.InvalidArgument
				}
				if key != "" && i > 37 {
					if !errors.As(err, new(pubsub.ErrPublishingPaused)) {
						t.Errorf("message %d came after one of its key that failed: %v", i, err)
					}
				} else if status.Code(err) != want {
					t.Errorf("message %d: %v", i, err)
				}
			}
			n := 98
			if key != "" {
				n = 37
			}
			if got := s.bodies(); len(got) != n {
				t.Errorf("the service took %d messages, want %d", len(got), n)
			}
		})
	}
}

func TestHowOftenAGroupIsDividedIsBounded(t *testing.T) {
	s := &service{judge: func(context.Context, *pubsubpb.PublishRequest) error {
		return status.Error(codes.InvalidArgument, "nothing will do")
	}}
	p := publisher.NewWithConn(s.serve(t), topic)
	p.PublishSettings = publisher.Thresholds(1000, 1e6, 1e12)
	var rs []*publisher.PublishResult
	for range 1000 {
		rs = append(rs, p.Publish(t.Context(), text("x")))
	}
	p.Stop()
	for _, r := range rs {
		if _, err := r.Get(t.Context()); status.Code(err) != codes.InvalidArgument {
			t.Fatal(err)
		}
	}
	if s.refused > 50 {
		t.Errorf("the service was asked %d times", s.refused)
	}
}

func TestAnErrorThatCannotBeHelpedIsNotTriedAgain(t *testing.T) {
	for _, code := range []codes.Code{codes.NotFound, codes.PermissionDenied, codes.InvalidArgument,
		codes.FailedPrecondition} {
		s := &service{judge: func(context.Context, *pubsubpb.PublishRequest) error { return status.Error(code, "no") }}
		_, err := s.newPublisher(t).Publish(t.Context(), text("x")).Get(t.Context())
		if status.Code(err) != code || s.refused != 1 {
			t.Errorf("%v: %v after %d calls", code, err, s.refused)
		}
	}
	s := &service{judge: func(context.Context, *pubsubpb.PublishRequest) error {
		return status.Error(codes.Internal, "string field contains invalid UTF-8")
	}}
	if _, err := s.newPublisher(t).Publish(t.Context(),
		text("x")).Get(t.Context()); status.Code(err) != codes.Internal || s.refused != 1 {
		t.Errorf("%v after %d calls", err, s.refused)
	}
}

func TestAResultCanBeAskedAgainAndByMany(t *testing.T) {
	free := make(chan struct{})
	s := &service{judge: func(context.Context, *pubsubpb.PublishRequest) error { <-free; return nil }}
	p := s.newPublisher(t)
	r := p.Publish(t.Context(), text("x"))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if id, err := r.Get(ctx); id != "" || !errors.Is(err, context.Canceled) {
		t.Errorf("a wait that was given up: %q, %v", id, err)
	}
	ids := make(chan string)
	for range 3 {
		go func() {
			id, _ := r.Get(t.Context())
			ids <- id
		}()
	}
	close(free)
	for range 3 {
		if id := <-ids; id != "1.0" {
			t.Errorf("id %q", id)
		}
	}
	<-r.Ready()
	if id, err := r.Get(ctx); id != "1.0" || err != nil {
		t.Errorf("a result that is there is not returned for a context that ended: %q, %v", id, err)
	}
}

func TestAPublisherAtRestIsOneThatCanBeStoppedAndHasNothing(t *testing.T) {
	s := new(service)
	p := publisher.NewWithConn(s.serve(t), topic)
	p.Flush()
	p.ResumePublish("k")
	if s := p.Stats(); s.Requests != 0 || s.InFlight != 0 || s.RoundTrip != 0 {
		t.Errorf("%+v", s)
	}
	p.Stop()
	p.Stop()
	if _, err := p.Publish(t.Context(), text("x")).Get(t.Context()); !errors.Is(err, pubsub.ErrPublisherStopped) {
		t.Errorf("published after Stop: %v", err)
	}
}

func TestAnAnswerWithTooFewIDsIsAnErrorOfAll(t *testing.T) {
	p := publisher.NewWithConn(mumble{new(service).serve(t)}, topic)
	defer p.Stop()
	_, err := p.Publish(t.Context(), text("x")).Get(t.Context())
	var a *publisher.AnswerError
	if !errors.As(err, &a) || a.Messages != 1 || a.IDs != 0 || !strings.Contains(err.Error(), "0 ids for 1") {
		t.Errorf("%v", err)
	}
}
