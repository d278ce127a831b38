package shard

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/hikyaku/hikyaku/internal/journal"
	"github.com/hikyaku/hikyaku/internal/journal/memory"
	"github.com/hikyaku/hikyaku/internal/queue"
	"github.com/hikyaku/hikyaku/internal/waittest"
)

// resumable is a world whose shards come back after a failure, as soon as open lets them.
func resumable(t *testing.T, shards int, open <-chan struct{}) *world {
	disks := make([]*memory.Disk, shards)
	for i := range disks {
		disks[i] = memory.New()
	}
	o := Options{Store: queue.Options{OnDemand: true}, idle: 20 * time.Millisecond}
	o.Reopen = func(ctx context.Context, _ int, j journal.Journal, why error) (journal.Journal, error) {
		select {
		case <-open:
			return j.(journal.Reopener).Reopen(ctx)
		case <-ctx.Done():
			return nil, why
		}
	}
	o.Lost = func(shard int, err error) { t.Errorf("shard %d is lost: %v", shard, err) }
	return startWorldOf(t, disks, o)
}

func opened() <-chan struct{} {
	c := make(chan struct{})
	close(c)
	return c
}

// interrupt has the journal of a shard fail at its next group, which is there all the same, or not.
func (w *world) interrupt(shard int, kept bool) {
	if j := w.disks[shard].Owner(); j != nil {
		j.InterruptNext(true, kept)
	}
}

func (w *world) isReady() bool { return w.Ready(w.t.Context()) == nil }

// TestAShardThatFailedComesBackAloneWhileTheOthersServe, and says meanwhile that it will.
func TestAShardThatFailedComesBackAloneWhileTheOthersServe(t *testing.T) {
	for _, kept := range []bool{false, true} {
		t.Run(fmt.Sprintf("kept %t", kept), func(t *testing.T) {
			open := make(chan struct{})
			w := resumable(t, 3, open)
			away, other := w.in(1, "away"), w.in(2, "other")
			w.put(away, "one", "two")
			owner := w.NewOwner("reader")
			defer owner.Close()
			held, err := w.Claim(t.Context(), queue.ClaimRequest{From: from(away), Owner: owner})
			must(t, err)
			leased := w.claim(away)
			empty := w.in(1, "empty")
			_, err = w.CreateQueue(t.Context(), empty, queue.Definition{})
			must(t, err)
			waiting := make(chan error)
			go func() {
				_, err := w.Claim(t.Context(), queue.ClaimRequest{From: from(empty, other), Wait: time.Hour})
				waiting <- err
			}()
			waittest.Until(t, "somebody waits", func() bool {
				st, err := w.Stats(t.Context(), empty)
				return err == nil && st.Waiters == 1
			})
			w.interrupt(1, kept)
			isAway := func(what string, err error) {
				t.Helper()
				if !errors.Is(err, queue.ErrUnavailable) || !errors.Is(err, journal.ErrReopen) {
					t.Errorf("%s: %v", what, err)
				}
			}
			_, err = w.Put(t.Context(), away, messagesOf("three"))
			isAway("the put at which it fails", err)
			isAway("who waits there and elsewhere", <-waiting)
			_, err = w.Put(t.Context(), away, messagesOf("four"))
			isAway("a put while it is away", err)
			_, err = w.Stats(t.Context(), away)
			isAway("a look while it is away", err)
			var not *ReadyError
			if err := w.Ready(t.Context()); !errors.As(err, &not) || !slices.Equal(not.Shards(), []int{1}) {
				t.Errorf("while it is away: %v", err)
			}
			w.put(other, "served")
			w.settle(queue.Done, w.claim(other)...)
			close(open)
			waittest.Until(t, "it is back", w.isReady)
			w.settle(queue.Done, leased...) // a lease goes on
			if errs, err := w.Settle(t.Context(), []queue.Settlement{{Token: held[0].Token}}); err != nil ||
				!errors.Is(errs[0], queue.ErrStale) {
				t.Errorf("a claim of an owner, which went back: %v, %v", errs, err)
			}
			want := []string{"one"}
			if kept {
				want = append(want, "three")
			}
			cs, err := w.Claim(t.Context(), queue.ClaimRequest{From: from(away), Owner: owner, Max: 10})
			must(t, err)
			var got []string
			for i := range cs {
				got = append(got, string(cs[i].Message.Body))
			}
			if !slices.Equal(got, want) {
				t.Errorf("there is %q, not %q", got, want)
			}
			w.put(away, "five")
		})
	}
}

