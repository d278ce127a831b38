package pubsub

import (
	"bytes"
	"context"
	"net"
	"slices"
	"sync"
	"testing"
	"time"

	client "cloud.google.com/go/pubsub/v2"
	"cloud.google.com/go/pubsub/v2/apiv1/pubsubpb"
	"google.golang.org/grpc"

	"github.com/hikyaku/hikyaku/internal/door/doortest"
	"github.com/hikyaku/hikyaku/internal/queue"
)

// claimed is how many messages of a queue somebody holds.
func (r *rig) claimed(id string) int64 {
	r.t.Helper()
	s, err := r.store.Stats(context.Background(), queue.Name{Namespace: "default", Name: id})
	if err != nil {
		r.t.Fatal(err)
	}
	return s.Claimed
}

// streams is how many are open.
func (r *rig) streams() (n int) {
	r.door.streams.Range(func(any, any) bool { n++; return true })
	return n
}

func long(req *pubsubpb.StreamingPullRequest) { req.StreamAckDeadlineSeconds = 600 }

// A stream whose client ends it, with a half-close or by cancelling, gives back what the client has said nothing of, as
// if it had not been handed out. What the client has spoken of stays its own.
func TestAStreamThatSaysGoodbyeGivesBackWhatItsClientNeverSpokeOf(t *testing.T) {
	for name, leave := range map[string]func(pullStream, context.CancelFunc) error{
		"half-close": func(st pullStream, _ context.CancelFunc) error { return st.CloseSend() },
		"cancel":     func(_ pullStream, cancel context.CancelFunc) error { cancel(); return nil },
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t)
			r.subscribe("news")
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			st, err := r.sub.StreamingPull(ctx)
			if err != nil {
				t.Fatal(err)
			}
			if err := st.Send(&pubsubpb.StreamingPullRequest{Subscription: subscriptionName("news"),
				StreamAckDeadlineSeconds: 600}); err != nil {
				t.Fatal(err)
			}
			r.publish("news", "", "kept")
			kept := receive(t, st, 1)
			if err := r.modify("news", 600, kept...); err != nil {
				t.Fatal(err)
			}
			r.publish("news", "", "a", "b")
			receive(t, st, 2)
			if err := leave(st, cancel); err != nil {
				t.Fatal(err)
			}
			doortest.Until(t, "two are back", func() bool { return r.claimed("news") == 1 })
			got := r.pull("news", 10)
			if ts := texts(got); !slices.Equal(ts, []string{"a", "b"}) {
				t.Errorf("%q came back", ts)
			}
			if err := r.ack("news", append(got, kept...)...); err != nil {
				t.Error(err)
			}
			r.left("news", 0)
		})
	}
}

// spoken keeps what a client has written on its connection.
type spoken struct {
	net.Conn
	mu   sync.Mutex
	said []byte
}

func (c *spoken) Write(b []byte) (int, error) {
	n, err := c.Conn.Write(b)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.said = append(c.said, b[:n]...)
	return n, err
}

func (c *spoken) has(text string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return bytes.Contains(c.said, []byte(text))
}

// apart opens a stream with long deadlines on a connection of its own.
func (r *rig) apart(ctx context.Context, id string) (st pullStream, conn *spoken) {
	r.t.Helper()
	sub := pubsubpb.NewSubscriberClient(r.dial(grpc.WithContextDialer(
		func(ctx context.Context, addr string) (net.Conn, error) {
			c, err := new(net.Dialer).DialContext(ctx, "tcp", addr)
			conn = &spoken{Conn: c}
			return conn, err
		})))
	st, err := sub.StreamingPull(ctx)
	if err != nil {
		r.t.Fatal(err)
	}
	first := &pubsubpb.StreamingPullRequest{Subscription: subscriptionName(id)}
	long(first)
	if err := st.Send(first); err != nil {
		r.t.Fatal(err)
	}
	return st, conn
}

// What a client says before it leaves is done, in whatever way it leaves. gRPC gives up what it has not given out yet
// when a call is cancelled or its connection is closed.
func TestWhatIsSaidBeforeAGoodbyeIsDone(t *testing.T) {
	for name, leave := range map[string]func(pullStream, context.CancelFunc, *spoken) error{
		"half-close": func(st pullStream, _ context.CancelFunc, _ *spoken) error { return st.CloseSend() },
		"reset":      func(_ pullStream, cancel context.CancelFunc, _ *spoken) error { cancel(); return nil },
		"half-close and reset": func(st pullStream, cancel context.CancelFunc, _ *spoken) error {
			defer cancel()
			return st.CloseSend()
		},
		"connection closed": func(_ pullStream, _ context.CancelFunc, conn *spoken) error { return conn.Close() },
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t)
			r.subscribe("news")
			for range 8 {
				r.publish("news", "", "done", "back")
				ctx, cancel := context.WithCancel(t.Context())
				st, conn := r.apart(ctx, "news")
				got := receive(t, st, 2)
				// The client has spoken of them: nothing goes back by itself.
				if err := r.modify("news", 600, got...); err != nil {
					t.Fatal(err)
				}
				said := &pubsubpb.StreamingPullRequest{AckIds: ackIDs(got[:1]),
					ModifyDeadlineAckIds: ackIDs(got[1:]), ModifyDeadlineSeconds: []int32{0}}
				closed := name == "connection closed"
				if closed { // until that is seen, what the client gives back comes to it again
					said = &pubsubpb.StreamingPullRequest{AckIds: ackIDs(got)}
				}
				if err := st.Send(said); err != nil {
					t.Fatal(err)
				}
				if closed { // the library writes later
					doortest.Until(t, "it is written", func() bool { return conn.has(said.AckIds[0]) })
				}
				if err := leave(st, cancel, conn); err != nil {
					t.Fatal(err)
				}
				doortest.Until(t, "nobody holds anything", func() bool { return r.claimed("news") == 0 })
				doortest.Until(t, "the stream is over", func() bool { return r.streams() == 0 })
				cancel()
				if closed {
					r.left("news", 0)
					continue
				}
				again := r.pull("news", 10)
				if ts := texts(again); !slices.Equal(ts, []string{"back"}) {
					t.Fatalf("%q are left", ts)
				}
				if err := r.ack("news", again...); err != nil {
					t.Fatal(err)
				}
			}
		})
	}
}

