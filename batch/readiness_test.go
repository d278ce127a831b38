package batch_test

import (
	"context"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hikyaku/hikyaku/batch"
)

func TestLoneItemLeavesWithoutAnyClock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newGate()
		g := batch.New(batch.Config[int]{Handle: h.handle})
		began := time.Now()
		post(t, g, 1)
		synctest.Wait()
		wantGroups(t, h, []int{1})
		if waited := time.Since(began); waited != 0 {
			t.Errorf("a lone item waited %v", waited)
		}
		h.leave()
		closeIt(t, g)
	})
}

func TestNextGroupGathersWhileTheHandlerIsBusy(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newGate()
		g := batch.New(batch.Config[int]{MaxCount: 3, Handle: h.handle})
		post(t, g, 1)
		synctest.Wait()
		post(t, g, 2, 3, 4, 5)
		synctest.Wait()
		wantGroups(t, h, []int{1})
		h.release <- nil
		synctest.Wait()
		wantGroups(t, h, []int{1}, []int{2, 3, 4})
		h.release <- nil
		synctest.Wait()
		wantGroups(t, h, []int{1}, []int{2, 3, 4}, []int{5})
		h.leave()
		closeIt(t, g)
		s := g.Stats()
		if s.Groups != 3 || s.Items != 5 || s.Largest != 3 || s.Ready != 2 || s.Count != 1 {
			t.Errorf("stats are %+v", s)
		}
	})
}

func TestGroupKeepsWithinItsBytesButForASingleLargerItem(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newGate()
		g := batch.New(batch.Config[int]{MaxBytes: 10, Size: itself, Handle: h.handle})
		post(t, g, 1)
		synctest.Wait()
		post(t, g, 4, 6, 3, 25, 9, 2)
		h.leave()
		closeIt(t, g)
		wantGroups(t, h, []int{1}, []int{4, 6}, []int{3}, []int{25}, []int{9}, []int{2})
		if s := g.Stats(); s.Bytes != 4 || s.WaitingBytes != 0 {
			t.Errorf("stats are %+v", s)
		}
	})
}

func TestEveryFreeHandlerTakesAGroup(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newGate()
		g := batch.New(batch.Config[int]{Handlers: 2, Handle: h.handle})
		post(t, g, 1)
		synctest.Wait()
		post(t, g, 2)
		synctest.Wait()
		post(t, g, 3, 4)
		synctest.Wait()
		wantGroups(t, h, []int{1}, []int{2})
		if s := g.Stats(); s.Busy != 2 || s.Waiting != 2 {
			t.Errorf("stats are %+v", s)
		}
		h.release <- nil
		synctest.Wait()
		wantGroups(t, h, []int{1}, []int{2}, []int{3, 4})
		h.leave()
		closeIt(t, g)
	})
}

func TestFullGroupsWakeAsManyHandlersAsThereAreGroups(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newGate()
		g := batch.New(batch.Config[int]{MaxCount: 2, Delay: time.Hour, Handlers: 3, Handle: h.handle})
		post(t, g, 1, 2, 3, 4, 5, 6, 7)
		synctest.Wait()
		if n := len(h.seen()); n != 3 {
			t.Errorf("%d groups are being handled, want 3", n)
		}
		h.leave()
		closeIt(t, g)
	})
}

// TestThoseJustAnsweredShareTheNextGroup lets callers come again and again, each with one item as soon as the last is
// answered.
func TestThoseJustAnsweredShareTheNextGroup(t *testing.T) {
	const callers, rounds = 16, 50
	synctest.Test(t, func(t *testing.T) {
		mean := func(gather bool) float64 {
			g := batch.New(batch.Config[int]{Gather: gather, Handle: func(context.Context, []int) []error {
				time.Sleep(time.Millisecond) // the bubble's clock: everybody who can comes meanwhile
				return nil
			}})
			var all sync.WaitGroup
			for range callers {
				all.Go(func() {
					for i := range rounds {
						if err := g.Do(t.Context(), i); err != nil {
							t.Error(err)
						}
					}
				})
			}
			all.Wait()
			closeIt(t, g)
			s := g.Stats()
			if s.Items != callers*rounds {
				t.Errorf("%d items", s.Items)
			}
			return float64(s.Items) / float64(s.Groups)
		}
		with, without := mean(true), mean(false)
		if with < without*0.9 {
			t.Errorf("%.1f callers share a group, without gathering %.1f", with, without)
		}
	})
}

func TestALoneCallerIsNotKeptWaitingByGathering(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newGate()
		g := batch.New(batch.Config[int]{Gather: true, Handle: h.handle})
		post(t, g, 1, 2, 3)
		synctest.Wait()
		h.release <- nil
		synctest.Wait()
		post(t, g, 4) // three were answered, one came back
		synctest.Wait()
		seen := h.seen()
		if last := seen[len(seen)-1]; len(last) != 1 && len(last) != 3 || h.seen()[0][0] != 1 {
			t.Errorf("groups are %v", seen)
		}
		h.leave()
		closeIt(t, g)
		if s := g.Stats(); s.Items != 4 {
			t.Errorf("%+v", s)
		}
	})
}
