package shard

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/hikyaku/hikyaku/internal/journal/memory"
	"github.com/hikyaku/hikyaku/internal/message"
	"github.com/hikyaku/hikyaku/internal/queue"
	"github.com/hikyaku/hikyaku/internal/waittest"
)

func TestAClaimThatWaitsAtSeveralShardsReadsNothingBeforeItHasRoom(t *testing.T) {
	w := newWorld(t, 2, onDemand)
	a, b := w.in(0, "a"), w.in(1, "b")
	m := message.Message{Body: []byte("m"), NotBefore: time.Now().Add(50 * time.Millisecond)}
	for _, n := range []queue.Name{a, b} {
		_, err := w.Put(t.Context(), n, []message.Message{m})
		must(t, err)
	}
	before := w.journals[0].Reads() + w.journals[1].Reads()
	noRoom := errors.New("no room")
	_, err := w.Claim(t.Context(), queue.ClaimRequest{From: from(a, b), Wait: time.Minute,
		Hold: func(context.Context, int64, int64) error { return noRoom }})
	if !errors.Is(err, noRoom) {
		t.Errorf("without room it answers %v", err)
	}
	if n := w.journals[0].Reads() + w.journals[1].Reads() - before; n != 0 {
		t.Errorf("%d bodies were read", n)
	}
}

func TestWhatAClaimAtSeveralShardsDoesNotTakeIsNotCounted(t *testing.T) {
	w := newWorld(t, 2, onDemand)
	a, b := w.in(0, "a"), w.in(1, "b")
	for _, n := range []queue.Name{a, b} {
		_, err := w.CreateQueue(t.Context(), n, queue.Definition{})
		must(t, err)
	}
	got := make(chan []queue.Claim, 1)
	asked, room := make(chan struct{}), make(chan struct{})
	go func() {
		cs, err := w.Claim(context.Background(), queue.ClaimRequest{From: from(a, b), Wait: time.Minute,
			Hold: func(context.Context, int64, int64) error {
				close(asked)
				<-room
				return nil
			}})
		if err != nil {
			t.Error(err)
		}
		got <- cs
	}()
	waittest.Until(t, "it waits at both", func() bool {
		x, err := w.Stats(t.Context(), a)
		y, err2 := w.Stats(t.Context(), b)
		return err == nil && err2 == nil && x.Waiters+y.Waiters == 2
	})
	w.put(b, "2")
	<-asked
	w.put(a, "1")
	close(room)
	if cs := <-got; len(cs) != 1 || string(cs[0].Message.Body) != "2" {
		t.Errorf("got %v", cs)
	}
	waittest.Until(t, "the other message is ready", func() bool {
		ps, err := w.Peek(t.Context(), a, queue.PeekRequest{})
		return err == nil && len(ps) == 1 && ps[0].State == queue.Ready && ps[0].Attempts == 0
	})
}

func TestATopicWhoseCallerWaitsNoLongerIsKnown(t *testing.T) {
	w := newWorld(t, 2, onDemand)
	topic := w.in(0, "topic")
	w.journals[0].Hold(true)
	ctx, cancel := context.WithCancel(t.Context())
	made := make(chan error, 1)
	w.appended(0, func() { go func() { _, err := w.CreateTopic(ctx, topic, nil); made <- err }() })
	cancel()
	if err := <-made; !errors.Is(err, context.Canceled) {
		t.Errorf("a call whose caller waits no longer answers %v", err)
	}
	w.journals[0].Hold(false)
	waittest.Until(t, "the topic is there", func() bool {
		there, err := w.HasTopic(t.Context(), topic)
		return err == nil && there
	})
	_, err := w.CreateQueue(t.Context(), topic, queue.Definition{}) // waits for what is under way
	must(t, err)
	_, err = w.Publish(t.Context(), topic, messagesOf("m"))
	must(t, err)
	w.wants(topic)
}

