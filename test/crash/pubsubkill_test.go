//go:build linux

package crash

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"strconv"
	"sync"
	"testing"
	"time"

	"cloud.google.com/go/pubsub/v2"
	"cloud.google.com/go/pubsub/v2/apiv1/pubsubpb"
	"google.golang.org/api/option"
	"google.golang.org/grpc"
	"google.golang.org/grpc/backoff"
	"google.golang.org/grpc/credentials/insecure"

	"github.com/hikyaku/hikyaku/internal/freeport"
)

const (
	pubsubKills      = 3
	pubsubPublishers = 4
	pubsubKeys       = 8
)

// pubsubBook is what Google's client was told.
type pubsubBook struct {
	mu        sync.Mutex
	t         *testing.T
	numbers   map[string]int             // how many messages of a key were made
	published map[string]bool            // by body: an answer came
	seen      map[string]map[string]bool // by subscription: bodies
	confirmed map[string]bool            // by message id: the exactly-once subscription confirmed its acknowledgement
	// by key: the last number that the ordered subscription gave for the first time
	last map[string]int
}

func (b *pubsubBook) next(key string) string {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.numbers[key]++
	return fmt.Sprintf("%s %d", key, b.numbers[key])
}

func (b *pubsubBook) answered(body string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.published[body] = true
}

// once is told of a message of the exactly-once subscription.
func (b *pubsubBook) once(m *pubsub.Message) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.confirmed[m.ID] {
		b.t.Errorf("%q was acknowledged, which was confirmed, and is there again", m.Data)
	}
	b.seen["once"][string(m.Data)] = true
}

func (b *pubsubBook) confirm(id string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.confirmed[id] = true
}

// ordered is told of a message of the ordered subscription: numbers may come again, but none may come for the first
// time behind a later one.
func (b *pubsubBook) ordered(m *pubsub.Message) {
	b.mu.Lock()
	defer b.mu.Unlock()
	body := string(m.Data)
	if b.seen["ordered"][body] {
		return
	}
	b.seen["ordered"][body] = true
	var number int
	if _, err := fmt.Sscanf(body, m.OrderingKey+" %d", &number); err != nil {
		b.t.Errorf("%q of key %q: %v", body, m.OrderingKey, err)
	}
	if number < b.last[m.OrderingKey] {
		b.t.Errorf("%q came behind %d", body, b.last[m.OrderingKey])
	}
	b.last[m.OrderingKey] = max(number, b.last[m.OrderingKey])
}

// missing is a message that was acknowledged to its publisher and not given to a subscription; "" if there is none.
func (b *pubsubBook) missing() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	for sub, seen := range b.seen {
		for body := range b.published {
			if !seen[body] {
				return fmt.Sprintf("%q was published and has not come to subscription %s", body, sub)
			}
		}
	}
	return ""
}

