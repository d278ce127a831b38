package shard

import (
	"hash/maphash"
	"slices"
	"sync"
)

// stripes are locks for more keys than anybody could keep locks for: some keys share one.
type stripes []sync.Mutex

// seed spreads keys over stripes. It may be another one in each process.
var seed = maphash.MakeSeed()

// lock keeps others from locking some keys, until unlock is called. Who locks several does so in one call.
func lock[K comparable](s stripes, keys ...K) (unlock func()) {
	of := make([]int, len(keys))
	for i, k := range keys {
		of[i] = int(maphash.Comparable(seed, k) % uint64(len(s)))
	}
	slices.Sort(of)
	of = slices.Compact(of)
	for _, i := range of {
		s[i].Lock()
	}
	return func() {
		for _, i := range of {
			s[i].Unlock()
		}
	}
}
