package publisher

import (
	"slices"

	"cloud.google.com/go/pubsub/v2"
)

// flushing is a call of Flush: it waits for the messages that were admitted before it.
type flushing struct {
	epoch uint32 // of the last message it waits for
	left  int
	done  chan struct{}
}

// answer completes the messages of a group, and those that can no longer be sent because it failed. It counts the
// answered by the epoch in which they were admitted.
func (d *dispatcher) answer(g *group, rejected group, ids []string, err error) (a answered) {
	i := 0
	for r := g.first; r != nil; i++ {
		next := r.next
		a.count(r.epoch)
		switch {
		case r.err != nil: // its own
			r.complete("", r.err)
		case ids != nil:
			r.complete(ids[i], nil)
		default:
			r.complete("", err)
		}
		r = next
	}
	for r := rejected.first; r != nil; {
		next := r.next
		a.count(r.epoch)
		r.complete("", pubsub.ErrPublishingPaused{OrderingKey: rejected.lane.key})
		r = next
	}
	return a
}

// answered counts messages by epoch. Those of one group come in rising epochs, and nearly always there is but one.
type answered struct {
	total  int
	epochs []epochCount
}

type epochCount struct {
	epoch uint32
	n     int
}

func (a *answered) count(epoch uint32) {
	a.total++
	if n := len(a.epochs); n > 0 && a.epochs[n-1].epoch == epoch {
		a.epochs[n-1].n++
		return
	}
	a.epochs = append(a.epochs, epochCount{epoch, 1})
}

// settle takes note of what was answered. The lock is held.
func (d *dispatcher) settle(a answered) {
	d.unanswered -= a.total
	if len(d.flushes) == 0 {
		return
	}
	d.flushes = slices.DeleteFunc(d.flushes, func(f *flushing) bool {
		for _, e := range a.epochs {
			if e.epoch <= f.epoch {
				f.left -= e.n
			}
		}
		if f.left > 0 {
			return false
		}
		close(f.done)
		return true
	})
}

// flush lets everything that waits leave, and returns when all that was admitted before was answered.
func (d *dispatcher) flush() {
	d.mu.Lock()
	if d.unanswered == 0 {
		d.mu.Unlock()
		return
	}
	f := &flushing{epoch: d.epoch, left: d.unanswered, done: make(chan struct{})}
	d.epoch++
	d.flushes = append(d.flushes, f)
	d.leave()
	d.mu.Unlock()
	<-f.done
}

// stop admits no more, lets everything that waits leave, and returns when all was answered and no goroutine is left.
func (d *dispatcher) stop() {
	d.close()
	<-d.ended
}

// close is stop, but it does not wait.
func (d *dispatcher) close() {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.stopped {
		return
	}
	d.stopped = true
	d.refuseBlocked(pubsub.ErrPublisherStopped)
	d.leave()
	if d.idle {
		d.rouse()
	}
	d.end()
}

// leave queues all lanes anew, after it was decided that they need not wait for company.
func (d *dispatcher) leave() {
	for _, l := range d.keys {
		d.queue(l)
	}
	d.kick()
}

// end says that nothing is left of a stopped dispatcher.
func (d *dispatcher) end() {
	if !d.stopped || d.unanswered > 0 || d.senders > 0 {
		return
	}
	select {
	case <-d.ended:
		return
	default:
	}
	if d.unkeyed.timer != nil {
		d.unkeyed.timer.Stop()
	}
	for _, l := range d.keys {
		if l.timer != nil {
			l.timer.Stop()
		}
	}
	if d.atEnd != nil {
		d.atEnd()
	}
	close(d.ended)
}
