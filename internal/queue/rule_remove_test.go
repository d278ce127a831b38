package queue

import (
	"context"
	"errors"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

func mustRemove(t *testing.T, s *Store, n Name, sequences ...uint64) int {
	t.Helper()
	count, err := s.Remove(context.Background(), n, sequences)
	if err != nil {
		t.Fatal(err)
	}
	return count
}

// TestRuleARemovalTakesWhatNobodyHoldsInOneRecord removes ready, sleeping and waiting messages, whatever their order
// and however often they are named, and leaves what is claimed; so does a start.
func TestRuleARemovalTakesWhatNobodyHoldsInOneRecord(t *testing.T) {
	bubble(t, func(t *testing.T) {
		m := newMemory()
		var ahead atomic.Int64 // of the clock, while nobody who sleeps is woken
		s := open(t, m, func(o *Options) {
			o.Clock = func() time.Time { return time.Now().Add(time.Duration(ahead.Load())) }
		})
		ms := text("a", "b", "c", "d", "e", "f", "g", "h")
		ms[3].NotBefore = time.Now().Add(time.Hour)
		ms[5].Key, ms[6].Key, ms[7].Key = "k", "k", "k"
		mustPut(t, s, news, ms...)
		held := mustClaim(t, s, ClaimRequest{From: from(news), Max: 2, Lease: time.Minute})
		before := len(m.Groups())
		if n := mustRemove(t, s, news, 99, 8, 4, 1, 3, 3, 7, 0); n != 4 { // not 1: it is claimed; nor 0 and 99
			t.Errorf("%d were removed", n)
		}
		if n := len(m.Groups()); n != before+1 || len(m.last().Records) != 1 {
			t.Errorf("it took %d groups", n-before)
		}
		if got := there(t, s, news); got != "a b e f" {
			t.Errorf("there are %q", got)
		}
		if n := mustRemove(t, s, news, 3, 4, 7, 8); n != 0 {
			t.Errorf("%d were removed a second time", n)
		}
		st, err := s.Stats(t.Context(), news)
		if err != nil || st.TotalPurged != 4 || st.TotalDone != 0 || st.Delayed != 0 || st.Messages() != 4 {
			t.Errorf("statistics: %+v, %v", st, err)
		}
		if len(unreleased(m)) != 4 {
			t.Errorf("the journal keeps %d records for 4 messages", len(unreleased(m)))
		}
		settle(t, s, Settlement{Token: held[0].Token, Kind: Back})
		if n := mustRemove(t, s, news, 1, 2); n != 1 {
			t.Errorf("%d of one that was put back and one that is claimed were removed", n)
		}
		ahead.Store(int64(time.Hour)) // the lease of the other has ended
		if n := mustRemove(t, s, news, 2); n != 1 {
			t.Errorf("%d were removed of one whose lease has ended", n)
		}
		if got := there(t, open(t, m.after(true)), news); got != "e f" {
			t.Errorf("after a power cut there are %q", got)
		}
	})
}

// TestRuleWhatIsBeingRemovedCannotBeClaimed looks while a removal is on its way: it is nobody's, and comes back when
// the journal refuses.
func TestRuleWhatIsBeingRemovedCannotBeClaimed(t *testing.T) {
	bubble(t, func(t *testing.T) {
		m := newMemory()
		s := open(t, m)
		ms := text("a", "b", "c")
		ms[1].Key, ms[2].Key = "k", "k"
		mustPut(t, s, news, ms...)
		for _, refused := range []bool{true, false} {
			m.hold(true)
			m.Refuse(refused)
			answer := make(chan error, 1)
			go func() {
				_, err := s.Remove(context.Background(), news, []uint64{1, 2})
				answer <- err
			}()
			synctest.Wait()
			if c := mustClaim(t, s, ClaimRequest{From: from(news), Max: 9}); len(c) != 0 {
				t.Errorf("claimed %q meanwhile", bodies(c)) // not c either: what is in front of it may come back
			}
			if n := mustRemove(t, s, news, 1, 2); n != 0 {
				t.Errorf("%d were removed twice", n)
			}
			m.hold(false)
			if err := <-answer; (err != nil) != refused {
				t.Fatal(err)
			}
			want := "c"
			if refused {
				want = "a b c"
			}
			m.Refuse(false)
			if got := there(t, s, news); got != want {
				t.Errorf("refused %v: there are %q", refused, got)
			}
		}
		if c := mustClaim(t, s, ClaimRequest{From: from(news), Max: 9}); bodies(c) != "c" {
			t.Errorf("claimed %q", bodies(c))
		}
	})
}

// TestRuleWhatWasPurgedOrRemovedComesBackWithASnapshotAlone purges what is claimed and removes what is not: afterwards
// tokens are stale and neither the end of an owner, nor a lease, nor a seek in time, nor a restart revives any of it; a
// snapshot that was taken before does.
func TestRuleWhatWasPurgedOrRemovedComesBackWithASnapshotAlone(t *testing.T) {
	for _, snapshot := range []bool{false, true} {
		bubble(t, func(t *testing.T) {
			ctx := context.Background()
			m := newMemory()
			s := open(t, m)
			if _, err := s.CreateQueue(ctx, news, Definition{History: time.Hour}); err != nil {
				t.Fatal(err)
			}
			began := time.Now()
			mustPut(t, s, news, text("removed", "owned", "leased")...)
			if snapshot {
				if _, err := s.TakeSnapshot(ctx, Name{DefaultNamespace, "s"}, news, SnapshotOptions{}); err != nil {
					t.Fatal(err)
				}
			}
			mustRemove(t, s, news, 1)
			owner := s.NewOwner("o")
			claims := append(mustClaim(t, s, ClaimRequest{From: from(news), Owner: owner}),
				mustClaim(t, s, ClaimRequest{From: from(news), Lease: time.Minute})...)
			if n, err := s.Purge(ctx, news); n != 2 || err != nil {
				t.Fatalf("purged %d, %v", n, err)
			}
			for _, kind := range []SettleKind{Done, Back, Dead} {
				for _, c := range claims {
					if errs, err := s.Settle(ctx, []Settlement{{Token: c.Token, Kind: kind}}); err != nil ||
						!errors.Is(errs[0], ErrStale) {
						t.Errorf("settling what was purged: %v, %v", errs, err)
					}
				}
			}
			if errs, err := s.Extend(ctx, []Token{claims[0].Token}, time.Minute); err != nil ||
				!errors.Is(errs[0], ErrStale) {
				t.Errorf("extending what was purged: %v, %v", errs, err)
			}
			owner.Close()
			time.Sleep(2 * time.Minute)
			if !snapshot { // what one holds comes back with any seek
				if got := mustSeek(t, s, news, SeekTo{Time: began}); got.Back != 0 {
					t.Errorf("a seek in time brings back %d", got.Back)
				}
			}
			for _, x := range []*Store{s, open(t, m.after(false)), open(t, m.after(true))} {
				if got := there(t, x, news); got != "" {
					t.Errorf("there are %q", got)
				}
			}
			if snapshot {
				mustSeek(t, s, news, SeekTo{Snapshot: Name{DefaultNamespace, "s"}})
				if got := there(t, s, news); got != "removed owned leased" {
					t.Errorf("the snapshot brings back %q", got)
				}
			}
		})
	}
}

func TestManyMessagesAreRemovedInGroupsOfTenThousand(t *testing.T) {
	bubble(t, func(t *testing.T) {
		m := newMemory()
		s := open(t, m)
		var all []uint64
		for range 3 {
			for _, r := range mustPut(t, s, news, countedUp(0, 5000)...) {
				all = append(all, r.Sequence)
			}
		}
		slices.Reverse(all)
		before := len(m.Groups())
		if n := mustRemove(t, s, news, all...); n != 15000 {
			t.Errorf("%d were removed", n)
		}
		groups := m.Groups()[before:]
		if len(groups) != 2 || len(groups[0].Records[0].Head) > 40 {
			t.Errorf("it took %d groups, of %d bytes the first", len(groups), len(groups[0].Records[0].Head))
		}
		if _, err := s.Remove(context.Background(), Name{DefaultNamespace, "nowhere"}, []uint64{1}); !errors.Is(err,
			ErrNotFound) {
			t.Errorf("removing from a queue that is not there: %v", err)
		}
	})
}
