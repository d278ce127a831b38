package place_test

import (
	"testing"
	"time"

	"github.com/hikyaku/hikyaku/internal/function/place"
)

const ms = time.Millisecond

// desk is a placer, its clock, and the instances that it was told to start.
type desk struct {
	t   *testing.T
	p   *place.Placer
	now time.Duration
	all []*place.Slot // every slot that was to be started
	off []*place.Slot // to be stopped
	ice []*place.Slot // to be frozen
}

func newDesk(t *testing.T, policy place.Policy) *desk {
	return &desk{t: t, p: place.New(policy), now: time.Hour}
}

func (d *desk) changes() {
	start, stop, freeze := d.p.Changes()
	d.all = append(d.all, start...)
	d.off = append(d.off, stop...)
	d.ice = append(d.ice, freeze...)
}

func (d *desk) arrive(want place.Verdict) *place.Ticket {
	d.t.Helper()
	t := &place.Ticket{}
	if got := d.p.Arrive(d.now, t); got != want {
		d.t.Fatalf("at %v Arrive says %d, want %d: %+v", d.now, got, want, d.p.Counts())
	}
	d.changes()
	return t
}

// ready says that the newest slot has started, and checks who gets it.
func (d *desk) ready(n int, took time.Duration, want *place.Ticket) *place.Slot {
	d.t.Helper()
	s := d.all[n]
	if got := d.p.Ready(d.now, s, took); got != want {
		d.t.Fatalf("slot %d serves %p, want %p", n, got, want)
	}
	d.changes()
	return s
}

func (d *desk) free(s *place.Slot, want *place.Ticket) {
	d.t.Helper()
	if got := d.p.Free(d.now, s); got != want {
		d.t.Fatalf("the slot serves %p, want %p", got, want)
	}
	d.changes()
}

func (d *desk) tick(after time.Duration) {
	d.now += after
	d.p.Tick(d.now)
	d.changes()
}

func (d *desk) expect(c place.Counts) {
	d.t.Helper()
	if got := d.p.Counts(); got != c {
		d.t.Fatalf("%+v, want %+v", got, c)
	}
}

// warm makes n idle instances; the last one was used last.
func (d *desk) warm(n int) {
	d.t.Helper()
	var waiting []*place.Ticket
	for range n {
		waiting = append(waiting, d.arrive(place.Wait))
	}
	for i, w := range waiting {
		d.ready(len(d.all)-n+i, 10*ms, w)
	}
	for _, w := range waiting {
		d.free(w.Slot, nil)
	}
}

func unlimited(kind place.Kind) place.Policy { return place.Policy{Kind: kind, Limit: -1} }

func TestTheInstanceUsedLastComesFirst(t *testing.T) {
	d := newDesk(t, unlimited(place.Warm))
	d.warm(3)
	for range 5 {
		w := d.arrive(place.Use)
		if w.Slot != d.all[2] {
			t.Fatal("another one was taken")
		}
		d.now += ms
		d.free(w.Slot, nil)
	}
	a, b := d.arrive(place.Use), d.arrive(place.Use)
	if a.Slot != d.all[2] || b.Slot != d.all[1] {
		t.Error("the second is not the one used last but one")
	}
}

func TestAnInstanceIsStartedOnlyWhenAllAreBusy(t *testing.T) {
	d := newDesk(t, unlimited(place.Warm))
	d.warm(2)
	d.arrive(place.Use)
	d.arrive(place.Use)
	if len(d.all) != 2 {
		t.Fatalf("%d were started", len(d.all))
	}
	d.arrive(place.Wait)
	if len(d.all) != 3 {
		t.Fatalf("%d were started", len(d.all))
	}
}

func TestWhoWaitsIsServedByWhateverComesFirst(t *testing.T) {
	d := newDesk(t, unlimited(place.Warm))
	d.warm(1)
	first := d.arrive(place.Use)
	second := d.arrive(place.Wait)
	d.now += 5 * ms
	d.free(first.Slot, second) // before the one that was started for it
	d.ready(1, 10*ms, nil)
	d.expect(place.Counts{Idle: 1, Busy: 1, Running: 1})
}

