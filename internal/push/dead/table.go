package dead

import (
	"sync"
	"time"
)

const (
	shards     = 64
	firstSlots = 16
)

// table maps hashes to instants in whole seconds since 1970 and the numbers of causes, 14 bytes each. It is split so
// that growing holds up few, and briefly.
type table [shards]shard

// shard is open-addressed with linear probing. Time 0 is an empty slot.
type shard struct {
	mu    sync.RWMutex
	n     int
	keys  []uint64
	times []uint32
	whats []uint16
}

// seconds brings an instant into the table's form; it is never 0.
func seconds(t time.Time) uint32 { return uint32(min(max(t.Unix(), 1), 1<<32-1)) }

func (t *table) shard(key uint64) *shard { return &t[key>>58] }

// get returns the entry of a key; its instant is 0 where there is none.
func (t *table) get(key uint64) entry {
	s := t.shard(key)
	s.mu.RLock()
	defer s.mu.RUnlock()
	if s.n == 0 {
		return entry{key: key}
	}
	i := s.find(key)
	if s.times[i] == 0 {
		return entry{key: key}
	}
	return entry{key, s.times[i], s.whats[i]}
}

// at returns the instant of a key; 0: there is none. It is what each push asks.
func (t *table) at(key uint64) uint32 {
	s := t.shard(key)
	s.mu.RLock()
	defer s.mu.RUnlock()
	if s.n == 0 {
		return 0
	}
	return s.times[s.find(key)]
}

// put takes an entry over: a death unless there is one as late, or that there is none.
func (t *table) put(e entry) {
	s := t.shard(e.key)
	s.mu.Lock()
	defer s.mu.Unlock()
	if e.at == 0 {
		s.remove(e.key)
		return
	}
	if 4*(s.n+1) > 3*len(s.keys) {
		s.grow()
	}
	i := s.find(e.key)
	if s.times[i] >= e.at {
		return
	}
	if s.times[i] == 0 {
		s.n++
	}
	s.keys[i], s.times[i], s.whats[i] = e.key, e.at, e.what
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

// remove empties the slot of a key, and moves those behind it that would not be found any more.
func (s *shard) remove(key uint64) {
	if s.n == 0 {
		return
	}
	hole := s.find(key)
	if s.times[hole] == 0 {
		return
	}
	s.n--
	mask := len(s.keys) - 1
	for i := (hole + 1) & mask; s.times[i] != 0; i = (i + 1) & mask {
		home := int(s.keys[i]) & mask
		if (i-home)&mask < (i-hole)&mask {
			continue // the hole is before its home
		}
		s.keys[hole], s.times[hole], s.whats[hole] = s.keys[i], s.times[i], s.whats[i]
		hole = i
	}
	s.times[hole] = 0
}

func (s *shard) grow() {
	keys, times, whats := s.keys, s.times, s.whats
	size := max(firstSlots, 2*len(keys))
	s.keys, s.times, s.whats = make([]uint64, size), make([]uint32, size), make([]uint16, size)
	for i, at := range times {
		if at != 0 {
			j := s.find(keys[i])
			s.keys[j], s.times[j], s.whats[j] = keys[i], at, whats[i]
		}
	}
}

// all calls f for every entry. f must not use the table.
func (t *table) all(f func(entry)) {
	for i := range t {
		t[i].each(f)
	}
}

func (s *shard) each(f func(entry)) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	for j, at := range s.times {
		if at != 0 {
			f(entry{s.keys[j], at, s.whats[j]})
		}
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
