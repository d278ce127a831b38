//go:build !linux && !windows

package pace

import "time"

// channel sleeps with a timer of Go's.
type channel struct{ *timer }

// newSleeper makes one and the beginning of its clock.
func newSleeper() (sleeper, time.Time, error) {
	t := newTimer()
	return channel{t}, t.base, nil
}

func (c channel) sleep(t int64) { c.until(t) }

func (c channel) calm() {
	select {
	case <-c.nudged:
	default:
	}
}

// keepPlace changes nothing here.
func (c channel) keepPlace() {}
