package queue

import (
	"fmt"
	"time"
)

// timekeeper makes journaled time of two clocks: the wall clock, which somebody may set, and the monotonic one, which
// nobody can. While both go alike journaled time is the wall clock's. When they part it goes by the monotonic clock, so
// that leases and delays last as long as was said, until the wall clock can be followed again (docs/decisions/0030).
type timekeeper struct {
	hears  bool // of monotonic time from outside; else it is what the clock's times say themselves
	began  bool
	last   time.Time     // what the clock said last
	wall   int64         // the same, µs
	passed time.Duration // monotonic time since the first reading, or as it was heard
	heard  time.Duration

	mode   pace
	from   int64         // what journaled time was when the mode began, µs; not while following
	fromAt time.Duration // when that was; while following: the reading before
	step   int64         // how far apart the clocks are, as people were told, µs; 0: they were not

	notices []ClockNotice
}

// pace is what journaled time goes by.
type pace uint8

const (
	following pace = iota // the wall clock
	behind                // the monotonic clock, a little slower: the wall clock is behind, and shall catch up
	doubting              // the monotonic clock: the wall clock was set forward by much, and it may be a mistake
)

const (
	// clockSlack is by how much the clocks may differ without having parted: readings are rounded, µs.
	clockSlack = 1_000
	// believedStep is how far the wall clock may be set forward and be followed at once, µs.
	believedStep = 60_000_000
	// A larger step is followed when the clock has stood by it for a sixtieth of the step, an hour at most: the
	// monotonic clock of a suspended machine stands still, and this is how it catches up.
	stepPatience    = 60
	longestPatience = time.Hour
	// While the wall clock is behind, journaled time goes by 15 s in 16 s.
	slowPart = 16
	// noticeable is a difference that people are told of, µs.
	noticeable = 1_000_000
	// maxNotices bounds those that nobody has taken yet.
	maxNotices = 16
)

// ClockNotice tells that the wall clock and journaled time have parted, or have met again.
type ClockNotice struct {
	Kind ClockKind
	By   time.Duration // how far they were apart
	// Patience is, of ClockAhead, how long the clock has to stand by it before it is followed.
	Patience time.Duration
}

// ClockKind says what happened.
type ClockKind uint8

// What a ClockNotice tells.
const (
	ClockBehind    ClockKind = iota // the clock is behind the times in the journal, which go on by the monotonic clock
	ClockCaughtUp                   // it is not any more
	ClockForward                    // it was set forward, by no more than is followed at once
	ClockAhead                      // it was set forward by more: that is not followed yet
	ClockFollowed                   // it has stood by that, and is followed
	ClockWithdrawn                  // it was set back before it was followed
	ClockFroze                      // nobody could read it for a while
)

// String says it for people, with what to do.
func (n ClockNotice) String() string {
	switch n.Kind {
	case ClockBehind:
		return fmt.Sprintf("the clock is %v behind the times in the journal: it was set back, or had been ahead. "+
			"Leases and delays go on by the monotonic clock, one sixteenth slower until the clock has caught up", n.By)
	case ClockCaughtUp:
		return "the clock has caught up with the times in the journal"
	case ClockForward:
		return fmt.Sprintf("the clock went forward by %v at once: leases, delays and retention end early by as much",
			n.By)
	case ClockAhead:
		return fmt.Sprintf("the clock went forward by %v at once: it was set, or the machine was suspended. Leases, "+
			"delays and retention follow it when it has stood by that for %v: if it is wrong, set it back before", n.By,
			n.Patience)
	case ClockFollowed:
		return fmt.Sprintf("the clock has stood by having gone forward by %v: leases, delays and retention follow it "+
			"now", n.By)
	case ClockFroze:
		return fmt.Sprintf("the process or its machine was frozen for %v or longer, or had no processor time. Leases "+
			"that ended meanwhile go on for %v, so that their holders can extend or settle", n.By, regained)
	default:
		return fmt.Sprintf("the clock was set back before its going forward by %v was followed: nothing came of it",
			n.By)
	}
}

