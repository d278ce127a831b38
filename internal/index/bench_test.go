package index

import (
	"math/rand/v2"
	"testing"
)

// BenchmarkLeast asks for random ranges on both sides and deletes what it finds.
func BenchmarkLeast(b *testing.B) {
	for _, size := range []int{6_000, 1_000_000} {
		b.Run(map[int]string{6_000: "6k", 1_000_000: "1M"}[size], func(b *testing.B) {
			r := rand.New(rand.NewPCG(1, 2))
			var tree Tree
			keys := make([]Key, size)
			for i := range keys {
				keys[i] = Key{B: r.Uint64()}
				tree.Insert(keys[i], uint64(i))
			}
			b.ResetTimer()
			for range b.N {
				lo, hi := r.Uint64(), r.Uint64()
				if seq, ok := tree.Least(Key{B: min(lo, hi)}, Key{B: max(lo, hi)}); ok {
					tree.Delete(keys[seq], seq)
					tree.Insert(keys[seq], seq)
				}
			}
		})
	}
}

// BenchmarkFill inserts a million entries of each kind of key in the order of sequences, and deletes them at random.
func BenchmarkFill(b *testing.B) {
	const size = 1_000_000
	r := rand.New(rand.NewPCG(1, 2))
	order := r.Perm(size)
	for _, kind := range kinds {
		keys := kind.keys(size)
		b.Run(kind.name, func(b *testing.B) {
			for range b.N {
				var tree Tree
				for i, k := range keys {
					tree.Insert(k, uint64(i))
				}
				for _, i := range order {
					tree.Delete(keys[i], uint64(i))
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/size/2, "ns/change")
		})
	}
}