// TestARelayedMessageIsThereOnceWhateverShardsFail lets shards fail again and again, at the same time, too, while
// messages go from one to another and back, and their destinations get other names.
func TestARelayedMessageIsThereOnceWhateverShardsFail(t *testing.T) {
	for seed := range uint64(8) {
		random := rand.New(rand.NewPCG(seed, 85))
		w := resumable(t, 3, opened())
		sources := []queue.Name{w.in(1, "first"), w.in(2, "second")}
		var mu sync.Mutex
		acknowledged := map[string]bool{}
		ctx, stop := context.WithCancel(t.Context())
		var all sync.WaitGroup
		for i, n := range sources {
			_, err := w.CreateQueue(t.Context(), n, queue.Definition{})
			must(t, err)
			to := w.in(2-i, "sink")
			all.Go(func() {
				for k := 0; ctx.Err() == nil; k++ {
					body := fmt.Sprintf("%d-%d", i, k)
					_, _, err := w.Commit(ctx, queue.Change{Puts: []queue.QueuePut{
						{To: n, Messages: messagesOf("here " + body)},
						{To: to, Messages: messagesOf("there " + body)}}})
					if err == nil {
						mu.Lock()
						acknowledged[body] = true
						mu.Unlock()
					}
				}
			})
			all.Go(func() {
				for k := 0; ctx.Err() == nil; k++ {
					other := to
					other.Name = fmt.Sprintf("%s-%d", to.Name, k)
					_ = w.RenameQueue(ctx, to, other) // it may be away, or not be there yet
					time.Sleep(time.Millisecond)
				}
			})
		}
		count := func() int {
			mu.Lock()
			defer mu.Unlock()
			return len(acknowledged)
		}
		for range 10 {
			time.Sleep(time.Duration(random.IntN(8)) * time.Millisecond) // work goes on meanwhile
			w.interrupt(1+random.IntN(2), random.IntN(2) == 0)
			if random.IntN(2) == 0 {
				w.interrupt(1+random.IntN(2), random.IntN(2) == 0)
			}
			before := count()
			waittest.Until(t, "work goes on", func() bool { return count() > before+1 })
		}
		stop()
		all.Wait()
		for _, shard := range []int{1, 2} { // what was to fail and has not got to it
			if j := w.disks[shard].Owner(); j != nil {
				j.InterruptNext(false, false)
			}
		}
		waittest.Until(t, "all are back", w.isReady)
		w.quiet()
		seen := map[string]int{}
		names, err := w.Queues(t.Context())
		must(t, err)
		for _, n := range names {
			for _, b := range w.bodies(n) {
				seen[b]++
			}
		}
		for b, times := range seen {
			if times > 1 {
				t.Errorf("seed %d: %q is there %d times", seed, b, times)
			}
			where, body, _ := strings.Cut(b, " ")
			other := "there " + body
			if where == "there" {
				other = "here " + body
			}
			if seen[other] != 1 {
				t.Errorf("seed %d: %q is there, and %q is not", seed, b, other)
			}
		}
		for body := range acknowledged {
			if seen["here "+body] != 1 || seen["there "+body] != 1 {
				t.Errorf("seed %d: %q was acknowledged, and is there %d and %d times", seed, body, seen["here "+body],
					seen["there "+body])
			}
		}
		must(t, w.Close())
	}
}

