package pace

import (
	"fmt"
	"slices"
	"time"

	tempo "github.com/hikyaku/hikyaku/pace"
)

// What counts as a frame for which the thread was woken late, and when such frames have something in common.
const (
	longSleep = 500 * time.Microsecond // beyond the deadline
	// in which kernels bound the time of processors: cgroups, containers, virtual machines at their host
	quotaPeriod = 100 * time.Millisecond
	quotaWindow = 2 * time.Millisecond // of each of them
	leastStalls = 5                    // fewer say nothing
)

// stalls are the frames before which the system woke the playing thread long after their deadline, whatever its
// priority.
type stalls struct {
	frames, late int           // of all slices; those that were woken late
	longest      time.Duration // that one of them was asleep beyond its deadline
	together     int           // those that were woken in the same part of the bounding period as most of their slice
}

// add adds the records of a slice.
func (s *stalls) add(records []tempo.Record) {
	var phases []time.Duration
	for _, r := range records {
		if s.frames++; r.Overslept >= longSleep {
			s.longest = max(s.longest, r.Overslept)
			phases = append(phases, (tempo.NTSC().Deadline(r.Frame)+r.Overslept)%quotaPeriod)
		}
	}
	s.late += len(phases)
	s.together += mostWithin(phases, quotaPeriod, quotaWindow)
}

// mostWithin is how many of the moments in a period lie within a window of it; the period's end is its beginning.
func mostWithin(moments []time.Duration, period, window time.Duration) (most int) {
	slices.Sort(moments)
	n := len(moments)
	for i, to := 0, 0; i < n; i++ {
		to = max(to, i)
		for to < i+n && moments[to%n]+period*time.Duration(to/n)-moments[i] < window {
			to++
		}
		most = max(most, to-i)
	}
	return most
}

// String tells of them; "" if there are none.
func (s *stalls) String() string {
	if s.late == 0 {
		return ""
	}
	told := fmt.Sprintf("before %d of %d frames the system woke the thread %v or more after the deadline, up to %v",
		s.late, s.frames, longSleep, s.longest.Round(10*time.Microsecond))
	if s.late >= leastStalls && 2*s.together > s.late {
		told += fmt.Sprintf("; %d of these in the same %v of every %v, as it is where the time of the machine's "+
			"processors is bounded (a cgroup's cpu.max, a host's share)",
			s.together, quotaWindow, quotaPeriod)
	}
	return told
}
