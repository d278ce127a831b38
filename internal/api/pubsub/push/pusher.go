package push

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"
)

// Pusher sends a subscription's messages to its endpoint.
type Pusher struct {
	config Config
	source Source

	mu     sync.Mutex
	window window
	pause  pause
	outage outage
	busy   int // requests under way
	ready  []Message
	// those that wait for an earlier message of their key; a key is here while one of it is ready or under way
	keys    map[string][]Message
	waiting int  // in keys
	stopped bool // nothing more is sent
	untold  []error
	telling bool // somebody tells what is untold

	changed chan struct{}  // there may be room, or less of a pause
	sends   sync.WaitGroup // requests under way
}

// New checks the configuration and makes a Pusher that does nothing before Run.
func New(c Config, s Source) (*Pusher, error) {
	if err := CheckEndpoint(c.Endpoint); err != nil {
		return nil, err
	}
	if s == nil {
		return nil, errors.New("push: there is no source")
	}
	c = c.withDefaults()
	return &Pusher{config: c, source: s, window: newWindow(c.MaxWindow), keys: map[string][]Message{},
		changed: make(chan struct{}, 1)}, nil
}

// Run delivers until ctx ends, and then returns when nothing is under way any more: messages that were not sent are
// returned, requests get Config.Grace to end. It may be called once.
func (p *Pusher) Run(ctx context.Context) {
	// Requests end some time after ctx, and what became of them is still told to the source.
	requests, cut := context.WithCancel(context.WithoutCancel(ctx))
	defer cut()
	p.deliver(ctx, requests)
	p.stop(requests)
	grace := time.AfterFunc(p.config.Grace, cut)
	defer grace.Stop()
	p.sends.Wait()
}

// deliver claims messages as there is room for them.
func (p *Pusher) deliver(ctx, requests context.Context) {
	for {
		room, wait := p.room()
		if room == 0 {
			var timer <-chan time.Time
			if wait > 0 {
				timer = time.After(wait)
			}
			select {
			case <-ctx.Done():
				return
			case <-p.changed:
			case <-timer:
			}
			continue
		}
		messages, err := p.source.Claim(ctx, room)
		p.accept(messages)
		if ctx.Err() != nil {
			return
		}
		p.send(requests)
		p.holdBack(requests)
		if err != nil {
			p.config.Report(fmt.Errorf("push to %s: cannot claim: %w", p.config.Endpoint, err))
			select {
			case <-ctx.Done():
				return
			case <-time.After(claimPause):
			}
		}
	}
}

// claimPause is how long nothing is claimed after an error of the source.
const claimPause = time.Second

// room is how many messages may be claimed now; 0: none before something changed or, if it is not 0, the time passed.
func (p *Pusher) room() (int, time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if left := p.pause.left(time.Now()); left > 0 {
		return 0, left
	}
	return max(p.window.size-p.busy-len(p.ready)-p.waiting, 0), 0
}

// accept takes messages that were claimed.
func (p *Pusher) accept(messages []Message) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, m := range messages {
		if m.OrderingKey == "" {
			p.ready = append(p.ready, m)
			continue
		}
		behind, taken := p.keys[m.OrderingKey]
		if taken {
			p.keys[m.OrderingKey] = append(behind, m)
			p.waiting++
			continue
		}
		p.keys[m.OrderingKey] = nil
		p.ready = append(p.ready, m)
	}
}

// send begins as many requests as the window has room for.
func (p *Pusher) send(requests context.Context) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for len(p.ready) > 0 && p.busy < p.window.size && !p.stopped && p.pause.left(time.Now()) == 0 {
		m := p.ready[0]
		p.ready = p.ready[1:]
		p.busy++
		p.sends.Go(func() { p.one(requests, m) })
	}
}

// one delivers one message and tells the source what became of it.
func (p *Pusher) one(requests context.Context, m Message) {
	sent := time.Now()
	outcome, err := p.attempt(requests, m)
	if outcome != delivered {
		p.drop(m) // before the source can give them out again
	}
	p.settle(requests, m, outcome)
	p.note(outcome, sent, err)
	if outcome == delivered {
		p.next(m)
	}
	p.send(requests)
	p.holdBack(requests)
	select {
	case p.changed <- struct{}{}:
	default: // there is news already
	}
}

// outcome is what became of a message.
type outcome uint8

const (
	delivered outcome = iota
	refused           // by the endpoint, or by silence
	notSent           // because we stop
	lost              // it was no longer ours
)

// note lets the window and the pauses learn from an outcome.
func (p *Pusher) note(o outcome, sent time.Time, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.busy--
	switch o {
	case delivered:
		p.window.worked()
		p.pause.worked()
		if p.outage.worked(time.Now()) {
			p.untold = append(p.untold, fmt.Errorf("push to %s works again", p.config.Endpoint))
		}
	case refused:
		p.window.failed()
		if p.stopped {
			break
		}
		now := time.Now()
		if !p.config.RetryPolicy {
			p.pause.failed(sent, now)
		}
		if p.outage.failed(now) {
			p.untold = append(p.untold, fmt.Errorf("push to %s fails: %w", p.config.Endpoint, err))
		}
	}
	p.tell()
}

// tell tells what is untold, one after the other: that an endpoint works again comes after that it fails, whichever
// request's goroutine gets there first. Nobody waits while another tells. It is called with the lock, which it gives
// back while it tells.
func (p *Pusher) tell() {
	if p.telling {
		return
	}
	p.telling = true
	for len(p.untold) > 0 {
		report := p.untold[0]
		p.untold = p.untold[1:]
		p.mu.Unlock()
		p.config.Report(report)
		p.mu.Lock()
	}
	p.telling = false
}

// next makes the next message of a key ready.
func (p *Pusher) next(m Message) {
	if m.OrderingKey == "" {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	behind := p.keys[m.OrderingKey]
	if len(behind) == 0 {
		delete(p.keys, m.OrderingKey)
		return
	}
	p.keys[m.OrderingKey] = behind[1:]
	p.waiting--
	p.ready = append(p.ready, behind[0])
}

// drop forgets what stands behind a message that is given back: the source takes it back with it.
func (p *Pusher) drop(m Message) {
	if m.OrderingKey == "" {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.waiting -= len(p.keys[m.OrderingKey])
	delete(p.keys, m.OrderingKey)
}

// holdBack gives back what is ready when a pause has begun: others may take it meanwhile, and nothing is known of how
// long it would wait.
func (p *Pusher) holdBack(requests context.Context) {
	p.mu.Lock()
	var left []Message
	if p.pause.left(time.Now()) > 0 {
		for _, m := range p.ready {
			left = append(left, m)
			if m.OrderingKey != "" {
				left = append(left, p.keys[m.OrderingKey]...)
				p.waiting -= len(p.keys[m.OrderingKey])
				delete(p.keys, m.OrderingKey)
			}
		}
		p.ready = nil
	}
	p.mu.Unlock()
	p.giveBack(requests, left)
}

// stop gives back what is not under way.
func (p *Pusher) stop(requests context.Context) {
	p.mu.Lock()
	p.stopped = true
	left := p.ready
	p.ready = nil
	for _, behind := range p.keys {
		left = append(left, behind...)
	}
	clear(p.keys)
	p.waiting = 0
	p.mu.Unlock()
	p.giveBack(requests, left)
}

// giveBack returns messages, the last of a key first, so that none goes to somebody else before one in front of it.
func (p *Pusher) giveBack(requests context.Context, messages []Message) {
	for _, m := range slices.Backward(messages) {
		p.settle(requests, m, notSent)
	}
}
