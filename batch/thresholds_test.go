package batch_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hikyaku/hikyaku/batch"
)

const second = time.Second

func TestLoneItemWaitsForTheDelayAndNoLonger(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newGate()
		g := batch.New(batch.Config[int]{Delay: 10 * second, Handle: h.handle})
		post(t, g, 1)
		time.Sleep(10*second - 1)
		synctest.Wait()
		wantGroups(t, h)
		time.Sleep(time.Nanosecond)
		synctest.Wait()
		wantGroups(t, h, []int{1})
		h.leave()
		closeIt(t, g)
		if s := g.Stats(); s.Delay != 1 {
			t.Errorf("stats are %+v", s)
		}
	})
}

func TestOldestItemDecidesWhenTheGroupLeaves(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newGate()
		g := batch.New(batch.Config[int]{Delay: 10 * second, Handle: h.handle})
		post(t, g, 1)
		time.Sleep(9 * second)
		post(t, g, 2)
		time.Sleep(1*second - 1)
		post(t, g, 3)
		synctest.Wait()
		wantGroups(t, h)
		time.Sleep(time.Nanosecond)
		synctest.Wait()
		wantGroups(t, h, []int{1, 2, 3})
		h.leave()
		closeIt(t, g)
	})
}

func TestTimerThatIsTooEarlyIsSetAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newGate()
		h.leave()
		g := batch.New(batch.Config[int]{Delay: 10 * second, MaxCount: 2, Handle: h.handle})
		post(t, g, 1)
		time.Sleep(4 * second)
		post(t, g, 2) // full; the timer is still set for the first item
		synctest.Wait()
		wantGroups(t, h, []int{1, 2})
		post(t, g, 3)
		time.Sleep(10*second - 1)
		synctest.Wait()
		wantGroups(t, h, []int{1, 2})
		time.Sleep(time.Nanosecond)
		synctest.Wait()
		wantGroups(t, h, []int{1, 2}, []int{3})
		closeIt(t, g)
	})
}

func TestFullGroupDoesNotWaitForTheDelay(t *testing.T) {
	for name, c := range map[string]batch.Config[int]{
		"by count":                  {MaxCount: 3},
		"by bytes, exactly":         {MaxBytes: 6},
		"by bytes, the next is out": {MaxBytes: 5},
		"as many wait as may":       {Pending: 3},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h := newGate()
				c := c
				c.Delay, c.Size, c.Handle = time.Hour, itself, h.handle
				g := batch.New(c)
				post(t, g, 1, 2, 3)
				if c.Pending != 0 { // somebody has to want the room
					go g.PostWait(t.Context(), 4)
				}
				synctest.Wait()
				if n := len(h.seen()); n != 1 {
					t.Errorf("%d groups left, want 1: %v", n, h.seen())
				}
				h.leave()
				closeIt(t, g)
			})
		})
	}
}

func TestItemsThatWaitedLongEnoughLeaveAsSoonAsAHandlerIsFree(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newGate()
		g := batch.New(batch.Config[int]{Delay: second, Handle: h.handle})
		post(t, g, 1)
		time.Sleep(second)
		synctest.Wait()
		post(t, g, 2)
		time.Sleep(time.Minute)
		post(t, g, 3)
		h.release <- nil
		synctest.Wait()
		wantGroups(t, h, []int{1}, []int{2, 3})
		h.leave()
		closeIt(t, g)
	})
}

func TestFlushDoesNotWaitForTheDelay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newGate()
		h.leave()
		g := batch.New(batch.Config[int]{Delay: time.Hour, MaxCount: 2, Handle: h.handle})
		began := time.Now()
		post(t, g, 1, 2, 3)
		if err := g.Flush(context.Background()); err != nil {
			t.Fatal(err)
		}
		wantGroups(t, h, []int{1, 2}, []int{3})
		if d := time.Since(began); d != 0 {
			t.Errorf("Flush took %v", d)
		}
		post(t, g, 4) // only what was there is flushed
		synctest.Wait()
		wantGroups(t, h, []int{1, 2}, []int{3})
		closeIt(t, g)
		wantGroups(t, h, []int{1, 2}, []int{3}, []int{4})
		if s := g.Stats(); s.Count != 1 || s.Flush != 1 || s.Close != 1 {
			t.Errorf("stats are %+v", s)
		}
	})
}