func TestOneThatIsAboutToComeBackIsWaitedForBeforeOneIsStarted(t *testing.T) {
	d := newDesk(t, unlimited(place.Warm))
	d.warm(1) // it took 10 ms
	first := d.arrive(place.Use)
	d.p.Answered(d.now, first.Slot)
	second := d.arrive(place.Wait)
	if len(d.all) != 1 {
		t.Fatal("one was started though one comes back")
	}
	if in, ok := d.p.Next(d.now); !ok || in != time.Second {
		t.Fatalf("it wants to look again in %v (%v)", in, ok)
	}
	d.tick(999 * ms)
	if len(d.all) != 1 {
		t.Fatal("one was started too early")
	}
	d.tick(ms)
	if len(d.all) != 2 {
		t.Fatal("nothing was started for who waits")
	}
	d.ready(1, 10*ms, second)
	d.free(first.Slot, nil)
}

func TestOnesThatComeBackLateAreWaitedForAsLongAsAStartTakes(t *testing.T) {
	for name, late := range map[string]func(*desk, *place.Slot){
		"it came back late": func(d *desk, s *place.Slot) { d.free(s, nil) },
		"it never came back": func(d *desk, s *place.Slot) {
			d.p.Gone(d.now, s)
			d.changes()
		},
	} {
		t.Run(name, func(t *testing.T) {
			d := newDesk(t, unlimited(place.Warm))
			d.warm(2) // each took 10 ms
			first, second := d.arrive(place.Use), d.arrive(place.Use)
			d.p.Answered(d.now, first.Slot)
			d.now += 2 * time.Second
			late(d, first.Slot)
			for len(d.all) < 3 && d.p.Counts().Idle > 0 {
				d.arrive(place.Use) // so that none is left
			}
			d.p.Answered(d.now, second.Slot)
			third := d.arrive(place.Wait)
			before := len(d.all)
			if in, ok := d.p.Next(d.now); !ok || in != 10*ms {
				t.Fatalf("it wants to look again in %v (%v)", in, ok)
			}
			d.tick(10 * ms)
			if len(d.all) != before+1 {
				t.Fatal("nothing was started for who waits")
			}
			d.free(second.Slot, third) // and it is back soon
			d.p.Answered(d.now, third.Slot)
			d.ready(before, 10*ms, nil)
			d.arrive(place.Use)
			d.arrive(place.Wait)
			if in, ok := d.p.Next(d.now); !ok || in != time.Second {
				t.Errorf("once one was back soon it wants to look again in %v (%v)", in, ok)
			}
		})
	}
}

func TestWhoWaitsForOthersHurriesWhenOneComesBackLate(t *testing.T) {
	d := newDesk(t, unlimited(place.Warm))
	d.warm(3)
	first, second, third := d.arrive(place.Use), d.arrive(place.Use), d.arrive(place.Use)
	d.p.Answered(d.now, first.Slot)
	d.now += 1500 * ms
	d.p.Answered(d.now, second.Slot)
	d.p.Answered(d.now, third.Slot)
	fourth := d.arrive(place.Wait)
	d.arrive(place.Wait)
	d.now += 100 * ms
	before := len(d.all)
	d.free(first.Slot, fourth)
	if len(d.all) != before+1 {
		t.Errorf("%d were started for the other", len(d.all)-before)
	}
}

func TestOfTwoThatWaitOneIsServedByTheOneThatComesBack(t *testing.T) {
	d := newDesk(t, unlimited(place.Warm))
	d.warm(1)
	first := d.arrive(place.Use)
	d.p.Answered(d.now, first.Slot)
	second := d.arrive(place.Wait)
	third := d.arrive(place.Wait)
	if len(d.all) != 2 {
		t.Fatalf("%d were started", len(d.all))
	}
	d.free(first.Slot, second)
	d.ready(1, 10*ms, third)
}

