package pace

import (
	"fmt"
	"time"
)

// Policy says what becomes of frames whose time has passed before they could be played.
type Policy int

// The policies.
const (
	// CatchUp plays every frame; those that are late come one after another, as fast as they can, until they are on
	// time again.
	CatchUp Policy = iota
	// Skip leaves out the frames that are over: what is played next is the frame that is due. The others keep their
	// deadlines.
	Skip
	// Shift plays every frame and hurries none: after one that is a whole frame late or more, all that follow are due
	// that much later. Smaller lateness does not add up.
	Shift
	// Strict is for limits: two frames are never closer than the rate allows, so that any lateness delays all that
	// follow.
	Strict
)

// String is the policy's name: catch-up, skip, shift or strict.
func (p Policy) String() string {
	if names := [...]string{"catch-up", "skip", "shift", "strict"}; p >= 0 && int(p) < len(names) {
		return names[p]
	}
	return fmt.Sprintf("Policy(%d)", int(p))
}

// Schedule is where a run of frames stands: which is next, and when. It waits for nothing and reads no clock, so it is
// for those who wait in their own way; Host.Start does the waiting, too. The zero value lets everything pass. It is not
// for several goroutines at once.
type Schedule struct {
	beat
	start time.Time // of the first frame; zero: none was taken
}

// NewSchedule makes a schedule whose first frame is due at once, and whose grid begins when that is taken.
func NewSchedule(r Rate, p Policy) Schedule { return Schedule{beat: beat{rate: r, policy: p}} }

// Next is the frame that is next, and when it is due. The zero time: now.
func (s *Schedule) Next() (frame int64, due time.Time) {
	if s.rate.IsZero() || s.start.IsZero() {
		return s.next, time.Time{}
	}
	return s.next, s.start.Add(time.Duration(s.due()))
}

// Take plays the next frame at now, which should not be before it is due, and returns which that is and how late it is.
// With Skip it may be a later one than Next said.
func (s *Schedule) Take(now time.Time) (frame int64, late time.Duration) {
	if s.rate.IsZero() {
		s.next++
		return s.next - 1, 0
	}
	if s.start.IsZero() {
		s.start = now
	}
	return s.take(int64(now.Sub(s.start)))
}

// Skipped is how many frames were left out.
func (s *Schedule) Skipped() int64 { return s.skipped }

// beat is a schedule on a clock of nanoseconds.
type beat struct {
	rate    Rate
	policy  Policy
	origin  int64 // when frame base was due
	base    int64
	next    int64
	skipped int64
}

// at is when a frame is due, as things stand.
func (b *beat) at(frame int64) int64 { return b.origin + int64(b.rate.Deadline(frame-b.base)) }

// due is when the next frame is.
func (b *beat) due() int64 { return b.at(b.next) }

// take plays the next frame at now.
func (b *beat) take(now int64) (frame int64, late time.Duration) {
	if b.policy == Skip {
		if newest := b.base + b.rate.Frame(time.Duration(now-b.origin)); newest > b.next {
			b.skipped += newest - b.next
			b.next = newest
		}
	}
	frame, late = b.next, time.Duration(now-b.due())
	b.next++
	if b.policy == Strict && late > 0 || b.policy == Shift && now >= b.due() {
		b.origin, b.base = now, frame
	}
	return frame, late
}

// shift delays everything that comes.
func (b *beat) shift(d int64) { b.origin += d }
