package index

import (
	"math/rand/v2"
	"runtime"
	"testing"
)

// kinds are the keys of indexes that conditions ask for, and what an entry may cost: live, with many of them, and when
// half of them are gone again.
var kinds = []struct {
	name       string
	live, half float64 // bytes an entry
	keys       func(n int) []Key
}{
	{"random range", 27, 36, makeKeys(func(r *rand.Rand, _ int) Key { return Key{B: r.Uint64()} })},
	{"rising range", 18, 36, makeKeys(func(_ *rand.Rand, i int) Key { return Key{B: uint64(i)} })},
	{"falling range", 20, 36, makeKeys(func(_ *rand.Rand, i int) Key { return Key{B: uint64(1<<40 - i)} })},
	{"ten equal, falling range", 27, 36,
		makeKeys(func(r *rand.Rand, i int) Key { return Key{A: r.Uint64N(10) << 50, B: uint64(1<<40 - i)} })},
	{"rising beside falling", 27, 36,
		makeKeys(func(_ *rand.Rand, i int) Key { return Key{A: uint64(i % 2), B: uint64(1<<40 + i - i%2*2*i)} })},
	{"ten values of a range", 20, 36, makeKeys(func(r *rand.Rand, _ int) Key { return Key{B: r.Uint64N(10)} })},
	{"unique equality", 27, 36, makeKeys(func(r *rand.Rand, _ int) Key { return Key{A: r.Uint64()} })},
	{"ten equal", 20, 36, makeKeys(func(r *rand.Rand, _ int) Key { return Key{A: r.Uint64N(10) << 50} })},
	{"hundred equal", 27, 36, makeKeys(func(r *rand.Rand, _ int) Key { return Key{A: r.Uint64N(100) << 50} })},
	{"ten equal, random range", 27, 36,
		makeKeys(func(r *rand.Rand, _ int) Key { return Key{A: r.Uint64N(10) << 50, B: r.Uint64()} })},
	{"ten equal, rising range", 20, 36,
		makeKeys(func(r *rand.Rand, i int) Key { return Key{A: r.Uint64N(10) << 50, B: uint64(i)} })},
	{"unique equality, random range", 40, 54,
		makeKeys(func(r *rand.Rand, _ int) Key { return Key{A: r.Uint64(), B: r.Uint64()} })},
}

func makeKeys(key func(r *rand.Rand, i int) Key) func(n int) []Key {
	return func(n int) []Key {
		r := rand.New(rand.NewPCG(1, 2))
		keys := make([]Key, n)
		for i := range keys {
			keys[i] = key(r, i)
		}
		return keys
	}
}

func heapInUse() float64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	return float64(m.HeapAlloc)
}

func TestAnEntryTakesFewBytes(t *testing.T) {
	const size = 60_000
	for _, kind := range kinds {
		t.Run(kind.name, func(t *testing.T) {
			keys := kind.keys(size)
			order := rand.New(rand.NewPCG(3, 4)).Perm(size)
			before := heapInUse()
			tree := new(Tree)
			for i, k := range keys {
				tree.Insert(k, uint64(i))
			}
			live := heapInUse() - before
			said := float64(tree.Bytes())
			for _, i := range order[:size/2] {
				tree.Delete(keys[i], uint64(i))
			}
			half := heapInUse() - before
			t.Logf("%.1f bytes an entry, %.1f with half of them", live/size, half/(size/2))
			if live/size > kind.live || half/(size/2) > kind.half {
				t.Errorf("%.1f bytes an entry, %.1f with half of them; wanted at most %g and %g", live/size,
					half/(size/2), kind.live, kind.half)
			}
			for _, x := range []struct{ said, is float64 }{{said, live}, {float64(tree.Bytes()), half}} {
				if x.said < x.is*0.9 || x.said > x.is*1.1 {
					t.Errorf("it says %.0f bytes and takes %.0f", x.said, x.is)
				}
			}
			runtime.KeepAlive(keys)
			runtime.KeepAlive(order)
		})
	}
}
