package pubsub

import (
	"cmp"
	"context"
	"slices"
	"sync"
	"time"

	"github.com/hikyaku/hikyaku/internal/queue"
)

// flow counts what a stream's client holds, and knows what of it the client has said nothing of. What is acknowledged,
// put back, or past its deadline is held no longer.
type flow struct {
	maxMessages, maxBytes int64 // 0: no bound

	mu    sync.Mutex
	held  map[claimKey]heldClaim
	bytes int64
	sweep int           // so many are held when those past their deadlines are looked for
	freed chan struct{} // capacity 1
}

// leastSweep is how many messages are held before anybody looks which are past their deadlines.
const leastSweep = 1024

// claimKey names a claim within a stream.
type claimKey struct {
	sequence uint64
	serial   uint32
}

func keyOf(t queue.Token) claimKey { return claimKey{t.Sequence, t.Serial} }

type heldClaim struct {
	token queue.Token
	bytes int
	until int64 // Unix nanoseconds
	heard bool  // the client has moved the deadline, so it knows of the message
}

func newFlow(messages, bytes int64) *flow {
	return &flow{maxMessages: max(0, messages), maxBytes: max(0, bytes), freed: make(chan struct{}, 1),
		held: map[claimKey]heldClaim{}, sweep: leastSweep}
}

func (f *flow) bounded() bool { return f.maxMessages > 0 || f.maxBytes > 0 }

// room waits until the client may hold more, and says how much of what was asked for.
func (f *flow) room(ctx context.Context, n, b int) (messages, bytes int, err error) {
	if !f.bounded() {
		return n, b, nil
	}
	for {
		n, b, wait := f.left(n, b)
		if n > 0 {
			return n, b, nil
		}
		timer := time.NewTimer(wait)
		select {
		case <-f.freed:
		case <-timer.C: // a deadline has passed
		case <-ctx.Done():
			timer.Stop()
			return 0, 0, ctx.Err()
		}
		timer.Stop()
	}
}

// left is how much of n messages and b bytes there is room for; with none, how long until a deadline ends.
func (f *flow) left(n, b int) (messages, bytes int, wait time.Duration) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if messages, bytes = f.within(n, b); messages > 0 && bytes > 0 {
		return messages, bytes, 0
	}
	wait = f.expire(time.Now())
	if messages, bytes = f.within(n, b); messages > 0 && bytes > 0 {
		return messages, bytes, 0
	}
	return 0, 0, wait
}

// within is how much of n messages and b bytes is within the bounds.
func (f *flow) within(n, b int) (messages, bytes int) {
	if f.maxMessages > 0 {
		n = int(min(int64(n), f.maxMessages-int64(len(f.held))))
	}
	if f.maxBytes > 0 {
		b = int(min(int64(b), f.maxBytes-f.bytes))
	}
	return n, b
}

// expire lets go of what is past its deadline, and says how long the next one has.
func (f *flow) expire(now time.Time) (next time.Duration) {
	at, first := now.UnixNano(), int64(0)
	for k, h := range f.held {
		if h.until <= at {
			f.bytes -= int64(h.bytes)
			delete(f.held, k)
		} else if first == 0 || h.until < first {
			first = h.until
		}
	}
	return time.Duration(first - at)
}

// hold counts what is about to be sent, in the store's bytes, as claims count them.
func (f *flow) hold(claims []queue.Claim, until time.Time) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(f.held) >= f.sweep {
		f.expire(time.Now())
		f.sweep = max(leastSweep, 2*len(f.held))
	}
	for i := range claims {
		n := claims[i].Message.Size()
		f.held[keyOf(claims[i].Token)] = heldClaim{token: claims[i].Token, bytes: n, until: until.UnixNano()}
		f.bytes += int64(n)
	}
}

// unheard forgets what the client has said nothing of, and returns it in the order of the queue.
func (f *flow) unheard() []queue.Token {
	f.mu.Lock()
	defer f.mu.Unlock()
	var all []queue.Token
	now := time.Now().UnixNano()
	for k, h := range f.held {
		if !h.heard && h.until > now {
			all = append(all, h.token)
			f.bytes -= int64(h.bytes)
			delete(f.held, k)
		}
	}
	slices.SortFunc(all, func(a, b queue.Token) int { return cmp.Compare(a.Sequence, b.Sequence) })
	return all
}

// release counts them no longer.
func (f *flow) release(ids []ackID) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for i := range ids {
		k := keyOf(ids[i].token)
		if h, ok := f.held[k]; ok {
			f.bytes -= int64(h.bytes)
			delete(f.held, k)
		}
	}
	select {
	case f.freed <- struct{}{}:
	default:
	}
}

// extend moves the deadline of one.
func (f *flow) extend(id ackID, until time.Time) {
	f.mu.Lock()
	defer f.mu.Unlock()
	k := keyOf(id.token)
	if h, ok := f.held[k]; ok {
		h.until, h.heard = until.UnixNano(), true
		f.held[k] = h
	}
}
