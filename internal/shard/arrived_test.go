package shard

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/hikyaku/hikyaku/internal/message"
	"github.com/hikyaku/hikyaku/internal/queue"
	"github.com/hikyaku/hikyaku/internal/waittest"
)

// delivered puts a message of shard 0 into a queue of shard 1 whose lane has not let go of it: the journal of shard 0
// holds what it is told since.
func (w *world) delivered(to queue.Name, body string) {
	w.t.Helper()
	near := w.in(0, "near")
	w.journals[1].Hold(true)
	_, _, err := w.Commit(w.t.Context(), queue.Change{Puts: []queue.QueuePut{{To: near, Messages: messagesOf("n")},
		{To: to, Messages: messagesOf(body)}}})
	must(w.t, err)
	lane := laneOfChanges(to).Queue
	waittest.Until(w.t, "the carrier has it", func() bool {
		st, err := w.stores[0].Stats(w.t.Context(), lane)
		return err == nil && st.Claimed == 1
	})
	w.journals[0].Hold(true)
	w.journals[1].Hold(false)
	waittest.Until(w.t, "it has arrived", func() bool { return slices.Contains(w.bodies(to), body) })
}

func TestARenameOfItsDestinationDeliversNothingAgainAfterAnEnd(t *testing.T) {
	for _, powerCut := range []bool{false, true} {
		for _, o := range []queue.Options{onDemand, {}} {
			for _, again := range []bool{false, true} { // another queue gets the name
				w := newWorld(t, 2, o)
				out, later, near := w.in(1, "out"), w.in(0, "later"), w.in(0, "near")
				for _, n := range []queue.Name{out, near} {
					_, err := w.CreateQueue(t.Context(), n, queue.Definition{})
					must(t, err)
				}
				w.delivered(out, "once")
				renaming := make(chan struct{})
				go func() { // until shard 0, whose journal is held, knows of it, too
					defer close(renaming)
					_ = w.RenameQueue(context.Background(), out, later)
				}()
				waittest.Until(t, "it has its other name", func() bool {
					there, err := w.stores[1].Has(t.Context(), later)
					return err == nil && there
				})
				if again {
					waittest.Until(t, "the router has let go of the name", func() bool {
						_, err := w.stores[1].CreateQueue(t.Context(), out, queue.Definition{})
						if !errors.Is(err, queue.ErrElsewhere) {
							must(t, err)
						}
						return err == nil
					})
				}
				for i := range 2 {
					w = w.after(powerCut, o)
					if i == 0 {
						<-renaming
					}
					w.quiet()
					w.wants(later, "once")
					w.wants(out)
					w.wants(graveOf(out))
				}
			}
		}
	}
}

func TestADeletionOfItsDestinationDeliversNothingAgainAfterAnEnd(t *testing.T) {
	w := newWorld(t, 2, onDemand)
	out := w.in(1, "out")
	w.put(out, "first")
	w.delivered(out, "once")
	cs := w.claim(out)
	w.settle(queue.Done, cs...)
	gone := make(chan error, 1)
	go func() { gone <- w.DeleteQueue(context.Background(), out) }()
	select { // it may have to wait for the lane
	case err := <-gone:
		must(t, err)
	case <-time.After(20 * time.Millisecond):
	}
	w = w.after(true, onDemand)
	w.quiet()
	w.wants(out)
}

// TestARelayedMessageIsThereOnceWhateverItsDestinationIsCalled renames the queue to which messages of another shard
// go, while the world ends at random moments.
func TestARelayedMessageIsThereOnceWhateverItsDestinationIsCalled(t *testing.T) {
	rounds, ends := 10, 10
	if testing.Short() {
		rounds = 1
	}
	for range rounds {
		w := newWorld(t, 2, onDemand)
		in, near := w.in(0, "in"), w.in(0, "near")
		names := []queue.Name{w.in(1, "a"), w.in(1, "b"), w.in(1, "c")}
		w.put(names[0], "first")
		sent := 0
		for range ends {
			ctx, cancel := context.WithCancel(context.Background())
			var doing sync.WaitGroup
			doing.Go(func() {
				for ctx.Err() == nil {
					if r := rand.IntN(3); w.RenameQueue(ctx, names[r], names[(r+1)%3]) == nil {
						runtime.Gosched()
					}
				}
			})
			for range rand.IntN(60) {
				w.put(in, "job")
				w.put(near, "near")
				_, _, err := w.Commit(t.Context(), queue.Change{
					Settles: []queue.Settlement{{Token: w.claim(in)[0].Token}},
					Puts: []queue.QueuePut{{To: names[rand.IntN(3)],
						Messages: []message.Message{{Body: fmt.Append(nil, "m", sent)}}}}})
				must(t, err)
				sent++
			}
			next := w.after(rand.IntN(2) == 0, onDemand)
			cancel()
			doing.Wait()
			w = next
		}
		w.quiet()
		seen := map[string]int{}
		all, err := w.Queues(t.Context())
		must(t, err)
		for _, n := range all {
			for _, b := range w.bodies(n) {
				seen[b]++
			}
		}
		for i := range sent {
			if b := fmt.Sprint("m", i); seen[b] != 1 {
				t.Errorf("%s is there %d times", b, seen[b])
			}
		}
	}
}

func TestAShardFromACopyOfBeforeLosesNoMessageThatComesLater(t *testing.T) {
	for _, made := range []bool{false, true} { // the lane is in the copy
		w := newWorld(t, 2, onDemand)
		near, far := w.in(0, "near"), w.in(1, "far")
		send := func(body string) {
			t.Helper()
			_, _, err := w.Commit(t.Context(), queue.Change{Puts: []queue.QueuePut{
				{To: near, Messages: messagesOf("n")}, {To: far, Messages: messagesOf(body)}}})
			must(t, err)
			w.quiet()
		}
		w.put(near, "n")
		if made {
			send("before")
		}
		copied := w.disks[0].After(false)
		send("1")
		send("2")
		w.disks[0] = copied
		w = w.after(false, onDemand)
		for _, b := range []string{"3", "4", "5"} {
			send(b)
		}
		got := w.bodies(far)
		for _, b := range []string{"1", "2", "3", "4", "5"} {
			if !slices.Contains(got, b) {
				t.Errorf("message %s is lost: %q", b, got)
			}
		}
	}
}
