//go:build !linux && !windows

package pace

// channel sleeps with a timer of Go's.
type channel struct{ *timer }

// newSleeper makes one and the clock that it sleeps by.
func newSleeper() (sleeper, func() int64, error) {
	t := newTimer()
	return channel{t}, t.now, nil
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
