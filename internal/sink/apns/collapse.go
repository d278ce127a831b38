package apns

import (
	"hash/maphash"
	"sync"
	"time"

	"github.com/hikyaku/hikyaku/internal/push"
)

// mostNewest is how many collapse ids of devices are known in each of two generations.
const mostNewest = 100_000

// collapses knows the newest message of each device's collapse ids, as far as it was seen lately. An older one that comes after it, as a retry
// does, is not sent; one that still waits for a stream, or for its answer, is given up. The zero value is ready.
type collapses struct {
	mu         sync.Mutex
	seed       maphash.Seed
	young, old map[uint64]int64     // the message's time
	under      map[uint64]*delivery // under way
}

// replaced tells whether a newer message than this one was seen. Otherwise this is the newest now, and an older one under way is given up.
func (c *collapses) replaced(d *delivery, app, token, id string, at time.Time) bool {
	if at.IsZero() {
		return false
	}
	c.mu.Lock()
	if c.young == nil {
		c.seed, c.young, c.under = maphash.MakeSeed(), map[uint64]int64{}, map[uint64]*delivery{}
	}
	k, t := c.key(app, token, id), at.UnixNano()
	newest, young := c.young[k]
	if !young {
		newest = c.old[k]
	}
	if newest > t {
		c.mu.Unlock()
		return true
	}
	if !young && len(c.young) >= mostNewest {
		c.old, c.young = c.young, make(map[uint64]int64, mostNewest)
	}
	c.young[k] = t
	var giveUp *push.Call
	if older := c.under[k]; older != nil && newest < t {
		older.replaced = true
		giveUp = older.call
	}
	d.collapse = k
	c.mu.Unlock()
	if giveUp != nil {
		giveUp.Cancel()
	}
	return false
}

// begin notes that a delivery is about to be sent.
func (c *collapses) begin(d *delivery) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.under[d.collapse] = d
}

// sent notes the call by which a delivery can be given up.
func (c *collapses) sent(d *delivery, call *push.Call) {
	c.mu.Lock()
	d.call = call
	giveUp := d.replaced
	c.mu.Unlock()
	if giveUp {
		call.Cancel()
	}
}

// end notes that a delivery is over, and tells whether it was replaced meanwhile.
func (c *collapses) end(d *delivery) (replaced bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.under[d.collapse] == d {
		delete(c.under, d.collapse)
	}
	return d.replaced
}

func (c *collapses) key(parts ...string) uint64 {
	var h maphash.Hash
	h.SetSeed(c.seed)
	for _, p := range parts {
		_, _ = h.WriteString(p) // never fails
		_ = h.WriteByte(0)
	}
	return max(1, h.Sum64())
}
