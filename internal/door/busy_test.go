package door

import (
	"context"
	"errors"
	"math/rand/v2"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

func TestALargeRequestWaitsForItsBytesAndSmallOnesPass(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := NewBusy(10 << 20)
		first := Hold{Of: b}
		if err := first.Take(t.Context(), 8<<20); err != nil {
			t.Fatal(err)
		}
		got := make(chan error)
		go func() { got <- b.Take(t.Context(), 6<<20) }()
		synctest.Wait()
		if b.Try(1 << 20) {
			t.Error("a large one passed one that waits")
		}
		if !b.Try(smallBytes) {
			t.Error("a small one did not pass")
		}
		b.Give(smallBytes)
		if err := b.TryMore(1<<20, "x"); err != nil {
			t.Error("who holds some did not pass:", err)
		}
		b.Give(1 << 20)
		if err := b.TryMore(3<<20, "x"); !errors.Is(err, ErrBusy) {
			t.Error("there is no room for:", err)
		}
		first.End()
		first.End()
		if err := <-got; err != nil || b.Used() != 6<<20 {
			t.Errorf("%v, %d", err, b.Used())
		}
		b.Give(6 << 20)
		if b.Used() != 0 || !b.Try(10<<20) {
			t.Errorf("%d are left over", b.Used())
		}
	})
}

func TestWaitingForBytesIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := NewBusy(100 << 10)
		if !b.Try(90 << 10) {
			t.Fatal("no room at the start")
		}
		begun := time.Now()
		if err := b.Take(t.Context(), 80<<10); !errors.Is(err, ErrBusy) || time.Since(begun) != defaultPatience {
			t.Errorf("after %v: %v", time.Since(begun), err)
		}
		begun = time.Now()
		if err := b.Take(t.Context(), 101<<10); !errors.Is(err, ErrBusy) || time.Since(begun) != 0 {
			t.Errorf("what never fits: after %v: %v", time.Since(begun), err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if err := b.Take(ctx, 80<<10); !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
		if b.Used() != 90<<10 {
			t.Errorf("%d are taken", b.Used())
		}
	})
}

func TestWhoGivesUpLetsThoseBehindPass(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := NewBusy(1 << 20)
		if !b.Try(700 << 10) {
			t.Fatal("no room at the start")
		}
		ctx, giveUp := context.WithCancel(t.Context())
		large, less := make(chan error, 1), make(chan error, 1)
		go func() { large <- b.Take(ctx, 1<<20) }()
		synctest.Wait()
		go func() { less <- b.Take(t.Context(), 200<<10) }()
		synctest.Wait()
		giveUp()
		if err := <-large; !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
		if err := <-less; err != nil {
			t.Error(err)
		}
	})
}

func TestAShareIsTakenOfBoth(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		all := NewBusy(1 << 20)
		share := all.Share(600 << 10)
		if !share.Try(500<<10) || share.Try(200<<10) || all.Used() != 500<<10 {
			t.Errorf("%d, %d", share.Used(), all.Used())
		}
		if !all.Try(500 << 10) {
			t.Fatal("the whole has no more than its share")
		}
		got := make(chan error)
		go func() { got <- share.Take(t.Context(), 90<<10) }() // the share has room, the whole has not
		synctest.Wait()
		all.Give(500 << 10)
		if err := <-got; err != nil {
			t.Error(err)
		}
		share.Give(590 << 10)
		if share.Used() != 0 || all.Used() != 0 {
			t.Errorf("%d, %d", share.Used(), all.Used())
		}
		if none := (*Busy)(nil).Share(0); !none.Try(1<<40) || none.Take(t.Context(), 1<<40) != nil {
			t.Error("without an account there is a bound")
		}
	})
}

// Many take, wait, give up and give back; the bound holds all along, and in the end nothing is taken and nobody waits.
func TestTheBoundHoldsWhateverHappens(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		all := NewBusy(1 << 20)
		shares := []*Busy{all, all.Share(300 << 10), all.Share(800 << 10)}
		var work sync.WaitGroup
		for i := range 50 {
			r := rand.New(rand.NewPCG(1, uint64(i)))
			work.Go(func() {
				for range 50 {
					ctx, cancel := context.WithTimeout(t.Context(), time.Duration(r.IntN(20))*time.Second)
					h := Hold{Of: shares[r.IntN(len(shares))]}
					if h.Take(ctx, int64(r.IntN(900<<10))) == nil {
						time.Sleep(time.Duration(r.IntN(3000)) * time.Millisecond)
						h.Keep(int64(r.IntN(100 << 10)))
					}
					if used := all.Used(); used > 1<<20 || used < 0 {
						t.Errorf("%d are taken", used)
					}
					h.End()
					cancel()
				}
			})
		}
		work.Wait()
		for _, b := range shares {
			if b.Used() != 0 || b.waiting.Len() != 0 || b.crowded.Load() {
				t.Errorf("%d are taken, %d wait", b.Used(), b.waiting.Len())
			}
		}
	})
}

func TestTheAccountFollowsTheMemory(t *testing.T) {
	for memory, want := range map[int64]int64{0: 1 << 30, 300 << 20: 150 << 20, 24 << 30: 4 << 30, 1 << 20: 16 << 20} {
		if got := DefaultBusy(memory); got != want {
			t.Errorf("of %d: %d, want %d", memory, got, want)
		}
	}
}
