package collapse_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/hikyaku/hikyaku/internal/message"
	"github.com/hikyaku/hikyaku/internal/push/collapse"
	"github.com/hikyaku/hikyaku/internal/queue"
)

// later is when a message would have to be answered for.
func later() time.Time { return time.Now().Add(time.Hour) }

func TestANewerMessageIsFoundWhereItWaits(t *testing.T) {
	store := newStore(t)
	b := collapse.NewBacklog(store, outbox, "token", "collapse_id", "app")
	if err := b.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	at := time.Now()
	made := func(after time.Duration, attributes ...string) *message.Message {
		m := with(attributes...)
		m.Time = at.Add(after)
		return m
	}
	odd := `it's a "\id\"`
	var group []message.Message
	for _, m := range []*message.Message{
		made(time.Minute, "token", "a", "collapse_id", "score"),
		made(2*time.Minute, "token", "a", "collapse_id", "score"),
		made(time.Minute, "token", "b", "collapse_id", odd, "app", "news"),
		made(-time.Minute, "token", "c", "collapse_id", "score"), made(time.Minute, "token", "d"),
	} {
		group = append(group, *m)
	}
	if _, err := store.Put(t.Context(), outbox, group); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		why  string
		m    *message.Message
		want bool
	}{
		{"a newer one waits", made(0, "token", "a", "collapse_id", "score"), true},
		{"its time is that of the one that waits", made(time.Minute, "token", "a", "collapse_id", "score"), false},
		{"another collapse id", made(0, "token", "a", "collapse_id", "other"), false},
		{"another device", made(0, "token", "x", "collapse_id", "score"), false},
		{"quotes and backslashes", made(0, "token", "b", "collapse_id", odd, "app", "news"), true},
		{"another app", made(0, "token", "b", "collapse_id", odd, "app", "mail"), false},
		{"no app, while the other has one", made(0, "token", "b", "collapse_id", odd), false},
		{"what waits is older", made(0, "token", "c", "collapse_id", "score"), false},
		{"neither says its collapse id", made(0, "token", "d"), true},
		{"nothing is said", made(0), false},
	} {
		if got, err := b.Newer(c.m, later()); err != nil || got != c.want {
			t.Errorf("%s: %v, %v", c.why, got, err)
		}
	}
	none := made(0, "token", "a", "collapse_id", "score")
	none.Time = time.Time{}
	if newer, err := b.Newer(none, later()); newer || err != nil {
		t.Errorf("a message without a time is older than others: %v", err)
	}
	var no *collapse.Backlog
	if err := no.Start(t.Context()); err != nil {
		t.Error(err)
	}
	if newer, err := no.Newer(made(0, "token", "a", "collapse_id", "score"), later()); newer || err != nil {
		t.Errorf("there is a backlog where there is none: %v", err)
	}
}

func TestABacklogThatCannotBeAskedStopsTheStart(t *testing.T) {
	store := newStore(t)
	columns, err := message.ParseColumns([]string{"id int"})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := store.CreateQueue(t.Context(), outbox, queue.Definition{Columns: columns}); err != nil {
		t.Fatal(err)
	}
	b := collapse.NewBacklog(store, outbox, "token", "collapse_id")
	if err := b.Start(t.Context()); err == nil {
		t.Error("a queue of rows without these columns is a backlog")
	}
	m := with("token", "a", "collapse_id", "score")
	if newer, err := b.Newer(m, later()); newer || err != nil {
		t.Errorf("a queue that cannot be asked has a newer message: %v", err)
	}
}

// awayStore is a store that nobody can ask: one that another machine has.
type awayStore struct{ queue.Service }

func (awayStore) First(context.Context, queue.From) (p queue.Peeked, ok bool, err error) {
	return p, false, queue.ErrUnavailable
}

// TestOfAStoreThatIsAwayNobodyKnows whether a newer message waits, nor of one that does not answer in time.
func TestOfAStoreThatIsAwayNobodyKnows(t *testing.T) {
	store := newStore(t)
	m := with("token", "a", "collapse_id", "score")
	m.Time = time.Now()
	b := collapse.NewBacklog(awayStore{store}, outbox, "token", "collapse_id")
	if err := b.Start(t.Context()); !errors.Is(err, queue.ErrUnavailable) {
		t.Errorf("the start: %v", err)
	}
	if _, err := b.Newer(m, later()); !errors.Is(err, queue.ErrUnavailable) {
		t.Errorf("a store that is away: %v", err)
	}
	b = collapse.NewBacklog(store, outbox, "token", "collapse_id")
	if _, err := b.Newer(m, time.Now()); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("an answer that comes too late: %v", err)
	}
}

// TestIndexesForEachWayToNameADeviceAreThereFromTheStart: else the first message waits for a look through the queue.
func TestIndexesForEachWayToNameADeviceAreThereFromTheStart(t *testing.T) {
	store := newStore(t)
	var group []message.Message
	for range 100 {
		group = append(group, *with("token", "a", "collapse_key", "k"), *with("fid", "b", "collapse_key", "k"))
	}
	if _, err := store.Put(t.Context(), outbox, group); err != nil {
		t.Fatal(err)
	}
	b := collapse.NewBacklog(store, outbox, "token", "collapse_key", "project", "fid")
	b.Or("fid")
	if err := b.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	indexes := func() (texts []string) {
		st, err := store.Stats(t.Context(), outbox)
		if err != nil {
			t.Fatal(err)
		}
		for _, v := range st.Views {
			texts = append(texts, v.Text)
		}
		slices.Sort(texts)
		return texts
	}
	before := indexes()
	for _, device := range []string{"token", "fid"} {
		m := with(device, "a", "collapse_key", "k")
		m.Time = time.Now()
		if _, err := b.Newer(m, later()); err != nil {
			t.Fatal(err)
		}
	}
	if after := indexes(); len(before) != 2 || !slices.Equal(before, after) {
		t.Errorf("at the start there are %q, after the first messages %q", before, after)
	}
}