func TestSpreadDealsInTurns(t *testing.T) {
	d := newDesk(t, place.Policy{Kind: place.Spread, Machines: 3, Limit: -1})
	for n := range 3 {
		w := d.arrive(place.Wait)
		d.ready(n, 10*ms, w)
		d.free(w.Slot, nil)
		if w.Slot.Machine != n {
			t.Fatalf("invocation %d is on machine %d", n, w.Slot.Machine)
		}
	}
	for n := range 6 {
		if w := d.arrive(place.Use); w.Slot != d.all[n%3] {
			t.Fatalf("invocation %d is on machine %d", n, w.Slot.Machine)
		} else {
			d.free(w.Slot, nil)
		}
	}
}

func TestSpreadStartsThoughAnotherMachineIsIdle(t *testing.T) {
	d := newDesk(t, unlimited(place.Spread))
	first := d.arrive(place.Wait)
	d.ready(0, 10*ms, first)
	d.free(first.Slot, nil)
	d.arrive(place.Wait)
	d.expect(place.Counts{Idle: 1, Starting: 1, Waiting: 1})
}

func TestSpreadWaitsForTheOneThatIsStarted(t *testing.T) {
	d := newDesk(t, place.Policy{Kind: place.Spread, Machines: 1, Limit: -1})
	d.warm(1)
	first := d.arrive(place.Use)
	second := d.arrive(place.Wait)
	d.free(first.Slot, nil)
	d.ready(1, 10*ms, second)
	third := d.arrive(place.Use)
	d.p.Answered(d.now, third.Slot)
	d.p.Answered(d.now, second.Slot)
	fourth := d.arrive(place.Wait) // one comes back: nothing is started for it
	d.free(second.Slot, fourth)
	if len(d.all) != 2 {
		t.Errorf("%d were started", len(d.all))
	}
}

func TestTheLimitRefuses(t *testing.T) {
	d := newDesk(t, place.Policy{Limit: 2})
	first := d.arrive(place.Wait)
	d.arrive(place.Wait)
	d.arrive(place.Refuse)
	d.ready(0, 10*ms, first)
	d.arrive(place.Refuse)
	d.p.Answered(d.now, first.Slot)
	d.arrive(place.Wait) // the answer is what counts
	d.expect(place.Counts{Starting: 1, Finishing: 1, Waiting: 2})
	newDesk(t, place.Policy{Limit: 0}).arrive(place.Refuse)
}

func TestThereAreNoMoreInstancesThanMayWorkAtOnce(t *testing.T) {
	d := newDesk(t, place.Policy{Limit: 1})
	first := d.arrive(place.Wait)
	d.ready(0, 10*ms, first)
	d.p.Answered(d.now, first.Slot)
	second := d.arrive(place.Wait)
	d.tick(time.Second)
	if len(d.all) != 1 {
		t.Fatal("a second one was started")
	}
	d.p.Gone(d.now, first.Slot) // it never came back
	d.changes()
	d.ready(1, 10*ms, second)
}

func TestProvisionedInstancesAreStartedReplacedAndKept(t *testing.T) {
	d := newDesk(t, place.Policy{Provisioned: 2, Limit: -1, Idle: time.Minute})
	d.tick(0)
	d.ready(0, 10*ms, nil)
	d.ready(1, 10*ms, nil)
	if !d.all[0].Provisioned || !d.all[1].Provisioned {
		t.Error("they are not marked")
	}
	a, b, c := d.arrive(place.Use), d.arrive(place.Use), d.arrive(place.Wait)
	d.ready(2, 10*ms, c)
	if d.all[2].Provisioned {
		t.Error("one beyond them is marked")
	}
	for _, w := range []*place.Ticket{c, b, a} {
		d.free(w.Slot, nil)
	}
	d.tick(time.Hour)
	if len(d.off) != 1 || d.off[0] != d.all[2] {
		t.Fatalf("%d were stopped", len(d.off))
	}
	d.p.Gone(d.now, d.off[0])
	d.p.Gone(d.now, d.all[0])
	d.changes()
	if len(d.all) != 4 || !d.all[3].Provisioned {
		t.Fatal("the one that is gone was not replaced")
	}
}