// TestWhatPubSubClientsWereToldHoldsThroughKills has Google's client publish and receive, which reconnects by itself,
// while the server is killed again and again: nothing published is lost, keys keep their order, and what an
// exactly-once subscription confirmed never comes back.
func TestWhatPubSubClientsWereToldHoldsThroughKills(t *testing.T) {
	random := newRandom(t)
	data := filepath.Join(t.TempDir(), "data")
	address := freeAddress(t)
	config := "data_dir: " + data +
		"\napi: { http: { listen: 127.0.0.1:0 }, mysql: { off: true }, pubsub: { listen: '" + address + "' } }\n"
	s := serve(t, config)

	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	client, err := pubsub.NewClient(ctx, "local", option.WithEndpoint(address), option.WithoutAuthentication(),
		option.WithGRPCDialOption(grpc.WithTransportCredentials(insecure.NewCredentials())),
		option.WithGRPCDialOption(grpc.WithConnectParams(grpc.ConnectParams{
			Backoff: backoff.Config{BaseDelay: 20 * time.Millisecond, Multiplier: 1.5,
				MaxDelay: 100 * time.Millisecond}, MinConnectTimeout: time.Second,
		})))
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	const topic = "projects/local/topics/jobs"
	if _, err := client.TopicAdminClient.CreateTopic(ctx, &pubsubpb.Topic{Name: topic}); err != nil {
		t.Fatal(err)
	}
	for _, sub := range []*pubsubpb.Subscription{
		{Name: "projects/local/subscriptions/once", Topic: topic, AckDeadlineSeconds: 10,
			EnableExactlyOnceDelivery: true},
		{Name: "projects/local/subscriptions/ordered", Topic: topic, AckDeadlineSeconds: 10,
			EnableMessageOrdering: true},
	} {
		if _, err := client.SubscriptionAdminClient.CreateSubscription(ctx, sub); err != nil {
			t.Fatal(err)
		}
	}
	book := &pubsubBook{
		t: t, numbers: map[string]int{}, published: map[string]bool{}, confirmed: map[string]bool{},
		last: map[string]int{},
		seen: map[string]map[string]bool{"once": {}, "ordered": {}},
	}

	receiving, stopReceiving := context.WithCancel(ctx)
	var receivers sync.WaitGroup
	defer receivers.Wait()
	defer stopReceiving()
	receive := func(name string, f func(context.Context, *pubsub.Message)) {
		sub := client.Subscriber(name)
		// What is in a client's hands at a kill comes back when its deadline ends: let that not be a minute.
		sub.ReceiveSettings.MinDurationPerAckExtension = 10 * time.Second
		sub.ReceiveSettings.MaxDurationPerAckExtension = 10 * time.Second
		receivers.Go(func() {
			if err := sub.Receive(receiving, f); err != nil && receiving.Err() == nil {
				t.Errorf("receive from %s: %v", name, err)
			}
		})
	}
	receive("once", func(ctx context.Context, m *pubsub.Message) {
		book.once(m)
		if status, err := m.AckWithResult().Get(ctx); err == nil && status == pubsub.AcknowledgeStatusSuccess {
			book.confirm(m.ID)
		}
	})
	receive("ordered", func(_ context.Context, m *pubsub.Message) {
		book.ordered(m)
		m.Ack()
	})

	publishing, stopPublishing := context.WithCancel(ctx)
	var publishers sync.WaitGroup
	for i := range pubsubPublishers {
		own := rand.New(rand.NewPCG(random.Uint64(), 5))
		publishers.Go(func() { publishOrdered(publishing, client, topic, book, i, own) })
	}
	for range pubsubKills * *times {
		<-time.After(between(random, 150*time.Millisecond, 400*time.Millisecond))
		s.kill()
		s = serve(t, config)
	}
	<-time.After(300 * time.Millisecond)
	stopPublishing()
	publishers.Wait()
	until(t, func() string { return book.missing() + "\n" + s.log() }, func() bool { return book.missing() == "" })
	stopReceiving()
	receivers.Wait()
	if len(book.published) == 0 || len(book.confirmed) == 0 {
		t.Errorf("%d published and %d confirmed: nothing was tried", len(book.published), len(book.confirmed))
	}
	t.Logf("%d published, %d confirmed", len(book.published), len(book.confirmed))
	s.stop(t)
	checkJournal(t, data)
}

// publishOrdered publishes messages of keys of its own until ctx ends, waiting for each now and then.
func publishOrdered(ctx context.Context, client *pubsub.Client, topic string, book *pubsubBook, publisher int,
	random *rand.Rand) {
	p := client.Publisher(topic)
	p.EnableMessageOrdering = true
	p.PublishSettings.DelayThreshold = time.Millisecond
	defer p.Stop()
	for ctx.Err() == nil {
		key := strconv.Itoa(publisher) + "-" + strconv.Itoa(random.IntN(pubsubKeys))
		bodies := make([]string, 1+random.IntN(20))
		results := make([]*pubsub.PublishResult, len(bodies))
		for i := range bodies {
			bodies[i] = book.next(key)
			results[i] = p.Publish(ctx, &pubsub.Message{Data: []byte(bodies[i]), OrderingKey: key})
		}
		for i, r := range results {
			_, err := r.Get(ctx)
			if err == nil {
				book.answered(bodies[i])
				continue
			}
			if errors.Is(err, context.Canceled) {
				return
			}
			p.ResumePublish(key)
		}
	}
}

// freeAddress is an address that nobody listens on, for a server that is started again and again.
func freeAddress(t *testing.T) string {
	t.Helper()
	found, err := freeport.Find(1)
	must(t, err)
	return found[0]
}
