package suspect

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var errMistake = errors.New("the topic is wrong")

func newWatch(t *testing.T) *Watch {
	t.Helper()
	w := New(Config{Mistake: func(Seen) error { return errMistake }})
	t.Cleanup(w.Close)
	return w
}

// verdicts are what was told of some doubts, in order.
type verdicts struct {
	mu   sync.Mutex
	told []Verdict
}

func (v *verdicts) tell(said Verdict) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.told = append(v.told, said)
}

func (v *verdicts) String() string {
	v.mu.Lock()
	defer v.mu.Unlock()
	var b strings.Builder
	for _, said := range v.told {
		b.WriteByte("GMU"[said])
	}
	return b.String()
}

// enter lets a request go, and tells whether it went.
func enter(w *Watch, device string) (went bool) {
	w.enter(device, func(_ uint64, wait time.Duration, _ error) { went = wait == 0 })
	return went
}

// Stop makes the watch rest without doubts. Where it rests already, it goes on with that.
func (w *Watch) Stop(why error) (wait time.Duration) {
	w.mu.Lock()
	now := w.config.Clock()
	var next calls
	if w.why == nil || !w.until.After(now) {
		next = w.stop(now, why)
	}
	wait = w.until.Sub(now)
	w.mu.Unlock()
	next.run()
	return wait
}

// good sends to n devices that are there.
func good(t *testing.T, w *Watch, prefix string, n int) {
	t.Helper()
	for i := range n {
		device := fmt.Sprint(prefix, i)
		if !enter(w, device) {
			t.Fatalf("device %d waits: %v", i, w.Why())
		}
		w.good(device, w.came)
	}
}

func TestADoubtAloneAmongGoodAnswersMeansThatTheDeviceIsGone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWatch(t)
		var v verdicts
		good(t, w, "a", 5)
		enter(w, "gone")
		w.doubt("gone", v.tell)
		good(t, w, "b", alone-1)
		if v.String() != "" {
			t.Errorf("after %d good answers %s was told", alone-1, &v)
		}
		good(t, w, "c", 1)
		if v.String() != "G" {
			t.Errorf("%q was told", &v)
		}
	})
}

func TestManyDoubtsAreAMistakeAndNoDeviceIsGone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWatch(t)
		good(t, w, "before", 1000) // yesterday's campaign was right
		var v verdicts
		sent := 0
		for i := range 100_000 {
			device := fmt.Sprint("d", i)
			if enter(w, device) {
				sent++
				w.doubt(device, v.tell)
			}
		}
		if sent != 10 || v.String() != "MMMMMMMMMM" || !errors.Is(w.Why(), errMistake) {
			t.Errorf("%d were sent, %q was told, it rests for %v", sent, &v, w.Why())
		}
	})
}

func TestNoMoreThanTheStartIsWastedWhereAllAreOnTheirWayAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWatch(t)
		sent, held := 0, 0
		for i := range 100_000 {
			w.enter(fmt.Sprint(i), func(_ uint64, wait time.Duration, _ error) {
				if wait == 0 {
					sent++
				} else {
					held++
				}
			})
		}
		var v verdicts
		for range sent {
			w.doubt("one of them", v.tell)
		}
		const most = startLimit + DefaultAnswers*DefaultPercent/100
		if sent >= most || held != 100_000-sent || strings.Trim(v.String(), "M") != "" {
			t.Errorf("%d were sent, %d are held back, %q was told", sent, held, &v)
		}
	})
}

