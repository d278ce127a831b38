package lines

import (
	"context"
	"sync"
	"time"

	"github.com/hikyaku/hikyaku/internal/component"
	"github.com/hikyaku/hikyaku/internal/message"
)

// Back-off of what comes back: it doubles from the first to the second.
const (
	firstBackOff = 100 * time.Millisecond
	longBackOff  = 30 * time.Second
)

// Send hands one message to a pipeline. settle is called once, from any goroutine: with true when the message is
// settled, with false when it has to be sent again. When Send returns an error, settle will not be called.
type Send func(ctx context.Context, settle func(done bool)) error

// Courier sends again what comes back, after a back-off. Make one with NewCourier, send from any goroutine, let Serve
// run in one of its own.
type Courier struct {
	mu       sync.Mutex
	back     []parcel // in the order in which they came back
	finished bool
	stir     chan struct{} // holds one: something came back, or Serve may end
}

type parcel struct {
	send  Send
	due   time.Time
	tries int
}

// NewCourier makes a Courier.
func NewCourier() *Courier { return &Courier{stir: make(chan struct{}, 1)} }

// Send sends, and takes the message back if it has to be sent again. The error is that of send: then it was not taken.
func (c *Courier) Send(ctx context.Context, send Send) error {
	return c.try(ctx, parcel{send: send})
}

// Deliver is Send of a message that nothing has to be told of.
func (c *Courier) Deliver(ctx context.Context, out component.Out, m *message.Message) error {
	return c.Send(ctx, func(ctx context.Context, settle func(done bool)) error {
		return out.Send(ctx, component.Delivery{Message: m,
			Settle: func(o component.Outcome) { settle(o.Verdict == component.Delivered) }})
	})
}

// Back takes what came back from elsewhere, and sends it again after a back-off.
func (c *Courier) Back(send Send) { c.putBack(parcel{send: send}) }

// Finish says that nothing new will be sent: Serve returns when nothing waits to be sent again. It does not wait for
// what is under way: batches may leave only when their source has ended.
func (c *Courier) Finish() {
	c.mu.Lock()
	c.finished = true
	c.mu.Unlock()
	c.wake()
}

// Serve sends again what comes back. It returns nil after Finish when nothing waits for that, the error of a send,
// or ctx's error when ctx ended.
func (c *Courier) Serve(ctx context.Context) error {
	timer := time.NewTimer(longBackOff)
	defer timer.Stop()
	for {
		p, wait, over := c.next()
		if over {
			return nil
		}
		if wait == 0 {
			if err := c.try(ctx, p); err != nil {
				return err
			}
			continue
		}
		timer.Reset(wait)
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-c.stir:
		case <-timer.C:
		}
	}
}

// next returns the first parcel that is due, or how long to wait for one.
func (c *Courier) next() (p parcel, wait time.Duration, over bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.finished && len(c.back) == 0 {
		return parcel{}, 0, true
	}
	now := time.Now()
	wait = longBackOff
	for i, p := range c.back {
		d := p.due.Sub(now)
		if d <= 0 {
			c.back = append(c.back[:i], c.back[i+1:]...)
			return p, 0, false
		}
		wait = min(wait, d)
	}
	return parcel{}, wait, false
}

func (c *Courier) try(ctx context.Context, p parcel) error {
	return p.send(ctx, func(done bool) {
		if !done {
			c.putBack(p)
		}
	})
}

func (c *Courier) putBack(p parcel) {
	p.due = time.Now().Add(min(firstBackOff<<min(p.tries, 20), longBackOff))
	p.tries++
	c.mu.Lock()
	c.back = append(c.back, p)
	c.mu.Unlock()
	c.wake()
}

func (c *Courier) wake() {
	select {
	case c.stir <- struct{}{}:
	default:
	}
}
