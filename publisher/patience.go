package publisher

import (
	"context"
	"sync"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// errPatience is the cause of a context that has ended because its request took too long.
var errPatience = status.Error(codes.DeadlineExceeded, "publisher: the service did not answer in time")

// patience ends the contexts of requests that take too long. All have the same time, so one timer will do, and it is
// not touched by requests that end in time: to set one for each costs more than all else that a publisher does for a
// lone message.
type patience struct {
	limit time.Duration // 0: there is no end to it

	mu          sync.Mutex
	timer       *time.Timer
	armed       bool
	first, last *waiting
}

// waiting is a request that waits for its answer.
type waiting struct {
	until      time.Time
	cancel     context.CancelCauseFunc
	prev, next *waiting
}

// begin returns the context of a request, which has to be ended.
func (p *patience) begin(base context.Context) (context.Context, *waiting) {
	if p.limit <= 0 {
		return base, nil
	}
	ctx, cancel := context.WithCancelCause(base)
	p.mu.Lock()
	defer p.mu.Unlock()
	w := &waiting{until: time.Now().Add(p.limit), cancel: cancel, prev: p.last}
	if p.last != nil {
		p.last.next = w
	} else {
		p.first = w
	}
	p.last = w
	if !p.armed {
		p.arm(p.limit)
	}
	return ctx, w
}

// end ends a request's context.
func (p *patience) end(w *waiting) {
	if w == nil {
		return
	}
	w.cancel(nil)
	p.mu.Lock()
	defer p.mu.Unlock()
	if w.prev != nil {
		w.prev.next = w.next
	} else {
		p.first = w.next
	}
	if w.next != nil {
		w.next.prev = w.prev
	} else {
		p.last = w.prev
	}
}

func (p *patience) arm(d time.Duration) {
	p.armed = true
	if p.timer == nil {
		p.timer = time.AfterFunc(d, p.tick)
		return
	}
	p.timer.Reset(d)
}

// tick ends the contexts of those that have waited long enough. They take themselves off the list.
func (p *patience) tick() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.armed = false
	now := time.Now()
	for w := p.first; w != nil; w = w.next {
		if w.until.After(now) {
			p.arm(w.until.Sub(now))
			return
		}
		w.cancel(errPatience)
	}
}

// stop lets go of the timer. No request is on its way any more.
func (p *patience) stop() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.timer != nil {
		p.timer.Stop()
	}
}
