package pace

import "time"

// timer waits with the language's own timers, which Go wakes within a millisecond or so. It works in testing/synctest.
type timer struct {
	base   time.Time
	timer  *time.Timer
	nudged chan struct{} // of one
}

func newTimer() *timer {
	t := &timer{base: time.Now(), timer: time.NewTimer(time.Hour), nudged: make(chan struct{}, 1)}
	t.timer.Stop()
	return t
}

func (t *timer) now() int64 { return int64(time.Since(t.base)) }

func (t *timer) until(at int64) {
	t.timer.Reset(time.Duration(at - t.now()))
	select {
	case <-t.timer.C:
	case <-t.nudged:
		t.timer.Stop()
	}
}

func (t *timer) nudge() {
	select {
	case t.nudged <- struct{}{}:
	default:
	}
}

func (*timer) spin() int64      { return 0 }
func (*timer) overslept() int64 { return 0 }
func (*timer) method() string   { return "timer" }
func (*timer) calibrate() error { return nil }

func (t *timer) close() error {
	t.timer.Stop()
	return nil
}