// TestADefinitionOfUnknownFateIsKnownOnceItsShardIsBack, and nobody changes meanwhile the notes that it has to change.
func TestADefinitionOfUnknownFateIsKnownOnceItsShardIsBack(t *testing.T) {
	for _, kept := range []bool{false, true} {
		t.Run(fmt.Sprintf("kept %t", kept), func(t *testing.T) {
			open := make(chan struct{})
			w := resumable(t, 3, open)
			n := w.in(1, "noted")
			note := queue.Note{Room: "test", Key: "which", Value: []byte("with the queue")}
			w.interrupt(1, kept)
			if _, err := w.Noted(note).CreateQueue(t.Context(), n, queue.Definition{}); !errors.Is(err,
				queue.ErrUnavailable) {
				t.Fatalf("a definition whose fate is unknown: %v", err)
			}
			later := note
			later.Value = []byte("later")
			if err := w.SetNotes(t.Context(), later); !errors.Is(err, queue.ErrUnavailable) {
				t.Errorf("a note that may be overtaken by one from before: %v", err)
			}
			close(open)
			waittest.Until(t, "it is back", w.isReady)
			there, err := w.stores[1].Has(t.Context(), n)
			must(t, err)
			value, noted, err := w.Note(t.Context(), note.Room, note.Key)
			must(t, err)
			if there != kept || noted != kept || kept && string(value) != "with the queue" {
				t.Errorf("the queue is there: %t, its note: %t %q", there, noted, value)
			}
			must(t, w.SetNotes(t.Context(), later))
		})
	}
}

// TestARenameOfUnknownFateIsKnownOnceItsShardIsBack: until then nobody makes a queue of either name elsewhere.
func TestARenameOfUnknownFateIsKnownOnceItsShardIsBack(t *testing.T) {
	for _, kept := range []bool{false, true} {
		t.Run(fmt.Sprintf("kept %t", kept), func(t *testing.T) {
			open := make(chan struct{})
			w := resumable(t, 3, open)
			old, now := w.in(1, "old"), w.in(2, "now")
			w.put(old, "one")
			w.interrupt(1, kept)
			if err := w.RenameQueue(t.Context(), old, now); !errors.Is(err, queue.ErrUnavailable) {
				t.Fatalf("a rename whose fate is unknown: %v", err)
			}
			for _, n := range []queue.Name{old, now} {
				if _, err := w.Put(t.Context(), n, messagesOf("two")); !errors.Is(err, queue.ErrUnavailable) {
					t.Errorf("a put to %s: %v", n.Short(), err)
				}
			}
			close(open)
			waittest.Until(t, "it is back", w.isReady)
			at := old
			if kept {
				at = now
			}
			w.put(at, "three")
			w.wants(at, "one", "three")
		})
	}
}

// TestAShardThatDoesNotComeBackIsTold, and shard 0 never comes back by itself: others have its notes in memory.
func TestAShardThatDoesNotComeBackIsTold(t *testing.T) {
	for shard := range 2 {
		disks := []*memory.Disk{memory.New(), memory.New()}
		lost := make(chan int, 2)
		asked := 0
		w := startWorldOf(t, disks, Options{Store: queue.Options{OnDemand: true},
			Reopen: func(_ context.Context, _ int, _ journal.Journal, why error) (journal.Journal, error) {
				asked++
				return nil, why
			},
			Lost: func(shard int, _ error) { lost <- shard }})
		w.interrupt(shard, false)
		if _, err := w.Put(t.Context(), w.in(shard, "q"), messagesOf("one")); !errors.Is(err, queue.ErrUnavailable) {
			t.Error(err)
		}
		if got := <-lost; got != shard || asked != shard {
			t.Errorf("shard %d is told to be lost, and was asked for %d times", got, asked)
		}
		w.put(w.in(1-shard, "q"), "served")
		must(t, w.Close())
	}
}
