package dead

import (
	"sync"
	"time"
)

const (
	shards     = 64
	firstSlots = 16
)

// table maps hashes to instants in whole seconds since 1970, 12 bytes each. It is split so that growing holds up few, and briefly.
type table [shards]shard

// shard is open-addressed with linear probing. Time 0 is an empty slot.
type shard struct {
	mu    sync.RWMutex
	n     int
	keys  []uint64
	times []uint32
}

// seconds brings an instant into the table's form; it is never 0.
func seconds(t time.Time) uint32 { return uint32(min(max(t.Unix(), 1), 1<<32-1)) }

func (t *table) shard(key uint64) *shard { return &t[key>>58] }

// get returns the instant of a key; 0: it has none.
func (t *table) get(key uint64) uint32 {
	s := t.shard(key)
	s.mu.RLock()
	defer s.mu.RUnlock()
	if s.n == 0 {
		return 0
	}
	return s.times[s.find(key)]
}

// raise sets the instant of a key unless it has a later one, and tells whether it did.
func (t *table) raise(key uint64, at uint32) bool {
	s := t.shard(key)
	s.mu.Lock()
	defer s.mu.Unlock()
	if 4*(s.n+1) > 3*len(s.keys) {
		s.grow()
	}
	i := s.find(key)
	if s.times[i] >= at {
		return false
	}
	if s.times[i] == 0 {
		s.n++
	}
	s.keys[i], s.times[i] = key, at
	return true
}

// find returns the slot of a key, or the empty one where it belongs.
func (s *shard) find(key uint64) int {
	mask := len(s.keys) - 1
	i := int(key) & mask
	for s.times[i] != 0 && s.keys[i] != key {
		i = (i + 1) & mask
	}
	return i
}

func (s *shard) grow() {
	keys, times := s.keys, s.times
	size := max(firstSlots, 2*len(keys))
	s.keys, s.times = make([]uint64, size), make([]uint32, size)
	for i, at := range times {
		if at != 0 {
			j := s.find(keys[i])
			s.keys[j], s.times[j] = keys[i], at
		}
	}
}

// all calls f for every key.
func (t *table) all(f func(key uint64, at uint32)) {
	for i := range t {
		s := &t[i]
		s.mu.RLock()
		for j, at := range s.times {
			if at != 0 {
				f(s.keys[j], at)
			}
		}
		s.mu.RUnlock()
	}
}

func (t *table) len() int {
	n := 0
	for i := range t {
		t[i].mu.RLock()
		n += t[i].n
		t[i].mu.RUnlock()
	}
	return n
}