// A client whose connection breaks has said no goodbye: it may come back and acknowledge.
func TestAClientThatVanishesKeepsItsMessages(t *testing.T) {
	r := newRig(t)
	r.subscribe("news")
	st, conn := r.apart(t.Context(), "news")
	r.publish("news", "", "a")
	got := receive(t, st, 1)
	if n := r.streams(); n != 1 {
		t.Fatalf("there are %d streams", n)
	}
	conn.Close()
	doortest.Until(t, "the stream is over", func() bool { return r.streams() == 0 })
	if n := r.claimed("news"); n != 1 {
		t.Errorf("%d are held after the connection broke", n)
	}
	if err := r.ack("news", got...); err != nil {
		t.Error(err)
	}
	r.left("news", 0)
}

// A message that a stream gives back goes to another one that waits, though the first has waited longer; and to the
// first when nobody else does.
func TestWhatAStreamGivesBackGoesToOthersFirst(t *testing.T) {
	r := newRig(t)
	r.subscribe("news")
	a := r.stream("news", long)
	r.publish("news", "", "x")
	got := receive(t, a, 1)
	if err := r.nack("news", got...); err != nil {
		t.Fatal(err)
	}
	got = receive(t, a, 1) // nobody else waits
	b := r.stream("news", long)
	other := make(chan *pubsubpb.StreamingPullResponse, 1)
	go func() {
		res, _ := b.Recv()
		other <- res
	}()
	waiters := func() int {
		s, err := r.store.Stats(t.Context(), queue.Name{Namespace: "default", Name: "news"})
		if err != nil {
			t.Fatal(err)
		}
		return s.Waiters
	}
	doortest.Until(t, "both wait", func() bool { return waiters() == 2 })
	if err := r.nack("news", got...); err != nil {
		t.Fatal(err)
	}
	select {
	case res := <-other:
		if len(res.GetReceivedMessages()) != 1 {
			t.Errorf("%v", res)
		}
	case <-time.After(time.Minute): // it went to the first one
		t.Error("the other one gets nothing")
	}
}

// A consumer of Google's client that is restarted while messages come holds up none of them: what it gives back, or has
// not read, goes to the others at once.
func TestARollingRestartOfConsumersStallsNothing(t *testing.T) {
	r := newRig(t)
	r.subscribe("news", func(s *pubsubpb.Subscription) { s.AckDeadlineSeconds = 600 })
	const n = 3000
	done := make(chan string, 10*n)
	consumer := func() (stop func()) {
		s := r.google().Subscriber("news")
		s.ReceiveSettings.MaxOutstandingMessages = 100
		s.ReceiveSettings.MinDurationPerAckExtension, s.ReceiveSettings.MaxDurationPerAckExtension = 10*time.Minute,
			10*time.Minute
		ctx, cancel := context.WithCancel(context.Background())
		ended := make(chan error, 1)
		go func() {
			ended <- s.Receive(ctx, func(ctx context.Context, m *client.Message) {
				select {
				case <-ctx.Done():
					m.Nack()
				case <-time.After(time.Millisecond):
					m.Ack()
					done <- string(m.Data)
				}
			})
		}()
		return func() {
			cancel()
			if err := <-ended; err != nil {
				t.Error(err)
			}
		}
	}
	stops := []func(){consumer(), consumer()}
	published := make(chan struct{})
	go func() {
		defer close(published)
		for range n / 100 {
			var texts []string
			for range 100 {
				texts = append(texts, "x")
			}
			r.publish("news", "", texts...)
		}
	}()
	for i := range 6 {
		for range 200 {
			<-done
		}
		stops[i%2]()
		stops[i%2] = consumer()
	}
	<-published
	doortest.Until(t, "all are acknowledged, long before a deadline", func() bool {
		s, err := r.store.Stats(t.Context(), queue.Name{Namespace: "default", Name: "news"})
		return err == nil && s.Messages() == 0
	})
	for _, stop := range stops {
		stop()
	}
}