// A mistake that begins in the middle of a campaign: good answers to what went before it still come, between the doubts
// and long after them.
func TestGoodAnswersToWhatWentBeforeADoubtDoNotSettleIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWatch(t)
		good(t, w, "before", 1000)
		var v verdicts
		const early = 20 * alone
		went := w.came
		for i := range early {
			enter(w, fmt.Sprint("early", i))
		}
		doubt := func() {
			enter(w, "in doubt")
			w.doubt("in doubt", v.tell)
			for range early / 2 {
				w.good("early", went)
			}
		}
		doubt()
		good(t, w, "between", 3) // they speak for the first doubt
		doubt()
		good(t, w, "after", alone-4)
		if v.String() != "" {
			t.Fatalf("%q was told", &v)
		}
		good(t, w, "after", 1)
		if v.String() != "G" {
			t.Errorf("%q was told", &v)
		}
		good(t, w, "after", 3)
		if v.String() != "GG" {
			t.Errorf("%q was told", &v)
		}
	})
}

func TestADeviceThatTookAPushWeighsMore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWatch(t)
		good(t, w, "d", 100)
		var v verdicts
		for i := 0; w.Why() == nil; i++ {
			enter(w, fmt.Sprint("d", i))
			w.doubt(fmt.Sprint("d", i), v.tell)
		}
		if v.String() != "MMMM" {
			t.Errorf("%q was told", &v)
		}
	})
}

func TestWhereDevicesAreEqualOneThatTookAPushWeighsNoMoreAndGoesNoSooner(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := New(Config{Equal: true, Mistake: func(Seen) error { return errMistake }})
		t.Cleanup(w.Close)
		good(t, w, "d", 100)
		var v verdicts
		for i := 0; w.Why() == nil; i++ {
			enter(w, fmt.Sprint("d", i))
			w.doubt(fmt.Sprint("d", i), v.tell)
		}
		if v.String() != "MMMMMMMMMM" {
			t.Errorf("%q was told", &v)
		}
		time.Sleep(firstRest)
		if !enter(w, "unknown") {
			t.Error("one that took no push before does not go first")
		}
		w.other()
	})
}

func TestAfterARestDevicesThatTookAPushGoFirst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWatch(t)
		good(t, w, "d", 1)
		if wait := w.Stop(errMistake); wait != firstRest {
			t.Errorf("the rest is %v", wait)
		}
		if wait := w.Stop(errMistake); wait != firstRest {
			t.Errorf("once more, the rest is %v", wait)
		}
		if enter(w, "d0") {
			t.Error("a request goes while the watch rests")
		}
		time.Sleep(firstRest)
		if enter(w, "unknown") || !enter(w, "d0") {
			t.Error("another goes before a device that took a push")
		}
		w.good("d0", w.came)
		if !enter(w, "unknown") || w.Why() != nil {
			t.Errorf("after a good answer it waits for %v", w.Why())
		}
		w.other()
	})
}

func TestWhatWentBeforeARestDoesNotEndIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWatch(t)
		enter(w, "early")
		enter(w, "late")
		w.Stop(errMistake)
		w.good("early", w.came)
		if w.Why() == nil {
			t.Error("the rest is over")
		}
		var v verdicts
		if w.doubt("late", v.tell); v.String() != "M" {
			t.Errorf("%q was told", &v)
		}
	})
}

func TestARestIsLongerEachTimeThatThoseWhoGoFirstAreInDoubt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWatch(t)
		want := firstRest
		w.Stop(errMistake)
		for range 6 {
			time.Sleep(want)
			var v verdicts
			for range probes {
				if !enter(w, "x") {
					t.Fatal("none goes first")
				}
			}
			if enter(w, "y") {
				t.Errorf("more than %d go first", probes)
			}
			for range probes {
				w.doubt("x", v.tell)
			}
			want = min(2*want, longestRest)
			w.enter("x", func(_ uint64, wait time.Duration, why error) {
				if wait != want || v.String() != "MMMM" || !errors.Is(why, errMistake) {
					t.Errorf("it rests %v for %v, want %v; %q was told", wait, why, want, &v)
				}
			})
		}
	})
}

func TestWhoGoesFirstWithoutAnAnswerLetsAnotherGo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWatch(t)
		w.Stop(errMistake)
		time.Sleep(firstRest)
		for range 10 * probes {
			if !enter(w, "x") {
				t.Fatal("none goes first any more")
			}
			w.other()
		}
	})
}

