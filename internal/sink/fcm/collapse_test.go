package fcm

import (
	"errors"
	"testing"
	"time"

	"github.com/hikyaku/hikyaku/internal/component"
	"github.com/hikyaku/hikyaku/internal/message"
	"github.com/hikyaku/hikyaku/internal/push/pushtest"
	"github.com/hikyaku/hikyaku/internal/queue"
	"github.com/hikyaku/hikyaku/internal/sandbox/push/farend"
)

func TestAnOlderMessageDoesNotOvertakeTheOneThatReplacesIt(t *testing.T) {
	f := newFar(t, nil)
	s := newSink(t, f, nil)
	first, second, other := to(device(1), "collapse_key", "score"), to(device(1), "collapse_key", "score"),
		to(device(1), "collapse_key", "other")
	second.Time, other.Time = first.Time.Add(time.Second), first.Time
	pushtest.Want(t, pushtest.Deliver1(t, s, second), component.Delivered, "")
	pushtest.Want(t, pushtest.Deliver1(t, s, first), component.Dropped, "replaced")
	pushtest.Want(t, pushtest.Deliver1(t, s, other), component.Delivered, "")
	pushtest.Want(t, pushtest.Deliver1(t, s, second), component.Delivered, "") // the same again is no older one
	if n := len(f.Seen()); n != 4 {                                            // with the one for an access token
		t.Errorf("%d requests came", n)
	}
}

func TestAMessageThatIsReplacedWhileItWaitsIsGivenUp(t *testing.T) {
	f := newFar(t, nil)
	s := newSink(t, f, func(c *Config) { c.Connections = 1 })
	pushtest.Want(t, pushtest.Deliver1(t, s, to(device(0))), component.Delivered, "")
	f.behave(t, farend.Behaviour{Streams: farend.Limit(0)})
	pushtest.Eventually(t, func() bool { return s.only.client.Stats().StreamsLimit == 0 })
	first, second := to(device(1), "collapse_key", "score"), to(device(1), "collapse_key", "score")
	second.Time = first.Time.Add(time.Second)
	old, newer := make(chan component.Outcome, 1), make(chan component.Outcome, 1)
	s.Deliver(first, time.Now().Add(pushtest.Patience), func(o component.Outcome) { old <- o })
	s.Deliver(second, time.Now().Add(pushtest.Patience), func(o component.Outcome) { newer <- o })
	pushtest.Want(t, <-old, component.Dropped, "replaced")
	f.behave(t, farend.Behaviour{})
	pushtest.Want(t, <-newer, component.Delivered, "")
	if n := len(f.Seen()); n != 3 || s.newest.UnderWay() != 0 {
		t.Errorf("%d requests came, %d are under way", n, s.newest.UnderWay())
	}
}

func TestAMessageThatANewerOneReplacesWhileThatWaitsInTheQueueIsDropped(t *testing.T) {
	f := newFar(t, nil)
	s := newSink(t, f, func(c *Config) { c.Backlog = "outbox" })
	store, outbox := pushtest.StoreOf(t, s.store), queue.Name{Namespace: queue.DefaultNamespace, Name: "outbox"}
	first, second, other := to(device(1), "collapse_key", "score"), to(device(1), "collapse_key", "score"),
		to(device(1), "collapse_key", "other")
	second.Time, other.Time = first.Time.Add(time.Second), first.Time
	pushtest.Want(t, pushtest.Deliver1(t, s, first), component.Delivered, "") // the queue is not there yet
	if _, err := store.Put(t.Context(), outbox, []message.Message{*second}); err != nil {
		t.Fatal(err)
	}
	pushtest.Want(t, pushtest.Deliver1(t, s, first), component.Dropped, "replaced")
	pushtest.Want(t, pushtest.Deliver1(t, s, other), component.Delivered, "")
	claims, err := store.Claim(t.Context(), queue.ClaimRequest{From: []queue.From{{Queue: outbox}}})
	if err != nil || len(claims) != 1 {
		t.Fatal(claims, err)
	}
	pushtest.Want(t, pushtest.Deliver1(t, s, &claims[0].Message), component.Delivered, "")
	pushtest.Want(t, pushtest.Deliver1(t, s, first), component.Dropped, "replaced") // what was here is known, too
}

func TestAMessageIsReplacedByNoneThatWaitsForAnotherInstallation(t *testing.T) {
	const mine, other = "cx0mHBlDR4-y_ZEWDqvXb1", "dQw4w9WgXcQ-y_ZEWDqvXb2"
	f := newFar(t, nil)
	s := newSink(t, f, func(c *Config) { c.Backlog = "outbox" })
	store, outbox := pushtest.StoreOf(t, s.store), queue.Name{Namespace: queue.DefaultNamespace, Name: "outbox"}
	begin := time.Now()
	at := func(after time.Duration, attributes ...string) *message.Message {
		m := to("", append(attributes, "collapse_key", "score", "project", "news")...)
		m.Time = begin.Add(after)
		return m
	}
	put := func(m *message.Message) {
		t.Helper()
		if _, err := store.Put(t.Context(), outbox, []message.Message{*m}); err != nil {
			t.Fatal(err)
		}
	}
	put(at(time.Second, "fid", other))
	put(at(time.Second, "topic", "weather"))
	put(at(time.Second, "token", mine))
	for range 2 {
		pushtest.Want(t, pushtest.Deliver1(t, s, at(0, "fid", mine)), component.Delivered, "")
		pushtest.Want(t, pushtest.Deliver1(t, s, at(0, "topic", "weather")), component.Delivered, "")
	}
	put(at(time.Second, "fid", mine))
	pushtest.Want(t, pushtest.Deliver1(t, s, at(0, "fid", mine)), component.Dropped, "replaced")
}

func TestABacklogIsAQueuesName(t *testing.T) {
	f := newFar(t, nil)
	c := Config{Projects: map[string]Project{"news": f.project}}
	c.Backlog = "a/b/c"
	var wrong *component.SettingError
	if _, err := New(c, component.Env{}); !errors.As(err, &wrong) || wrong.Setting != "backlog" {
		t.Errorf("%v", err)
	}
}

func TestAPushWaitsWhileNobodyKnowsWhetherANewerOneWaits(t *testing.T) {
	f := newFar(t, nil)
	s := newSink(t, f, func(c *Config) { c.Backlog = "outbox" })
	pushtest.WhileAway(t, s, &s.sender.Backlog, to(device(1), "collapse_key", "score"), "token")
}
