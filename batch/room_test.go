package batch_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hikyaku/hikyaku/batch"
)

// busyWith returns a grouper whose only handler is busy with item 0.
func busyWith(t *testing.T, h *gate, c batch.Config[int]) *batch.Grouper[int] {
	t.Helper()
	c.Handle = h.handle
	g := batch.New(c)
	post(t, g, 0)
	synctest.Wait()
	return g
}

func TestAddWaitsForRoomAndNobodyOvertakesIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newGate()
		g := busyWith(t, h, batch.Config[int]{Pending: 2})
		post(t, g, 1, 2)
		for i := 3; i <= 6; i++ {
			go func() {
				if _, err := g.Add(context.Background(), i); err != nil {
					t.Errorf("Add(%d): %v", i, err)
				}
			}()
			synctest.Wait()
		}
		if s := g.Stats(); s.Blocked != 4 || s.Waiting != 2 {
			t.Errorf("stats are %+v", s)
		}
		if err := g.Post(7); !errors.Is(err, batch.ErrFull) {
			t.Errorf("Post while calls wait for room: %v, want ErrFull", err)
		}
		h.leave()
		synctest.Wait()
		closeIt(t, g)
		wantGroups(t, h, []int{0}, []int{1, 2}, []int{3, 4}, []int{5, 6})
	})
}

func TestCallsThatDoNotWaitSayThatThereIsNoRoom(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newGate()
		g := busyWith(t, h, batch.Config[int]{Pending: 1})
		if _, err := g.TryAdd(1); err != nil {
			t.Fatal(err)
		}
		if r, err := g.TryAdd(2); !errors.Is(err, batch.ErrFull) || r != nil {
			t.Errorf("TryAdd: %v, %v; want ErrFull", r, err)
		}
		if err := g.Post(2); !errors.Is(err, batch.ErrFull) {
			t.Errorf("Post: %v, want ErrFull", err)
		}
		h.leave()
		closeIt(t, g)
		wantGroups(t, h, []int{0}, []int{1})
	})
}

func TestBytesThatWaitAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newGate()
		g := busyWith(t, h, batch.Config[int]{PendingBytes: 10, Size: itself})
		post(t, g, 50) // a larger item may wait alone
		if err := g.Post(1); !errors.Is(err, batch.ErrFull) {
			t.Errorf("Post: %v, want ErrFull", err)
		}
		h.release <- nil
		synctest.Wait()
		post(t, g, 6, 4)
		if err := g.Post(1); !errors.Is(err, batch.ErrFull) {
			t.Errorf("Post: %v, want ErrFull", err)
		}
		h.leave()
		closeIt(t, g)
		wantGroups(t, h, []int{0}, []int{50}, []int{6, 4})
	})
}

func TestGroupThatIsInTheWayDoesNotWaitForTheDelay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newGate()
		h.leave()
		g := batch.New(batch.Config[int]{Delay: time.Hour, PendingBytes: 10, Size: itself, Handle: h.handle})
		post(t, g, 6)
		if err := g.PostWait(t.Context(), 7); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		wantGroups(t, h, []int{6})
		if s := g.Stats(); s.Bytes != 1 || s.Waiting != 1 {
			t.Errorf("stats are %+v", s)
		}
		closeIt(t, g)
	})
}

func TestAddThatGivesUpWaitingLeavesNothingBehind(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newGate()
		g := busyWith(t, h, batch.Config[int]{PendingBytes: 10, Size: itself})
		post(t, g, 8)
		ctx, cancel := context.WithTimeout(context.Background(), second)
		defer cancel()
		small := make(chan error, 1)
		go func() {
			time.Sleep(second / 2)
			small <- g.PostWait(context.Background(), 2) // it fits, but waits its turn
		}()
		if _, err := g.Add(ctx, 5); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("Add: %v, want the deadline", err)
		}
		if err := <-small; err != nil {
			t.Errorf("PostWait behind it: %v", err)
		}
		ended, end := context.WithCancel(context.Background())
		end()
		if _, err := g.Add(ended, 9); !errors.Is(err, context.Canceled) {
			t.Errorf("Add with an ended context: %v", err)
		}
		h.leave()
		closeIt(t, g)
		wantGroups(t, h, []int{0}, []int{8, 2})
	})
}
