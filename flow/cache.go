package flow

import (
	"container/list"
	"time"
)

// cache keeps so many values, each for a while. It is guarded by its owner.
type cache[K comparable, V any] struct {
	size    int
	ttl     time.Duration
	entries map[K]*list.Element // of *kept
	recent  *list.List          // the one that was used last is at the front
}

type kept[K comparable, V any] struct {
	key   K
	value V
	until time.Time
}

func newCache[K comparable, V any](size int, ttl time.Duration) cache[K, V] {
	return cache[K, V]{size: size, ttl: ttl, entries: make(map[K]*list.Element), recent: list.New()}
}

func (c *cache[K, V]) get(key K) (v V, ok bool) {
	e := c.entries[key]
	if e == nil {
		return v, false
	}
	k := e.Value.(*kept[K, V])
	if c.ttl > 0 && !time.Now().Before(k.until) {
		c.drop(key)
		return v, false
	}
	c.recent.MoveToFront(e)
	return k.value, true
}

func (c *cache[K, V]) put(key K, value V) {
	if c.size <= 0 {
		return
	}
	c.drop(key)
	if c.recent.Len() >= c.size {
		c.drop(c.recent.Back().Value.(*kept[K, V]).key)
	}
	k := &kept[K, V]{key: key, value: value}
	if c.ttl > 0 {
		k.until = time.Now().Add(c.ttl)
	}
	c.entries[key] = c.recent.PushFront(k)
}

func (c *cache[K, V]) drop(key K) {
	if e := c.entries[key]; e != nil {
		c.recent.Remove(e)
		delete(c.entries, key)
	}
}
