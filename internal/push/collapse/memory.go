// Package collapse knows which messages a newer one with the same device and collapse id has replaced:
//
//	var newest collapse.Memory
//	p, replaced := newest.Note(m.Time, app, token, id)    // replaced: drop it, a newer one was here before
//	if newest.Begin(p) { … }                              // drop it: a newer one has come since
//	newest.Sent(p, client.Start(request, deadline, came))
//	if newest.End(p) && !delivered { … }                  // in came: it was given up for a newer one
//
// The memory is bounded and does not survive a restart. It holds what was seen, be it delivered by now or not: an older
// message that comes later, as a retry, from a redelivery or by another way through the pipeline, does not overtake a
// newer one. Backlog adds what waits in a queue.
package collapse

import (
	"hash/maphash"
	"sync"
	"time"

	"github.com/hikyaku/hikyaku/internal/push"
)

// most is how many collapse ids of devices are known in each of two generations.
const most = 100_000

// Memory knows the newest message of each device's collapse ids, as far as it was seen lately. An older one that comes
// after it is not to be sent; one that still waits for a stream, or for its answer, is given up. The zero value is
// ready, and it may be used from any goroutine.
type Memory struct {
	mu         sync.Mutex
	seed       maphash.Seed
	young, old map[uint64]int64 // the message's time
	under      map[uint64]*Push // under way
}

// Push is what is known of one message on its way. nil stands for one without a collapse id. Its fields are the
// Memory's.
type Push struct {
	key      uint64 // names device and collapse id
	time     int64
	call     *push.Call
	replaced bool // a newer message has come
}

// Again is for a request that is made once more.
func (p *Push) Again() *Push {
	if p == nil {
		return nil
	}
	return &Push{key: p.key, time: p.time}
}

// Note tells whether a message newer than this one, of that time, was seen with the same names: app, device, collapse
// id. Otherwise this is the newest now, and an older one under way is given up. A message without a time is never
// replaced, and replaces nothing.
func (c *Memory) Note(at time.Time, names ...string) (p *Push, replaced bool) {
	if at.IsZero() {
		return nil, false
	}
	c.mu.Lock()
	if c.young == nil {
		c.seed, c.young, c.under = maphash.MakeSeed(), map[uint64]int64{}, map[uint64]*Push{}
	}
	k, t := c.hash(names), at.UnixNano()
	newest, young := c.newest(k)
	if newest > t {
		c.mu.Unlock()
		return nil, true
	}
	if !young && len(c.young) >= most {
		c.old, c.young = c.young, make(map[uint64]int64, most)
	}
	c.young[k] = t
	var giveUp *push.Call
	if older := c.under[k]; older != nil && newest < t {
		older.replaced = true
		giveUp = older.call
	}
	c.mu.Unlock()
	if giveUp != nil {
		giveUp.Cancel()
	}
	return &Push{key: k, time: t}, false
}

// newest is the time of the newest message of a key. The mutex is held.
func (c *Memory) newest(k uint64) (at int64, young bool) {
	if at, young = c.young[k]; !young {
		at = c.old[k]
	}
	return at, young
}

// Begin notes that a message is about to be sent, and tells whether a newer one has come since Note was asked: then it
// is not to be.
func (c *Memory) Begin(p *Push) (replaced bool) {
	if p == nil {
		return false
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if newest, _ := c.newest(p.key); newest > p.time {
		return true
	}
	c.under[p.key] = p
	return false
}

// Sent notes the call by which a message can be given up.
func (c *Memory) Sent(p *Push, call *push.Call) {
	if p == nil {
		return
	}
	c.mu.Lock()
	p.call = call
	giveUp := p.replaced
	c.mu.Unlock()
	if giveUp {
		call.Cancel()
	}
}

// End notes that a message is over, and tells whether it was replaced meanwhile.
func (c *Memory) End(p *Push) (replaced bool) {
	if p == nil {
		return false
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.under[p.key] == p {
		delete(c.under, p.key)
	}
	return p.replaced
}

// UnderWay is how many messages with a collapse id are under way.
func (c *Memory) UnderWay() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.under)
}

func (c *Memory) hash(names []string) uint64 {
	var h maphash.Hash
	h.SetSeed(c.seed)
	for _, n := range names {
		_, _ = h.WriteString(n) // never fails
		_ = h.WriteByte(0)
	}
	return h.Sum64()
}
