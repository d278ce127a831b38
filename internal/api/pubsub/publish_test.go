package pubsub

import (
	"bytes"
	"fmt"
	"sync"
	"testing"

	"cloud.google.com/go/pubsub/v2/apiv1/pubsubpb"
)

// TestNoRequestSpoilsAnother publishes requests of many sizes at once: each message has to come as it was sent,
// although bodies stay where gRPC has read them.
func TestNoRequestSpoilsAnother(t *testing.T) {
	r := newRig(t)
	r.subscribe("news")
	const publishers, requests = 8, 25
	body := func(p, q, i int) []byte {
		return bytes.Repeat(fmt.Appendf(nil, "%d %d %d;", p, q, i), 1+(p*q*i)%400)
	}
	var work sync.WaitGroup
	total := 0
	for p := range publishers {
		for q := range requests {
			total += 1 + (p*7+q)%40
		}
		work.Go(func() {
			for q := range requests {
				req := &pubsubpb.PublishRequest{Topic: topicName("news")}
				for i := range 1 + (p*7+q)%40 {
					req.Messages = append(req.Messages,
						&pubsubpb.PubsubMessage{Data: body(p, q, i), Attributes: map[string]string{"p": fmt.Sprint(p),
							"q": fmt.Sprint(q), "i": fmt.Sprint(i)}})
				}
				if _, err := r.pub.Publish(t.Context(), req); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	st := &oneByOne{pullStream: r.stream("news")}
	for range total {
		var p, q, i int
		m := st.next(t)
		for name, to := range map[string]*int{"p": &p, "q": &q, "i": &i} {
			if _, err := fmt.Sscan(m.Attributes[name], to); err != nil {
				t.Fatal(err)
			}
		}
		if !bytes.Equal(m.Data, body(p, q, i)) {
			t.Fatalf("message %d of request %d of publisher %d came as %.60q…", i, q, p, m.Data)
		}
	}
	work.Wait()
}
