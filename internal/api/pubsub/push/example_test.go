package push_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"

	"github.com/hikyaku/hikyaku/internal/api/pubsub/push"
)

// once is a source of one message.
type once struct {
	push.Source
	acked chan struct{}
	given bool
}

func (o *once) Claim(ctx context.Context, _ int) ([]push.Message, error) {
	if o.given {
		<-ctx.Done()
		return nil, ctx.Err()
	}
	o.given = true
	return []push.Message{{ID: "1", Data: []byte("hello")}}, nil
}

func (o *once) Ack(context.Context, push.Message) error {
	close(o.acked)
	return nil
}

func Example() {
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		fmt.Println(strings.TrimSpace(string(body)))
	}))
	defer server.Close()
	source := &once{acked: make(chan struct{})}
	p, err := push.New(push.Config{Endpoint: server.URL, Subscription: "projects/local/subscriptions/news",
		Unwrapped: true}, source)
	if err != nil {
		panic(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		p.Run(ctx)
	}()
	<-source.acked
	stop()
	<-ended
	// Output: hello
}
