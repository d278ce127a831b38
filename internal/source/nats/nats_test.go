//go:build linux

package nats

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"go.uber.org/goleak"

	"github.com/hikyaku/hikyaku/internal/component"
	"github.com/hikyaku/hikyaku/internal/databasetest"
	"github.com/hikyaku/hikyaku/internal/lines/broker"
	"github.com/hikyaku/hikyaku/internal/waittest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func start(t *testing.T, settings ...string) *databasetest.Server {
	t.Helper()
	s, err := databasetest.StartNATS(context.Background(), settings...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// admin is the test's own connection, with a stream ORDERS.
func admin(t *testing.T, s *databasetest.Server) (*nats.Conn, jetstream.JetStream) {
	t.Helper()
	c, err := nats.Connect("nats://"+s.Address(), nats.MaxReconnects(-1), nats.ReconnectWait(10*time.Millisecond))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	js, err := jetstream.New(c)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := js.CreateStream(t.Context(), jetstream.StreamConfig{Name: "ORDERS",
		Subjects: []string{"orders.>"}}); err != nil {
		t.Fatal(err)
	}
	return c, js
}

func publish(t *testing.T, js jetstream.JetStream, n int) {
	t.Helper()
	for i := range n {
		if _, err := js.Publish(t.Context(), "orders.new", fmt.Append(nil, i)); err != nil {
			t.Fatal(err)
		}
	}
}

// taker is a pipeline that answers as it is told.
type taker struct {
	mu     sync.Mutex
	answer func(component.Delivery) // nil: all is delivered
	got    []component.Delivery
}

func (c *taker) Send(ctx context.Context, d component.Delivery) error {
	c.mu.Lock()
	c.got = append(c.got, d)
	answer := c.answer
	c.mu.Unlock()
	if answer == nil {
		d.Settle(component.Outcome{})
	} else {
		answer(d)
	}
	return ctx.Err()
}

func (c *taker) all() []component.Delivery {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.got)
}

func (c *taker) await(t *testing.T, n int) {
	t.Helper()
	waittest.Until(t, fmt.Sprintf("%d messages have come", n), func() bool { return len(c.all()) >= n })
}

