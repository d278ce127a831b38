package queue

import (
	"cmp"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// ring makes an alarm that is current until it is told otherwise.
func ring(when int64, seq uint64) alarm {
	return alarm{when: when, q: &queueState{sweeping: true, sweep: seq}, seq: seq, of: ofPast}
}

func TestAlarmsRingInTheOrderOfTheirTimes(t *testing.T) {
	cases(t, 100, 25)
	rapid.Check(t, func(t *rapid.T) {
		var as alarms
		var set []alarm // in no order
		seq, now := uint64(0), int64(0)
		add := func(lease bool, when int64) {
			seq++
			x := ring(when, seq)
			if set = append(set, x); lease {
				as.addLease(x)
			} else {
				as.add(x)
			}
		}
		for range rapid.IntRange(1, 40).Draw(t, "steps") {
			count := rapid.IntRange(1, 3*alarmPage).Draw(t, "count")
			switch rapid.IntRange(0, 3).Draw(t, "step") {
			case 0: // leases of one length
				length := rapid.SampledFrom([]int64{10, 300}).Draw(t, "length")
				for range count {
					now++
					add(true, now+length)
				}
			case 1: // sleepers
				for i := range count {
					add(false, now+int64(i*7919%1000))
				}
			case 2: // the oldest, or some others, go out of date
				from := rapid.IntRange(0, len(set)).Draw(t, "from")
				upto := min(from+count, len(set))
				for _, x := range set[from:upto] {
					x.q.sweeping = false
					as.outdate()
				}
				set = slices.Delete(set, from, upto)
			case 3:
				for range min(count/16, len(set)) {
					want := slices.MinFunc(set, func(a, b alarm) int {
						return cmp.Or(cmp.Compare(a.when, b.when), cmp.Compare(a.seq, b.seq))
					})
					if got := rings(&as); got != want {
						t.Fatalf("%d rings at %d, want %d at %d", got.seq, got.when, want.seq, want.when)
					}
					set = slices.DeleteFunc(set, func(x alarm) bool { return x == want })
					now = max(now, want.when)
				}
			}
		}
	})
}

// rings takes the next alarm that is current.
func rings(as *alarms) alarm {
	for {
		if x := as.pop(); x.current() {
			return x
		}
		as.outdated = max(0, as.outdated-1)
	}
}

func TestAlarmsThatAreOutOfDateAreForgotten(t *testing.T) {
	count := amount(50_000, 50_000, 5_000)
	for name, order := range map[string]func(i int) int{ // in which they go out of date; the first stays
		"in order":  func(i int) int { return i + 1 },
		"backwards": func(i int) int { return count - i },
		"mixed":     func(i int) int { return 1 + i*7919%count },
	} {
		for _, lease := range []bool{true, false} {
			var as alarms
			var all []alarm
			for i := range count + 1 {
				x := ring(int64(i), uint64(i))
				if all = append(all, x); lease {
					as.addLease(x)
				} else {
					as.add(x)
				}
			}
			for i := range count {
				all[order(i)].q.sweeping = false
				as.outdate()
			}
			if n := as.Len(); n > 2*leastOutdated {
				t.Errorf("%s, leases %v: %d alarms are set, one of use", name, lease, n)
			}
			if x := rings(&as); x != all[0] {
				t.Errorf("%s, leases %v: alarm %d rings, not the first", name, lease, x.seq)
			}
		}
	}
}