func TestProvisionedInstancesThatCannotStartAreTriedLessAndLess(t *testing.T) {
	d := newDesk(t, place.Policy{Provisioned: 1, Limit: -1})
	d.tick(0)
	pause := time.Second
	for n := range 10 {
		if len(d.all) != n+1 {
			t.Fatalf("%d tries, want %d", len(d.all), n+1)
		}
		if w := d.p.Failed(d.now, d.all[n]); w != nil {
			t.Fatal("nobody waits")
		}
		d.changes()
		d.tick(pause - 1)
		if len(d.all) != n+1 {
			t.Fatalf("try %d came before %v", n+2, pause)
		}
		d.tick(1)
		pause = min(2*pause, time.Minute)
	}
}

func TestWhoWaitsForOneThatCannotStartHasItStartedAgain(t *testing.T) {
	d := newDesk(t, unlimited(place.Warm))
	w := d.arrive(place.Wait)
	if got := d.p.Failed(d.now, d.all[0]); got != w || w.Slot != d.all[0] {
		t.Fatalf("it serves %p, want %p", got, w)
	}
	d.expect(place.Counts{Busy: 1, Running: 1})
	d.p.Gone(d.now, w.Slot)
	d.expect(place.Counts{})
}

func TestIdleOnesAreStoppedTheOldestFirst(t *testing.T) {
	d := newDesk(t, place.Policy{Limit: -1, Idle: time.Minute})
	d.warm(2)
	d.tick(30 * time.Second)
	d.free(d.arrive(place.Use).Slot, nil) // the second one
	d.tick(30 * time.Second)
	if len(d.off) != 1 || d.off[0] != d.all[0] {
		t.Fatalf("%d were stopped", len(d.off))
	}
	d.tick(30 * time.Second)
	if len(d.off) != 2 {
		t.Fatalf("%d were stopped", len(d.off))
	}
	d.arrive(place.Wait)
}

func TestIdleOnesAreFrozenOnce(t *testing.T) {
	d := newDesk(t, place.Policy{Limit: -1, Freeze: time.Second})
	d.warm(1)
	if in, ok := d.p.Next(d.now); !ok || in != time.Second {
		t.Fatalf("it wants to look again in %v (%v)", in, ok)
	}
	d.tick(time.Second)
	d.tick(time.Second)
	if len(d.ice) != 1 || !d.all[0].Frozen {
		t.Fatalf("%d were frozen", len(d.ice))
	}
	d.free(d.arrive(place.Use).Slot, nil)
	if d.all[0].Frozen {
		t.Error("one that has just worked is frozen")
	}
}

func TestWhoGivesUpWaitingCountsNoMore(t *testing.T) {
	d := newDesk(t, place.Policy{Limit: 1})
	w := d.arrive(place.Wait)
	if !d.p.Cancel(d.now, w) || d.p.Cancel(d.now, w) {
		t.Error("it is cancelled once")
	}
	d.arrive(place.Wait)
}

func TestClosingStopsWhatIsIdleAndTheRestWhenItIsFree(t *testing.T) {
	d := newDesk(t, place.Policy{Limit: -1, Provisioned: 1})
	d.warm(2)
	busy := d.arrive(place.Use)
	other := d.arrive(place.Use)
	third := d.arrive(place.Wait)
	d.free(other.Slot, third)
	fourth := d.arrive(place.Wait)
	waiting := d.p.Close(d.now)
	d.changes()
	if len(waiting) != 1 || waiting[0] != fourth {
		t.Errorf("%d were waiting", len(waiting))
	}
	d.arrive(place.Refuse)
	d.free(busy.Slot, nil)
	d.free(third.Slot, nil)
	for _, s := range d.off {
		d.p.Gone(d.now, s)
	}
	d.changes()
	d.expect(place.Counts{})
}