// run starts a source, and returns what stops it.
// between is called when Run has ended, as a pipeline settles then what it has.
func run(t *testing.T, c Config, out component.Out, between ...func()) (*Source, func()) {
	t.Helper()
	made, err := New(c, component.Env{Name: "in"})
	if err != nil {
		t.Fatal(err)
	}
	s := made.(*Source)
	if err := s.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- s.Run(ctx, out) }()
	stop := sync.OnceFunc(func() {
		cancel()
		if err := <-ended; !errors.Is(err, context.Canceled) {
			t.Errorf("it ended with %v", err)
		}
		for _, f := range between {
			f()
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	t.Cleanup(stop)
	return s, stop
}

func orders(s *databasetest.Server) Config {
	return Config{NATS: broker.NATS{URL: "nats://" + s.Address()}, Stream: "ORDERS", Consumer: "hikyaku"}
}

// left is how many messages of the consumer are neither acknowledged nor given up.
func left(t *testing.T, js jetstream.JetStream) (pending, unacknowledged int) {
	t.Helper()
	c, err := js.Consumer(t.Context(), "ORDERS", "hikyaku")
	if err != nil {
		return -1, -1
	}
	return int(c.CachedInfo().NumPending), c.CachedInfo().NumAckPending
}

func TestAMessageIsAcknowledgedWhenItIsSettled(t *testing.T) {
	server := start(t)
	_, js := admin(t, server)
	if _, err := js.PublishMsg(t.Context(), &nats.Msg{Subject: "orders.a", Data: []byte("body"),
		Header: nats.Header{"Tenant": {"x"}}}); err != nil {
		t.Fatal(err)
	}
	out := &taker{answer: func(component.Delivery) {}}
	c := orders(server)
	c.Headers = []string{"Tenant", "Absent"}
	run(t, c, out)
	out.await(t, 1)
	d := out.all()[0]
	subject, _ := d.Message.Attributes.Get("subject")
	tenant, _ := d.Message.Attributes.Get("Tenant")
	if string(d.Message.Body) != "body" || subject.Text() != "orders.a" || tenant.Text() != "x" || d.Attempt != 1 ||
		d.Message.Origin.Offset != 1 || !strings.HasPrefix(d.Message.Origin.Source, "nats ORDERS/hikyaku ") ||
		len(d.Message.Attributes) != 2 || d.Message.Time.IsZero() {
		t.Errorf("%+v", d.Message)
	}
	if pending, open := left(t, js); pending != 0 || open != 1 {
		t.Errorf("%d wait, %d are not acknowledged", pending, open)
	}
	d.Settle(component.Outcome{})
	waittest.Until(t, "it is acknowledged", func() bool { _, open := left(t, js); return open == 0 })
}

func TestWhatIsGivenBackComesAgain(t *testing.T) {
	server := start(t)
	_, js := admin(t, server)
	publish(t, js, 1)
	out := &taker{}
	out.answer = func(d component.Delivery) {
		if d.Attempt == 1 {
			d.Settle(component.Again(time.Millisecond, errors.New("not now")))
			return
		}
		d.Settle(component.Outcome{})
	}
	run(t, orders(server), out)
	out.await(t, 2)
	if first, second := out.all()[0], out.all()[1]; second.Attempt != 2 ||
		first.Message.Origin != second.Message.Origin {
		t.Errorf("%+v, %+v", first.Message, second.Message)
	}
}

func TestWhatTakesLongDoesNotComeAgainMeanwhile(t *testing.T) {
	server := start(t)
	_, js := admin(t, server)
	const patience = 600 * time.Millisecond
	if _, err := js.CreateConsumer(t.Context(), "ORDERS", jetstream.ConsumerConfig{Durable: "hikyaku",
		AckPolicy: jetstream.AckExplicitPolicy, AckWait: patience}); err != nil {
		t.Fatal(err)
	}
	publish(t, js, 3)
	out := &taker{answer: func(component.Delivery) {}}
	run(t, orders(server), out)
	out.await(t, 3)
	began := time.Now()
	waittest.Until(t, "the server's patience would have ended thrice", func() bool {
		return time.Since(began) > 3*patience
	})
	if n := len(out.all()); n != 3 {
		t.Errorf("3 messages came %d times", n)
	}
}

func TestAStopGivesBackWhatIsUnderWay(t *testing.T) {
	server := start(t)
	_, js := admin(t, server)
	// The server alone would hand them out again after an hour.
	if _, err := js.CreateConsumer(t.Context(), "ORDERS", jetstream.ConsumerConfig{Durable: "hikyaku",
		AckPolicy: jetstream.AckExplicitPolicy, AckWait: time.Hour}); err != nil {
		t.Fatal(err)
	}
	publish(t, js, 250)
	out := &taker{answer: func(component.Delivery) {}}
	s, stop := run(t, orders(server), out, func() {
		for _, d := range out.all()[100:] {
			d.Settle(component.Again(0, errors.New("stopping")))
		}
	})
	out.await(t, 250)
	s.mu.Lock()
	held := len(s.held)
	s.mu.Unlock()
	if held != 250 {
		t.Errorf("%d are held", held)
	}
	for i, d := range out.all() {
		if i < 100 {
			d.Settle(component.Outcome{})
		}
	}
	stop()
	again := &taker{}
	run(t, orders(server), again)
	again.await(t, 150)
	seen := map[string]bool{}
	for _, d := range again.all() {
		if body := string(d.Message.Body); seen[body] || len(seen) > 150 {
			t.Errorf("%s came twice", body)
		}
		seen[string(d.Message.Body)] = true
	}
}

func TestARestartOfTheServerLosesNothing(t *testing.T) {
	for name, end := range map[string]func(*databasetest.Server) error{
		"stop": (*databasetest.Server).Stop, "kill": (*databasetest.Server).Kill,
	} {
		t.Run(name, func(t *testing.T) {
			server := start(t)
			_, js := admin(t, server)
			if _, err := js.CreateConsumer(t.Context(), "ORDERS", jetstream.ConsumerConfig{Durable: "hikyaku",
				AckPolicy: jetstream.AckExplicitPolicy, AckWait: 2 * time.Second}); err != nil {
				t.Fatal(err)
			}
			const n = 1000
			publish(t, js, n)
			half := make(chan struct{})
			out := &taker{}
			out.answer = func(d component.Delivery) {
				if len(out.all()) == n/2 {
					close(half)
				}
				d.Settle(component.Outcome{})
			}
			s, _ := run(t, orders(server), out)
			<-half
			if err := end(server); err != nil {
				t.Fatal(err)
			}
			waittest.Until(t, "the source knows that the server is away", func() bool { return s.Waits() != nil })
			if err := server.Start(t.Context()); err != nil {
				t.Fatal(err)
			}
			waittest.Until(t, "all are acknowledged", func() bool {
				pending, open := left(t, js)
				return pending == 0 && open == 0
			})
			times := map[uint64]int{}
			for _, d := range out.all() {
				times[d.Message.Origin.Offset]++
			}
			if len(times) != n {
				t.Errorf("%d of %d came", len(times), n)
			}
			// What was taken before may come again, once: the server keeps acknowledgements a little later than
			// messages.
			t.Logf("%d of %d came twice", len(out.all())-n, n)
			for offset, came := range times {
				if came > 2 {
					t.Errorf("message %d came %d times", offset, came)
				}
			}
		})
	}
}

func TestAStreamThatIsMissingIsWaitedFor(t *testing.T) {
	server := start(t)
	_, js := admin(t, server)
	out := &taker{}
	c := orders(server)
	c.Stream = "LATER"
	s, _ := run(t, c, out)
	waittest.Until(t, "it is told", func() bool {
		return len(s.Notices()) > 0 && strings.Contains(s.Notices()[0], "stream not found")
	})
	if _, err := js.CreateStream(t.Context(), jetstream.StreamConfig{Name: "LATER",
		Subjects: []string{"l"}}); err != nil {
		t.Fatal(err)
	}
	if _, err := js.Publish(t.Context(), "l", nil); err != nil {
		t.Fatal(err)
	}
	out.await(t, 1)
}

func TestAConsumerThatAcknowledgesByItselfIsRefused(t *testing.T) {
	server := start(t)
	_, js := admin(t, server)
	if _, err := js.CreateConsumer(t.Context(), "ORDERS", jetstream.ConsumerConfig{Durable: "hikyaku",
		AckPolicy: jetstream.AckNonePolicy}); err != nil {
		t.Fatal(err)
	}
	made, err := New(orders(server), component.Env{})
	if err != nil {
		t.Fatal(err)
	}
	s := made.(*Source)
	if err := s.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if err := s.Run(t.Context(), &taker{}); !errors.Is(err, errPolicy) {
		t.Error(err)
	}
}

func TestASubjectBringsWhatIsPublishedWhileItListens(t *testing.T) {
	server := start(t)
	conn, _ := admin(t, server)
	blocked := make(chan struct{})
	out := &taker{answer: func(d component.Delivery) { <-blocked; d.Settle(component.Outcome{}) }}
	s, stop := run(t, Config{NATS: broker.NATS{URL: "nats://" + server.Address()}, Subject: "events.*",
		QueueGroup: "g", Max: 10}, out)
	waittest.Until(t, "it listens", func() bool { return s.conn.NumSubscriptions() == 1 })
	if err := s.conn.FlushTimeout(time.Minute); err != nil {
		t.Fatal(err)
	}
	for i := range 50 {
		if err := conn.Publish("events.a", fmt.Append(nil, i)); err != nil {
			t.Fatal(err)
		}
	}
	if err := conn.FlushTimeout(time.Minute); err != nil {
		t.Fatal(err)
	}
	out.await(t, 1)
	// What was published before the stop and found room comes, all of it before the end.
	if err := s.conn.FlushTimeout(time.Minute); err != nil {
		t.Fatal(err)
	}
	go close(blocked)
	waittest.Until(t, "what found no room is counted", func() bool { return s.Counts()[dropped] >= 30 })
	stop()
	if came, lost := len(out.all()), int(s.Counts()[dropped]); came+lost != 50 || came < 10 {
		t.Errorf("%d came and %d were dropped of 50", came, lost)
	}
}

func TestWhatCannotWorkIsRefusedWithItsSetting(t *testing.T) {
	url := broker.NATS{URL: "nats://h"}
	for setting, c := range map[string]Config{
		"url":         {Subject: "s"},
		"stream":      {NATS: url},
		"consumer":    {NATS: url, Stream: "S"},
		"queue_group": {NATS: url, Stream: "S", Consumer: "c", QueueGroup: "g"},
		"subject":     {NATS: url, Subject: "a b"},
	} {
		_, err := New(c, component.Env{})
		if e := (*component.SettingError)(nil); !errors.As(err, &e) || e.Setting != setting {
			t.Errorf("%s: %v", setting, err)
		}
	}
}
