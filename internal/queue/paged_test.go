package queue

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"github.com/hikyaku/hikyaku/internal/journal"
	"github.com/hikyaku/hikyaku/internal/message"
)

// pageRecords are the addresses of the pages that were written and not released.
func pageRecords(m *memory) (addrs []journal.Address) {
	for a := range unreleased(m) {
		r, _ := m.Record(a)
		if _, e, err := decodeEvent(r.Head); err == nil && e.kind() == kindPaged {
			addrs = append(addrs, a)
		}
	}
	return addrs
}

func countedUp(from, n int) (ms []message.Message) {
	for i := range n {
		ms = append(ms, message.Message{Body: fmt.Append(nil, from+i)})
	}
	return ms
}

// TestCheckpointsOfWrittenPagesGiveTheSameState lives with queues of several pages, takes checkpoints, dies, and
// compares the state with what a start finds. No record of a page is kept too long or given away too early.
func TestCheckpointsOfWrittenPagesGiveTheSameState(t *testing.T) {
	cases(t, 40, 2)
	synctest.Test(t, func(t *testing.T) {
		rapid.Check(noDeadline{t}, func(t *rapid.T) {
			ctx := context.Background()
			mem := newMemory()
			var s *Store
			start := func() {
				var err error
				if s, err = Open(ctx, Options{Journal: mem, OnDemand: true, CheckpointBytes: 1 << 40}); err != nil {
					t.Fatal(err)
				}
			}
			start()
			defer func() { _ = s.Close(); mem.Close() }()
			if _, err := s.CreateTopic(ctx, Name{DefaultNamespace, "t"}, nil); err != nil {
				t.Fatal(err)
			}
			a, b := Name{DefaultNamespace, "a"}, Name{DefaultNamespace, "b"}
			for n, d := range map[Name]Definition{a: {Topic: "default/t", History: time.Hour},
				b: {Topic: "default/t"}} {
				if _, err := s.CreateQueue(ctx, n, d); err != nil {
					t.Fatal(err)
				}
			}
			some := func(t *rapid.T) Name { return rapid.SampledFrom([]Name{a, b, news}).Draw(t, "queue") }
			began := time.Now()
			put := 0
			var tokens []Token
			t.Repeat(map[string]func(*rapid.T){
				"put": func(t *rapid.T) {
					ms := countedUp(put, rapid.SampledFrom([]int{10, 200, 300}).Draw(t, "messages"))
					put += len(ms)
					for i := range ms {
						if i%7 == 0 {
							ms[i].Key = rapid.SampledFrom([]string{"", "k"}).Draw(t, "key")
						}
						if i%5 == 0 {
							ms[i].Expires = began.Add(time.Duration(rapid.IntRange(1, 100).Draw(t,
								"expires")) * time.Minute)
						}
					}
					if rapid.Bool().Draw(t, "publish") {
						_, err := s.Publish(ctx, Name{DefaultNamespace, "t"}, ms)
						if err != nil {
							t.Fatal(err)
						}
					} else if _, err := s.Put(ctx, some(t), ms); err != nil {
						t.Fatal(err)
					}
				},
				"claim": func(t *rapid.T) {
					cs, err := s.Claim(ctx,
						ClaimRequest{From: from(some(t)), Max: rapid.SampledFrom([]int{1, 5, 250, 600}).Draw(t, "max"),
							Lease: 20 * time.Minute})
					if err != nil && !strings.Contains(err.Error(), "no such") {
						t.Fatal(err)
					}
					for _, c := range cs {
						tokens = append(tokens, c.Token)
					}
				},
				"settle": func(t *rapid.T) {
					n := rapid.SampledFrom([]int{1, 40, 500}).Draw(t, "settlements")
					var ss []Settlement
					for ; n > 0 && len(tokens) > 0; n-- {
						i := rapid.IntRange(0, min(3, len(tokens)-1)).Draw(t, "which")
						ss = append(ss, Settlement{Token: tokens[i],
							Kind: SettleKind(rapid.SampledFrom([]int{0, 0, 0, 1}).Draw(t, "kind"))})
						tokens = append(tokens[:i], tokens[i+1:]...)
					}
					if _, err := s.Settle(ctx, ss); err != nil {
						t.Fatal(err)
					}
				},
				"seek": func(t *rapid.T) {
					n := rapid.SampledFrom([]Name{a, b}).Draw(t, "queue")
					if _, err := s.Seek(ctx, n,
						SeekTo{Time: began.Add(time.Duration(rapid.IntRange(0, 60).Draw(t,
							"minutes")) * time.Minute)}); err != nil {
						t.Fatal(err)
					}
				},
				"remove": func(t *rapid.T) {
					n := some(t)
					q := s.state.queueNames[n]
					if q == nil {
						t.Skip("it was never made")
					}
					first := rapid.Uint64Range(1, q.next).Draw(t, "first")
					var seqs []uint64
					for i := range rapid.SampledFrom([]uint64{1, 100, 400}).Draw(t, "how many") {
						if i%13 != 7 {
							seqs = append(seqs, first+i)
						}
					}
					if _, err := s.Remove(ctx, n, seqs); err != nil {
						t.Fatal(err)
					}
				},
				"purge": func(t *rapid.T) {
					if rapid.IntRange(0, 5).Draw(t, "whether") == 0 {
						_, _ = s.Purge(ctx, some(t))
					}
				},
				"time": func(t *rapid.T) {
					time.Sleep(time.Duration(rapid.IntRange(1, 10).Draw(t,
						"minutes")) * time.Minute)
				},
				"checkpoint": func(t *rapid.T) { checkpointNow(t, s) },
				"death": func(t *rapid.T) {
					next := mem.after(false)
					_ = s.Close()
					mem.Close()
					mem = next
					start()
				},
				"": func(t *rapid.T) {
					time.Sleep(time.Millisecond)
					synctest.Wait()
					s.mu.Lock()
					s.catchUp()
					s.mu.Unlock()
					synctest.Wait()
					s.mu.Lock()
					defer s.mu.Unlock()
					now := portrait(s.state) + claimability(s.state, s.state)
					for _, checkpoints := range []bool{false, true} {
						start := folded(t, mem, checkpoints, time.Now())
						if again := portrait(start) + claimability(start, s.state); again != now {
							t.Fatalf("the state is\n%sand a start (checkpoints: %v) finds\n%s", now, checkpoints, again)
						}
					}
					there := unreleased(mem)
					for a := range s.state.live() {
						if !there[a] {
							t.Fatalf("%v is needed and was released", a)
						}
						delete(there, a)
					}
					for a := range there {
						t.Fatalf("%v is needed no more and was not released", a)
					}
				},
			})
		})
	})
}