// read takes a reading of the clock and returns what journaled time is, which was now.
func (k *timekeeper) read(now int64, t time.Time) int64 {
	k.pass(t)
	k.wall = t.UnixMicro()
	if !k.began { // how long the process was down no clock but this one says
		k.began, now = true, max(now, k.wall)
	}
	own := k.own(now)
	switch ahead := k.wall - own; {
	case ahead >= -clockSlack && ahead <= believedStep:
		k.follow(ahead)
		own = k.wall
	case ahead < 0:
		k.fallBehind(own, -ahead)
	case k.mode != doubting || ahead > k.step+believedStep || ahead < k.step-believedStep: // another step
		k.part(doubting, own)
		k.tell(ClockAhead, ahead)
	case k.passed-k.fromAt >= k.patience():
		k.mode = following
		k.tell(ClockFollowed, ahead)
		own = k.wall
	}
	return max(now, own)
}

// hear takes a reading of the monotonic clock, for the next of the other one.
func (k *timekeeper) hear(passed time.Duration) { k.hears, k.heard = true, passed }

// pass counts the monotonic time since the last reading.
func (k *timekeeper) pass(t time.Time) {
	if k.mode == following {
		k.fromAt = k.passed
	}
	switch {
	case k.hears:
		k.passed = max(k.passed, k.heard)
	case k.began:
		k.passed += max(0, t.Sub(k.last))
	}
	if !k.began {
		k.fromAt = k.passed
	}
	k.last = t
}

// own is what journaled time would be by the monotonic clock, now having been the last.
func (k *timekeeper) own(now int64) int64 {
	since := (k.passed - k.fromAt).Microseconds()
	switch k.mode {
	case following:
		return now + since
	case behind:
		since -= since / slowPart
	}
	return k.from + since
}

// follow makes journaled time the wall clock's.
func (k *timekeeper) follow(ahead int64) {
	switch {
	case k.mode == doubting:
		k.tell(ClockWithdrawn, k.step)
	case k.mode == behind:
		k.tell(ClockCaughtUp, k.step)
	case ahead >= noticeable:
		k.tell(ClockForward, ahead)
	}
	k.mode, k.step = following, 0
}

// fallBehind lets journaled time go on while the wall clock has not got there.
func (k *timekeeper) fallBehind(own, by int64) {
	if k.mode == doubting {
		k.tell(ClockWithdrawn, k.step)
	}
	if k.mode != behind {
		k.part(behind, own)
	}
	if by > k.step+believedStep || k.step == 0 { // it was set back, or again
		k.tell(ClockBehind, by)
	}
}

// part lets journaled time go on from a moment by the monotonic clock.
func (k *timekeeper) part(how pace, from int64) {
	k.mode, k.from, k.fromAt, k.step = how, from, k.passed, 0
}

// patience is how long a step has to last before it is followed.
func (k *timekeeper) patience() time.Duration {
	return min(time.Duration(k.step)*time.Microsecond/stepPatience, longestPatience)
}

// tell notes what people have to be told.
func (k *timekeeper) tell(kind ClockKind, by int64) {
	if by < noticeable {
		return
	}
	k.step = by
	if len(k.notices) == maxNotices {
		return
	}
	n := ClockNotice{Kind: kind, By: time.Duration(by) * time.Microsecond}
	if kind == ClockAhead {
		n.Patience = k.patience()
	}
	k.notices = append(k.notices, n)
}

// froze notes that the clock could not be read for a while.
func (k *timekeeper) froze(by time.Duration) {
	if by.Microseconds() >= noticeable && len(k.notices) < maxNotices {
		k.notices = append(k.notices, ClockNotice{Kind: ClockFroze, By: by.Round(time.Millisecond)})
	}
}

// takeNotices returns, once, what people have to be told.
func (k *timekeeper) takeNotices() []ClockNotice {
	n := k.notices
	k.notices = nil
	return n
}

// moment is the journaled time of a moment that a caller names by the wall clock, µs; 0 stays 0.
func (k *timekeeper) moment(us, now int64) int64 {
	if us == 0 || k.mode != behind {
		return us
	}
	return us + now - k.wall
}

// shown is what the wall clock will say at a journaled time to come, if neither is set meanwhile.
func (k *timekeeper) shown(us, now int64) time.Time {
	if us == 0 || k.mode == following {
		return timeOf(us)
	}
	return timeOf(us + k.wall - now)
}
