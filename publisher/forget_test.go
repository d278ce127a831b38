package publisher

import (
	"runtime"
	"testing"
)

// A program that forgets to stop a publisher has published what it has published, and has no goroutine that it cannot
// get rid of.
func TestAForgottenPublisherEnds(t *testing.T) {
	p := newPublisher("projects/p/topics/t", nil)
	p.settle()
	d := p.dispatcher
	l := newLine(0)
	d.prepare(Thresholds(100, 1000, 1e12), 1000, l.send, nil)
	r := publish(d, "", "x")
	runtime.KeepAlive(p)
	p = nil
	for over := false; !over; {
		runtime.GC()
		select {
		case <-d.ended:
			over = true
		default:
			runtime.Gosched()
		}
	}
	same(t, fates(r...), "id of x")
}