func checkpointNow(t interface{ Fatal(...any) }, s *Store) {
	if err := s.checkpoint(context.Background()); err != nil {
		t.Fatal(err)
	}
}

// TestACheckpointIsSmallWhateverWaits compares checkpoints of a short queue and a long one.
func TestACheckpointIsSmallWhateverWaits(t *testing.T) {
	bubble(t, func(t *testing.T) {
		m := newMemory()
		s := open(t, m)
		mustPut(t, s, news, countedUp(0, 9000)...)
		checkpointNow(t, s)
		if n := len(m.Checkpoints()[len(m.Checkpoints())-1]); n > 9000*2 {
			t.Errorf("the checkpoint of 9000 messages has %d bytes", n)
		}
		if n := len(pageRecords(m)); n != 9000/pageSize {
			t.Errorf("%d pages were written, %d are complete", n, 9000/pageSize)
		}
	})
}

// TestTheRecordOfAPageStaysUntilNoCheckpointNeedsIt starts from the older of two checkpoints, whose pages are all
// settled by then.
func TestTheRecordOfAPageStaysUntilNoCheckpointNeedsIt(t *testing.T) {
	bubble(t, func(t *testing.T) {
		m := newMemory()
		s := open(t, m)
		mustPut(t, s, news, countedUp(0, 600)...)
		checkpointNow(t, s)
		settleOldest(t, s, news, 599)
		checkpointNow(t, s)
		older := m.after(false)
		if err := older.DamageCheckpoint(); err != nil {
			t.Fatal(err)
		}
		if got := there(t, open(t, older), news); got != "599" {
			t.Errorf("a start from the older checkpoint finds %q", got)
		}
		if n := len(pageRecords(m)); n != 2 {
			t.Errorf("%d records of pages are kept, 2 checkpoints need those of 2", n)
		}
		checkpointNow(t, s)
		time.Sleep(time.Second)
		if n := len(pageRecords(m)); n != 0 {
			t.Errorf("%d records of pages are kept, no checkpoint needs any", n)
		}
	})
}

