package apns

import (
	"errors"
	"testing"
	"time"

	"github.com/hikyaku/hikyaku/internal/component"
	"github.com/hikyaku/hikyaku/internal/message"
	"github.com/hikyaku/hikyaku/internal/push/pushtest"
	"github.com/hikyaku/hikyaku/internal/queue"
)

func TestAMessageThatANewerOneReplacesWhileThatWaitsInTheQueueIsDropped(t *testing.T) {
	f := newFar(t, nil)
	s := newSink(t, f, func(c *Config) { c.Backlog = "outbox" })
	store, outbox := pushtest.StoreOf(t, s.store), queue.Name{Namespace: queue.DefaultNamespace, Name: "outbox"}
	first, second, other := to(device(1), "collapse_id", "score"), to(device(1), "collapse_id", "score"),
		to(device(1), "collapse_id", "other")
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
	c := Config{Apps: map[string]App{bundle: f.app}}
	c.Backlog = "a/b/c"
	var wrong *component.SettingError
	if _, err := New(c, component.Env{}); !errors.As(err, &wrong) || wrong.Setting != "backlog" {
		t.Errorf("%v", err)
	}
}

func TestAPushWaitsWhileNobodyKnowsWhetherANewerOneWaits(t *testing.T) {
	f := newFar(t, nil)
	s := newSink(t, f, func(c *Config) { c.Backlog = "outbox" })
	pushtest.WhileAway(t, s, &s.backlog, to(device(1), "collapse_id", "score"), "token")
}