func TestADoubtThatNothingSettlesIsToldAsUnclearAndSettledLater(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWatch(t)
		var v verdicts
		enter(w, "lonely")
		w.doubt("lonely", v.tell)
		time.Sleep(patience - time.Nanosecond)
		synctest.Wait()
		if v.String() != "" {
			t.Errorf("%q was told at once", &v)
		}
		time.Sleep(time.Nanosecond)
		synctest.Wait()
		if v.String() != "U" {
			t.Errorf("%q was told", &v)
		}
		good(t, w, "d", alone)
		if v.String() != "UG" {
			t.Errorf("%q was told", &v)
		}
	})
}

func TestDoubtsThatAreNotSettledAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := New(Config{Percent: 100, Answers: 1 << 20, Mistake: func(Seen) error { return errMistake }})
		var v verdicts
		for i := range mostPending + 7 {
			enter(w, fmt.Sprint(i))
			w.doubt(fmt.Sprint(i), v.tell)
		}
		if v.String() != strings.Repeat("U", 7) || len(w.pending) != mostPending {
			t.Errorf("%q was told, %d are pending", &v, len(w.pending))
		}
		w.Close()
		if v.String() != strings.Repeat("U", 7)+strings.Repeat("M", mostPending) {
			t.Errorf("%d were told", len(v.told))
		}
	})
}

func TestAWatchThatIsClosedKeepsNobodyWaiting(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWatch(t)
		var p, idle Pass
		w.Enter(&p, "x", func(time.Duration, error) {})
		w.Close()
		var said []Verdict
		p.Doubt(func(v Verdict, first bool) {
			if first {
				said = append(said, v)
			}
		})
		if len(said) != 1 || said[0] != Mistake || p.Waits() {
			t.Errorf("%v was told", said)
		}
		p.End(true) // once more
		idle.End(true)
		if enter(w, "x") {
			t.Error("a request goes")
		}
	})
}

func TestAfterSilenceNothingIsKnown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWatch(t)
		good(t, w, "d", 1000)
		flood := func() (sent int) {
			for range 10_000 {
				w.enter("x", func(_ uint64, wait time.Duration, _ error) { sent++ })
			}
			return sent
		}
		if n := flood(); n != startLimit+raise*1000 {
			t.Errorf("%d go at once after 1,000 good answers", n)
		}
		for range 10_000 {
			w.other()
		}
		time.Sleep(silence + 1)
		if n := flood(); n != startLimit {
			t.Errorf("%d go at once after a silence", n)
		}
	})
}

// A mistake in a few of the pushes, not seen before the watch rests: so many devices are buried, as docs/push.md says.
func TestAMistakeAmongGoodAnswersBuriesFewDevicesBeforeTheWatchRests(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const runs, inFlight = 100, 50
		for percent, most := range map[int]int{10: 4, 6: 8, 3: 40} {
			buried := 0
			for run := range uint64(runs) {
				random := rand.New(rand.NewPCG(run, 7))
				w := New(Config{Mistake: func(Seen) error { return errMistake }})
				var flying []*Pass
				for i := 0; w.Why() == nil; i++ {
					p := new(Pass)
					w.Enter(p, fmt.Sprint("d", i), func(time.Duration, error) {})
					if flying = append(flying, p); len(flying) < inFlight {
						continue
					}
					next := random.IntN(len(flying))
					p, flying[next] = flying[next], p
					flying = flying[:len(flying)-1]
					if random.IntN(100) >= percent {
						p.End(true)
						continue
					}
					p.Doubt(func(v Verdict, _ bool) {
						if v == Gone {
							buried++
						}
					})
				}
				w.Close()
			}
			if buried > most*runs {
				t.Errorf("where %d %% are in doubt, %d devices are buried in %d runs", percent, buried, runs)
			}
			t.Logf("where %d %% are in doubt, %.1f devices are buried", percent, float64(buried)/runs)
		}
	})
}