// TestADamagedPageIsMadeAgainFromThePuts flips a record of a page: while the log has the puts nothing is lost, and the
// page is written anew.
func TestADamagedPageIsMadeAgainFromThePuts(t *testing.T) {
	bubble(t, func(t *testing.T) {
		m := newMemory()
		s := open(t, m)
		mustPut(t, s, news, countedUp(0, 600)...)
		settleOldest(t, s, news, 7)
		checkpointNow(t, s)
		want := there(t, s, news)
		next := m.after(false)
		bad := pageRecords(next)
		for _, a := range bad {
			next.Damage(a)
		}
		again := open(t, next)
		if got := there(t, again, news); got != want {
			t.Errorf("a start with damaged pages finds %q, want %q", got, want)
		}
		for range 3 {
			checkpointNow(t, again)
		}
		time.Sleep(time.Second)
		for _, a := range pageRecords(next) {
			if slices.Contains(bad, a) {
				t.Errorf("%v is damaged and still kept", a)
			}
		}
	})
}

// TestADamagedPageWhosePutsAreGoneStopsTheStart takes the puts away as well: then the start says which messages it
// cannot find.
func TestADamagedPageWhosePutsAreGoneStopsTheStart(t *testing.T) {
	bubble(t, func(t *testing.T) {
		m := newMemory()
		s := open(t, m)
		mustPut(t, s, news, countedUp(0, 600)...)
		checkpointNow(t, s)
		next := m.after(false)
		defer next.Close()
		for _, a := range pageRecords(next) {
			next.Damage(a)
		}
		next.Lose(func(g journal.Group) bool { return len(g.Records) == 600 }) // moved away by a journal that cleans
		_, err := Open(t.Context(), Options{Journal: next})
		if err == nil || !strings.Contains(err.Error(), "messages 0 to 255 of queue news") {
			t.Errorf("the start said: %v", err)
		}
	})
}

// TestAFullDiskLeavesPagesInTheCheckpoint takes a checkpoint when the journal takes no message.
func TestAFullDiskLeavesPagesInTheCheckpoint(t *testing.T) {
	bubble(t, func(t *testing.T) {
		m := newMemory()
		s := open(t, m)
		mustPut(t, s, news, countedUp(0, 600)...)
		m.Fill(true)
		checkpointNow(t, s)
		if n := len(pageRecords(m)); n != 0 {
			t.Errorf("%d pages were written on a full disk", n)
		}
		next := m.after(false)
		last := next.End()
		next.Lose(func(g journal.Group) bool { return g.Position < last }) // the checkpoint has to have it all
		if st, err := open(t, next).Stats(t.Context(), news); err != nil || st.Ready != 600 {
			t.Errorf("a start finds %d messages, %v", st.Ready, err)
		}
	})
}

func TestACheckpointThatIsAskedForIsThereWhenTheAnswerComes(t *testing.T) {
	bubble(t, func(t *testing.T) {
		m := newMemory()
		s := open(t, m)
		mustPut(t, s, news, text("a", "b", "c")...)
		end := m.End()
		if err := s.Checkpoint(t.Context()); err != nil {
			t.Fatal(err)
		}
		at, r, _, err := m.LoadCheckpoint(t.Context())
		if err != nil || at < end {
			t.Fatalf("the newest checkpoint is at %d, the messages end at %d: %v", at, end, err)
		}
		_ = r.Close() // it was only asked for
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		if err := s.Checkpoint(t.Context()); !errors.Is(err, ErrClosed) {
			t.Errorf("a Store that is closed: %v", err)
		}
	})
}
