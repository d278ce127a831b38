package publisher

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"cloud.google.com/go/pubsub/v2"
)

// ErrHedgedOrder: a publisher has HedgingSettings and EnableMessageOrdering. A message that arrives twice has no order.
var ErrHedgedOrder = errors.New("publisher: requests of a publisher that keeps the order cannot be hedged")

// ErrHedging: HedgingSettings are beyond what they may be.
var ErrHedging = errors.New("publisher: HedgingSettings are not valid")

// hedge sends requests again that are slow. It is used by several goroutines at once. A nil hedge does not.
type hedge struct {
	delay  time.Duration
	most   float64
	refill float64 // for each request that went well

	mu     sync.Mutex
	tokens float64 // each lets one request be sent again
}

// newHedge takes Google's settings, with their defaults and bounds.
func newHedge(s *pubsub.HedgingSettings) (*hedge, error) {
	if s == nil {
		return nil, nil
	}
	h := &hedge{delay: s.Delay, most: float64(s.MaxTokens), refill: s.RefillRatio}
	if h.delay == 0 {
		h.delay = time.Second
	}
	if h.most == 0 {
		h.most = 50
	}
	if h.refill == 0 {
		h.refill = 0.1
	}
	switch {
	case h.delay < 100*time.Millisecond || h.delay > 10*time.Second:
		return nil, fmt.Errorf("%w: Delay is %v, from 100ms to 10s are possible", ErrHedging, h.delay)
	case h.most < 1 || h.most > 250:
		return nil, fmt.Errorf("%w: MaxTokens is %v, from 1 to 250 are possible", ErrHedging, h.most)
	case h.refill < 0.001 || h.refill > 0.2:
		return nil, fmt.Errorf("%w: RefillRatio is %v, from 0.001 to 0.2 are possible", ErrHedging, h.refill)
	}
	h.tokens = h.most
	return h, nil
}

// take takes a token if there is one.
func (h *hedge) take() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.tokens < 1 {
		return false
	}
	h.tokens--
	return true
}

func (h *hedge) wentWell() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.tokens = min(h.tokens+h.refill, h.most)
}

// attempt is what came of one of several requests of the same messages.
type attempt struct {
	ids   []string
	err   error
	again bool // it was sent beside the first
}

// run makes a request, and makes it again after each delay without an answer, as long as there are tokens. The first
// that goes well counts, else what the first one says. No request is on its way when it returns.
func (h *hedge) run(ctx context.Context, request func(context.Context) ([]string, error)) ([]string, error) {
	ctx, cancel := context.WithCancel(ctx)
	answers := make(chan attempt)
	running := 0
	send := func(again bool) {
		running++
		go func() {
			ids, err := request(ctx)
			answers <- attempt{ids, err, again}
		}()
	}
	defer func() {
		cancel()
		for ; running > 0; running-- {
			<-answers
		}
	}()
	send(false)
	slow := time.NewTicker(h.delay)
	defer slow.Stop()
	for {
		select {
		case a := <-answers:
			running--
			if a.err == nil {
				h.wentWell()
				return a.ids, nil
			}
			if !a.again {
				return nil, a.err
			}
		case <-slow.C:
			if h.take() {
				send(true)
			}
		}
	}
}