func TestASnapshotWhoseCallerWaitsNoLongerKeepsItsName(t *testing.T) {
	w := newWorld(t, 2, onDemand)
	a, b, name := w.in(0, "a"), w.in(1, "b"), queue.Name{Namespace: queue.DefaultNamespace, Name: "snapshot"}
	w.put(a, "1")
	w.put(b, "1")
	w.journals[0].Hold(true)
	ctx, cancel := context.WithCancel(t.Context())
	taken := make(chan error, 1)
	go func() { _, err := w.TakeSnapshot(ctx, name, a, queue.SnapshotOptions{}); taken <- err }()
	select {
	case err := <-taken:
		t.Fatal(err)
	case <-time.After(20 * time.Millisecond):
	}
	cancel()
	if err := <-taken; !errors.Is(err, context.Canceled) {
		t.Errorf("a call whose caller waits no longer answers %v", err)
	}
	soon, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if _, err := w.TakeSnapshot(soon, name, b, queue.SnapshotOptions{}); err == nil {
		t.Error("another snapshot gets the name")
	}
	w.journals[0].Hold(false)
	waittest.Until(t, "there is one snapshot of that name", func() bool {
		all, err := w.Snapshots(t.Context())
		return err == nil && len(all) == 1 && all[0].Queue == a
	})
}

func TestNobodyWaitsLongerForAnotherThanHeWants(t *testing.T) {
	w := newWorld(t, 2, onDemand)
	n := w.in(0, "q")
	w.journals[0].Hold(true)
	defer w.journals[0].Hold(false)
	w.appended(0, func() { go func() { _, _ = w.CreateQueue(context.Background(), n, queue.Definition{}) }() })
	w.appended(0, func() { go func() { _ = w.SetNotes(context.Background(), queue.Note{Room: "r", Key: "k"}) }() })
	for what, do := range map[string]func(context.Context) error{
		"create": func(ctx context.Context) error { _, err := w.CreateQueue(ctx, n, queue.Definition{}); return err },
		"delete": func(ctx context.Context) error { return w.DeleteQueue(ctx, n) },
		"note":   func(ctx context.Context) error { return w.SetNotes(ctx, queue.Note{Room: "r", Key: "k"}) },
	} {
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
		if err := do(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("%s: %v", what, err)
		}
		cancel()
	}
}

func TestAShardWithoutRoomHoldsUpNoOtherAndGoesOnWhenThereIsSome(t *testing.T) {
	for what, stop := range map[string]func(j *memory.Journal, on bool){
		"full": (*memory.Journal).Fill, "refusing": (*memory.Journal).Refuse,
	} {
		t.Run(what, func(t *testing.T) {
			w := newWorld(t, 2, onDemand)
			near, far := w.in(0, "near"), w.in(1, "far")
			w.put(far, "first")
			stop(w.journals[1], true)
			var not *ReadyError
			if err := w.Ready(t.Context()); !errors.As(err, &not) || len(not.Shards()) != 1 || not.Shards()[0] != 1 {
				t.Errorf("it says %v", err)
			}
			_, err := w.Put(t.Context(), far, messagesOf("direct"))
			if !errors.Is(err, queue.ErrNoRoom) && !errors.Is(err, queue.ErrRefused) {
				t.Errorf("the shard answers %v", err)
			}
			for _, body := range []string{"1", "2"} {
				_, _, err := w.Commit(t.Context(), queue.Change{Puts: []queue.QueuePut{
					{To: near, Messages: messagesOf(body)}, {To: far, Messages: messagesOf(body)}}})
				must(t, err)
			}
			w.settle(queue.Done, w.claim(near)...)
			w.wants(far, "first")
			stop(w.journals[1], false)
			w.quiet()
			w.wants(far, "first", "1", "2")
			must(t, w.Ready(t.Context()))
			w.put(far, "direct")
			w.after(true, onDemand).wants(far, "first", "1", "2", "direct")
		})
	}
}

func TestNobodyWaitsLongerForWhatIsOwedThanHeWants(t *testing.T) {
	w := newWorld(t, 2, onDemand)
	far := w.in(1, "far")
	w.journals[0].Refuse(true)
	note := queue.Note{Room: "r", Key: "k", Value: []byte("v")}
	if _, err := w.Noted(note).CreateQueue(t.Context(), far, queue.Definition{}); err == nil {
		t.Fatal("nothing is owed")
	}
	w.journals[0].Hold(true)
	w.journals[0].Refuse(false)
	for range 2 { // the second one waits for who pays
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
		if err := w.SetNotes(ctx, queue.Note{Room: "other", Key: "k"}); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("it answers %v", err)
		}
		cancel()
	}
	w.journals[0].Hold(false)
	must(t, w.SetNotes(t.Context(), queue.Note{Room: "other", Key: "k"}))
	if v, _, err := w.Note(t.Context(), "r", "k"); err != nil || string(v) != "v" {
		t.Errorf("the note is %q, %v", v, err)
	}
}
