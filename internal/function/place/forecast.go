package place

import "time"

// forecast learns at how many invocations at once an instance ought to be started, so that it is there when one more is
// wanted. When the demand reaches k, the k-th instance should have been started one lead ago; what the demand was then
// at its lowest is the level of k. Levels that no traffic has confirmed for two windows are forgotten.
type forecast struct {
	low     lowest
	now     []int32 // level of k, plus one; 0: not seen in this window
	before  []int32 // the same of the window before
	turned  time.Duration
	highest int // the last demand
}

// demand says that the number of invocations at once has changed.
func (f *forecast) demand(now time.Duration, n int, lead, window time.Duration) {
	f.turn(now, window)
	f.low.put(now, n, lead)
	if n > f.highest {
		for len(f.now) <= n {
			f.now = append(f.now, 0)
		}
		level := int32(f.low.least()) + 1
		if f.now[n] == 0 || level < f.now[n] {
			f.now[n] = level
		}
	}
	f.highest = n
}

// turn begins another window when one is over.
func (f *forecast) turn(now, window time.Duration) {
	if now-f.turned < window {
		return
	}
	f.before, f.now = f.now, f.before[:0]
	if now-f.turned >= 2*window {
		f.before = f.before[:0]
	}
	f.turned = now
}

// target is how many instances there ought to be when n invocations run or wait.
func (f *forecast) target(n int) int {
	for k := max(len(f.now), len(f.before)) - 1; k > 0; k-- {
		if reached(f.now, k, n) || reached(f.before, k, n) {
			return k
		}
	}
	return 0
}

func reached(levels []int32, k, n int) bool {
	return k < len(levels) && levels[k] > 0 && int(levels[k])-1 <= n
}

// lowest is the least value of a step function in the last while: values that a later, smaller one hides are not kept.
type lowest struct {
	steps []step
}

type step struct {
	value int
	until time.Duration // when another value followed; forever for the last one
}

const forever = time.Duration(1<<63 - 1)

func (l *lowest) put(now time.Duration, value int, while time.Duration) {
	if len(l.steps) == 0 {
		l.steps = append(l.steps, step{}) // before the first value it was 0
	}
	l.steps[len(l.steps)-1].until = now
	first := 0
	for first < len(l.steps) && l.steps[first].until < now-while {
		first++
	}
	l.steps = l.steps[:copy(l.steps, l.steps[first:])]
	for n := len(l.steps); n > 0 && l.steps[n-1].value >= value; n-- {
		l.steps = l.steps[:n-1]
	}
	l.steps = append(l.steps, step{value, forever})
}

func (l *lowest) least() int { return l.steps[0].value }
