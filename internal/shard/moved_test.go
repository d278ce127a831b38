package shard

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/hikyaku/hikyaku/internal/message"
	"github.com/hikyaku/hikyaku/internal/queue"
	"github.com/hikyaku/hikyaku/internal/waittest"
)

func TestDeadLettersOfDeadLettersStayWhenTheQueueGoes(t *testing.T) {
	w := newWorld(t, 2, onDemand)
	topic, sub := w.in(0, "topic"), w.in(1, "sub")
	_, err := w.CreateTopic(t.Context(), topic, nil)
	must(t, err)
	_, err = w.CreateQueue(t.Context(), sub, queue.Definition{Topic: topic.String()})
	must(t, err)
	dead := queue.Name{Namespace: sub.Namespace, Name: sub.Name + queue.DeadEnding + queue.DeadEnding}
	w.put(dead, "1")
	must(t, w.DeleteQueue(t.Context(), sub))
	w.put(dead, "2")
	w.wants(dead, "1", "2")
	w.after(false, onDemand).wants(dead, "1", "2")
}

// appended waits until a journal has been given one more group than before.
func (w *world) appended(shard int, do func()) {
	w.t.Helper()
	before := w.journals[shard].Stats().Groups
	do()
	waittest.Until(w.t, "the journal has one more group", func() bool {
		return w.journals[shard].Stats().Groups > before
	})
}

func TestAPutThatMeetsASubscriptionInTheMakingMakesNoSecondQueue(t *testing.T) {
	w := newWorld(t, 2, onDemand)
	topic, sub := w.in(0, "topic"), w.in(1, "sub")
	for stripeOf(w.naming, sub) == stripeOf(w.naming, topic) { // else the queue would wait until the topic is made
		sub = w.in(1, sub.Name+"x")
	}
	w.journals[0].Hold(true)
	made, subscribed, put := make(chan error, 1), make(chan error, 1), make(chan error, 1)
	w.appended(0, func() {
		go func() { _, err := w.CreateTopic(context.Background(), topic, nil); made <- err }()
	})
	go func() {
		_, err := w.CreateQueue(context.Background(), sub, queue.Definition{Topic: topic.String()})
		subscribed <- err
	}()
	waittest.Until(t, "the queue is looked for by its topic", func() bool { return w.places.queue(sub) == 0 })
	go func() { _, err := w.Put(context.Background(), sub, messagesOf("1")); put <- err }()
	for range 20 { // it may be before the subscription, or wait for it
		runtime.Gosched()
	}
	w.journals[0].Hold(false)
	must(t, <-made)
	must(t, <-put)
	if err := <-subscribed; !errors.Is(err, queue.ErrExists) && !errors.Is(err, queue.ErrDefinition) {
		t.Log(err)
	}
	w.put(sub, "2")
	w.wants(sub, "1", "2")
	w.shardOf(sub)
	w.after(false, onDemand).wants(sub, "1", "2")
}

func TestPutsThatMeetADeletionMakeNoSecondQueue(t *testing.T) {
	w := newWorld(t, 2, onDemand)
	topic := w.in(0, "topic")
	_, err := w.CreateTopic(t.Context(), topic, nil)
	must(t, err)
	for round := range 200 {
		sub := w.in(1, fmt.Sprint("sub", round, "x"))
		_, err := w.CreateQueue(t.Context(), sub, queue.Definition{Topic: topic.String()})
		must(t, err)
		w.journals[0].Hold(true)
		deleted := make(chan error, 1)
		w.appended(0, func() { go func() { deleted <- w.DeleteQueue(context.Background(), sub) }() })
		var putting sync.WaitGroup
		for range 4 { // they wait for the deletion
			putting.Go(func() {
				if _, err := w.Put(context.Background(), sub, messagesOf("m")); err != nil {
					t.Error(err)
				}
			})
		}
		for range 20 {
			runtime.Gosched()
		}
		w.journals[0].Hold(false)
		must(t, <-deleted)
		putting.Wait()
		w.wants(sub, "m", "m", "m", "m")
		w.shardOf(sub)
		if t.Failed() {
			t.Fatal(round)
		}
	}
}

