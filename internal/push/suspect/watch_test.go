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
	w.enter(device, "", func(_ *kind, _ uint64, wait time.Duration, _ error) { went = wait == 0 })
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
		w.good(device, nil, w.came)
	}
}

func TestADoubtAloneAmongGoodAnswersMeansThatTheDeviceIsGone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWatch(t)
		var v verdicts
		good(t, w, "a", 5)
		enter(w, "gone")
		w.doubt("gone", nil, v.tell)
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
				w.doubt(device, nil, v.tell)
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
			w.enter(fmt.Sprint(i), "", func(_ *kind, _ uint64, wait time.Duration, _ error) {
				if wait == 0 {
					sent++
				} else {
					held++
				}
			})
		}
		var v verdicts
		for range sent {
			w.doubt("one of them", nil, v.tell)
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
			w.doubt("in doubt", nil, v.tell)
			for range early / 2 {
				w.good("early", nil, went)
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
			w.doubt(fmt.Sprint("d", i), nil, v.tell)
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
			w.doubt(fmt.Sprint("d", i), nil, v.tell)
		}
		if v.String() != "MMMMMMMMMM" {
			t.Errorf("%q was told", &v)
		}
		time.Sleep(firstRest)
		if !enter(w, "unknown") {
			t.Error("one that took no push before does not go first")
		}
		w.other(nil)
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
		w.good("d0", nil, w.came)
		if !enter(w, "unknown") || w.Why() != nil {
			t.Errorf("after a good answer it waits for %v", w.Why())
		}
		w.other(nil)
	})
}

func TestWhatWentBeforeARestDoesNotEndIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWatch(t)
		enter(w, "early")
		enter(w, "late")
		w.Stop(errMistake)
		w.good("early", nil, w.came)
		if w.Why() == nil {
			t.Error("the rest is over")
		}
		var v verdicts
		if w.doubt("late", nil, v.tell); v.String() != "M" {
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
				w.doubt("x", nil, v.tell)
			}
			want = min(2*want, longestRest)
			w.enter("x", "", func(_ *kind, _ uint64, wait time.Duration, why error) {
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
			w.other(nil)
		}
	})
}

func TestADoubtThatNothingSettlesIsToldAsUnclearAndSettledLater(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWatch(t)
		var v verdicts
		enter(w, "lonely")
		w.doubt("lonely", nil, v.tell)
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
			w.doubt(fmt.Sprint(i), nil, v.tell)
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
		w.Enter(&p, "x", "", func(time.Duration, error) {})
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
		sent := 0
		flood := func() int {
			sent = 0
			for range 10_000 {
				w.enter("x", "", func(_ *kind, _ uint64, wait time.Duration, _ error) { sent++ })
			}
			return sent
		}
		good(t, w, "d", 1000)
		if n := flood(); n != startLimit {
			t.Errorf("%d go at once after 1,000 good answers one by one: a few tell nothing of many", n)
		}
		for range 1000 {
			w.good("x", nil, w.came)
		}
		if sent != startLimit+(1+raise)*1000 || w.limit != startLimit+raise*1000 {
			t.Errorf("%d have gone after 1,000 good answers while others waited", sent)
		}
		for range 9000 {
			w.other(nil)
		}
		time.Sleep(silence + 1)
		if n := flood(); n != startLimit {
			t.Errorf("%d go at once after a silence", n)
		}
	})
}

func TestOfEachNewKindFewGoUntilGoodAnswersHaveCome(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWatch(t)
		sent := map[string]int{}
		kinds := map[string]*kind{}
		flood := func(of string, n int) {
			for range n {
				w.enter("x", of, func(k *kind, _ uint64, wait time.Duration, _ error) {
					if wait == 0 {
						sent[of]++
						kinds[of] = k
					}
				})
			}
		}
		flood("right", 10_000)
		for range 1500 {
			w.good("x", kinds["right"], w.came)
		}
		if sent["right"] < 5000 {
			t.Fatalf("%d have gone of the first kind", sent["right"])
		}
		for range 10_000 - 1500 {
			w.other(kinds["right"])
		}
		flood("other", 10_000)
		flood("third", startLimit/2)
		if sent["other"] != startLimit || sent["third"] != startLimit/2 {
			t.Errorf("%v go at once of the others", sent)
		}
		var v verdicts
		for range startLimit {
			w.doubt("x", kinds["other"], v.tell)
		}
		if w.Why() == nil || sent["other"] > startLimit+DefaultAnswers*DefaultPercent/100 {
			t.Errorf("%d of the wrong kind have gone, and it waits for %v", sent["other"], w.Why())
		}
		if len(w.waiting) != 0 || w.held != 0 {
			t.Errorf("%d and %d wait while it rests", len(w.waiting), w.held)
		}
	})
}

func TestWhoWaitsForOthersOfItsKindGoesInTheEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWatch(t)
		random := rand.New(rand.NewPCG(1, 2))
		var flying []*kind
		const each, many = 1000, 2 * mostKinds
		gone := map[string]int{}
		for range each {
			for i := range many {
				of := fmt.Sprint(i)
				w.enter("x", of, func(k *kind, _ uint64, wait time.Duration, _ error) {
					if wait == 0 {
						gone[of]++
						flying = append(flying, k)
					}
				})
			}
		}
		if len(w.kinds) > mostKinds {
			t.Errorf("%d kinds are known", len(w.kinds))
		}
		for len(flying) > 0 {
			i := random.IntN(len(flying))
			k := flying[i]
			flying[i] = flying[len(flying)-1]
			flying = flying[:len(flying)-1]
			if random.IntN(3) == 0 {
				w.good("x", k, w.came)
			} else {
				w.other(k)
			}
		}
		for i := range many {
			if n := gone[fmt.Sprint(i)]; n != each {
				t.Fatalf("%d of kind %d have gone", n, i)
			}
		}
		if w.flying != 0 || w.held != 0 || len(w.waiting) != 0 {
			t.Errorf("%d fly, %d and %d wait", w.flying, w.held, len(w.waiting))
		}
	})
}

func TestALimitFallsToWhatIsNeeded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWatch(t)
		for range 5000 {
			w.enter("x", "", func(*kind, uint64, time.Duration, error) {})
		}
		for range 5000 {
			w.good("x", nil, w.came)
		}
		high := w.limit
		for range 3 { // a few, now and then
			time.Sleep(peakTime)
			good(t, w, "d", 10)
		}
		if high <= 2*startLimit || w.limit != startLimit {
			t.Errorf("the limit was %d, and is %d", high, w.limit)
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
					w.Enter(p, fmt.Sprint("d", i), "", func(time.Duration, error) {})
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

func BenchmarkPass(b *testing.B) {
	for _, of := range []string{"", "1x1nvpkdm3t0"} {
		b.Run("campaign "+of, func(b *testing.B) {
			w := New(Config{Mistake: func(Seen) error { return errMistake }})
			defer w.Close()
			for b.Loop() {
				var p Pass
				w.Enter(&p, "a device", of, func(time.Duration, error) {})
				p.End(true)
			}
		})
	}
}
