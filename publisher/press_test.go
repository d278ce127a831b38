package publisher_test

import (
	"context"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"

	"cloud.google.com/go/pubsub/v2"
	"google.golang.org/grpc"
	"google.golang.org/grpc/encoding/gzip"

	"github.com/hikyaku/hikyaku/publisher"
)

// compressors is a connection that notes how requests are compressed.
type compressors struct {
	*grpc.ClientConn
	mu   sync.Mutex
	used []string
}

func (c *compressors) Invoke(ctx context.Context, method string, args, reply any, opts ...grpc.CallOption) error {
	used := ""
	for _, o := range opts {
		if o, ok := o.(grpc.CompressorCallOption); ok {
			used = o.CompressorType
		}
	}
	c.mu.Lock()
	c.used = append(c.used, used)
	c.mu.Unlock()
	return c.ClientConn.Invoke(ctx, method, args, reply, opts...)
}

func TestRequestsAreCompressedWhenThatPays(t *testing.T) {
	noise := make([]byte, 5000)
	dice := rand.New(rand.NewPCG(1, 2))
	for i := range noise {
		noise[i] = byte(dice.Uint32())
	}
	for name, c := range map[string]struct {
		body []byte
		off  bool
		want string
	}{
		"text":          {body: []byte(strings.Repeat("all alike ", 500)), want: gzip.Name},
		"noise":         {body: noise},
		"a small one":   {body: []byte(strings.Repeat("x", 100))},
		"not asked for": {body: []byte(strings.Repeat("all alike ", 500)), off: true},
	} {
		t.Run(name, func(t *testing.T) {
			s := new(service)
			conn := &compressors{ClientConn: s.serve(t)}
			p := publisher.NewWithConn(conn, topic)
			p.PublishSettings.EnableCompression = !c.off
			for range 3 {
				allGood(t, p.Publish(t.Context(), &pubsub.Message{Data: c.body}))
			}
			p.Stop()
			for _, used := range conn.used {
				if used != c.want {
					t.Errorf("compressed by %q, want %q", used, c.want)
				}
			}
			if got := s.bodies(); len(got) != 3 || got[0] != string(c.body) {
				t.Error("the service got something else")
			}
		})
	}
}