func TestARenameIsKnownEverywhereAlsoWhenItsCallerWaitsNoLonger(t *testing.T) {
	w := newWorld(t, 2, onDemand)
	a, b, jobs := w.in(0, "a"), w.in(1, "b"), w.in(1, "jobs")
	w.put(a, "1")
	_, err := w.CreateQueue(t.Context(), jobs, queue.Definition{DeadLetter: a.String()})
	must(t, err)
	w.journals[0].Hold(true)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	w.appended(0, func() {
		go func() {
			defer close(done)
			_ = w.RenameQueue(ctx, a, b)
		}()
	})
	cancel()
	select { // either is right
	case <-done:
	case <-time.After(10 * time.Millisecond):
	}
	w.journals[0].Hold(false)
	<-done
	for range 2 {
		w.wants(b, "1")
		if d, _, err := w.Definition(t.Context(), jobs); err != nil || d.DeadLetter != b.String() {
			t.Errorf("dead letters go to %s, %v", d.DeadLetter, err)
		}
		w = w.after(false, onDemand)
	}
}

func TestALetterThatMeetsAQueueOnTheMoveIsKept(t *testing.T) {
	w := newWorld(t, 2, onDemand)
	topic := w.in(0, "topic")
	_, err := w.CreateTopic(t.Context(), topic, nil)
	must(t, err)
	for round := range 100 {
		sub, jobs := w.in(1, fmt.Sprint("sub", round, "x")), w.in(0, fmt.Sprint("jobs", round, "x"))
		_, err := w.CreateQueue(t.Context(), jobs, queue.Definition{DeadLetter: sub.String()})
		must(t, err)
		_, err = w.CreateQueue(t.Context(), sub, queue.Definition{Topic: topic.String()})
		must(t, err)
		w.put(jobs, "a", "b", "c", "d")
		cs := w.claim(jobs)
		var doing sync.WaitGroup
		doing.Go(func() {
			if err := w.DeleteQueue(context.Background(), sub); err != nil {
				t.Error(err)
			}
		})
		for i := range cs {
			doing.Go(func() {
				errs, err := w.Settle(context.Background(), []queue.Settlement{{Token: cs[i].Token, Kind: queue.Dead}})
				if err := errors.Join(append(errs, err)...); err != nil {
					t.Error(err)
				}
			})
		}
		doing.Wait()
		w.quiet()
		w.shardOf(sub)
		w.put(sub, "last")
		w.wants(jobs)
		if t.Failed() {
			t.Fatal(round)
		}
	}
}

func TestAReplayNamesNothingOfTheRelay(t *testing.T) {
	w := newWorld(t, 2, onDemand)
	jobs, near := w.in(0, "jobs"), w.in(0, "near")
	far := w.in(1, "far")
	w.put(jobs, "1", "2")
	stop, toggled := make(chan struct{}), make(chan struct{})
	names := make([]queue.Name, 300)
	for i := range names {
		names[i] = w.in(0, fmt.Sprint("aside", i, "x"))
	}
	go func() {
		defer close(toggled)
		for {
			select {
			case <-stop:
				return
			default:
				w.places.hold(names)()
				runtime.Gosched()
			}
		}
	}()
	from := jobs
	for _, to := range names {
		done, err := w.Replay(t.Context(), from, queue.ReplayRequest{To: to})
		if err != nil || done.Moved != 2 {
			t.Fatalf("a replay to a queue on the move: %+v, %v", done, err)
		}
		from = to
		waittest.Until(t, "they are there", func() bool { return len(w.bodies(to)) == 2 })
	}
	close(stop)
	<-toggled
	_, err := w.Replay(t.Context(), from, queue.ReplayRequest{To: jobs})
	must(t, err)

	w.put(far, "first")
	w.journals[1].Hold(true)
	defer w.journals[1].Hold(false)
	for _, n := range []queue.Name{near, far} { // the lane of changes is another one
		w.put(near, n.Name)
	}
	group := make([]message.Message, 5000)
	lane := laneTo(far, queue.AQueue)
	must(t, w.makeLane(t.Context(), 0, lane))
	for range laneMessages / len(group) {
		_, err := w.stores[0].Put(t.Context(), lane.Queue, group)
		must(t, err)
	}
	_, err = w.Replay(t.Context(), jobs, queue.ReplayRequest{To: far})
	var full *queue.FullError
	if !errors.As(err, &full) || full.Name != far || strings.Contains(err.Error(), laneNamespace) {
		t.Errorf("a replay that its lane has no room for says %v", err)
	}
	if got := w.bodies(jobs); len(got) != 2 {
		t.Errorf("what was not replayed is %q", got)
	}
}
