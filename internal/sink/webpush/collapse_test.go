package webpush

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
	sub := f.subscribe(t)
	first, second, other := to(sub, "topic", "score"), to(sub, "topic", "score"), to(sub, "topic", "other")
	second.Time, other.Time = first.Time.Add(time.Second), first.Time
	pushtest.Want(t, pushtest.Deliver1(t, s, second), component.Delivered, "")
	pushtest.Want(t, pushtest.Deliver1(t, s, first), component.Dropped, "replaced")
	pushtest.Want(t, pushtest.Deliver1(t, s, other), component.Delivered, "")
	pushtest.Want(t, pushtest.Deliver1(t, s, second), component.Delivered, "") // the same again is no older one
	if n := len(f.Seen()); n != 3 {
		t.Errorf("%d requests came", n)
	}
}

func TestAMessageThatIsReplacedWhileItWaitsIsGivenUp(t *testing.T) {
	f := newFar(t, nil)
	s := newSink(t, f, func(c *Config) { c.Connections = 1 })
	sub := f.subscribe(t)
	pushtest.Want(t, pushtest.Deliver1(t, s, to(f.subscribe(t))), component.Delivered, "")
	f.behave(t, farend.Behaviour{Streams: farend.Limit(0)})
	pushtest.Eventually(t, func() bool { return s.Figures().Client.StreamsLimit == 0 })
	first, second := to(sub, "topic", "score"), to(sub, "topic", "score")
	second.Time = first.Time.Add(time.Second)
	old, newer := make(chan component.Outcome, 1), make(chan component.Outcome, 1)
	s.Deliver(first, time.Now().Add(pushtest.Patience), func(o component.Outcome) { old <- o })
	s.Deliver(second, time.Now().Add(pushtest.Patience), func(o component.Outcome) { newer <- o })
	pushtest.Want(t, <-old, component.Dropped, "replaced")
	f.behave(t, farend.Behaviour{})
	pushtest.Want(t, <-newer, component.Delivered, "")
	if n := len(f.Seen()); n != 2 || s.newest.UnderWay() != 0 {
		t.Errorf("%d requests came, %d are under way", n, s.newest.UnderWay())
	}
}

func TestAMessageThatANewerOneReplacesWhileThatWaitsInTheQueueIsDropped(t *testing.T) {
	f := newFar(t, nil)
	s := newSink(t, f, func(c *Config) { c.Backlog = "outbox" })
	store, outbox := pushtest.StoreOf(t, s.store), queue.Name{Namespace: queue.DefaultNamespace, Name: "outbox"}
	sub := f.subscribe(t)
	first, second, other := to(sub, "topic", "score"), to(sub, "topic", "score"), to(sub, "topic", "other")
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

func TestABacklogIsAQueuesName(t *testing.T) {
	f := newFar(t, nil)
	c := Config{KeyFile: f.key, Subject: "mailto:push@example.com", CAFile: f.ca, Services: []string{f.Addr().String()}}
	c.Backlog = "a/b/c"
	var wrong *component.SettingError
	if _, err := New(c, component.Env{}); !errors.As(err, &wrong) || wrong.Setting != "backlog" {
		t.Errorf("%v", err)
	}
}

func TestAPushWaitsWhileNobodyKnowsWhetherANewerOneWaits(t *testing.T) {
	f := newFar(t, nil)
	s := newSink(t, f, func(c *Config) { c.Backlog = "outbox" })
	pushtest.WhileAway(t, s, &s.backlog, to(f.subscribe(t), "topic", "score"), "subscription")
}
