package dead

import (
	"testing"

	"pgregory.net/rapid"
)

func TestTheTableIsAMapOfLatestInstants(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var got table
		want := map[uint64]uint32{}
		keys := rapid.SliceOfN(rapid.Uint64(), 1, 200).Draw(t, "keys")
		for range rapid.IntRange(0, 400).Draw(t, "steps") {
			key := rapid.SampledFrom(keys).Draw(t, "key") & rapid.SampledFrom([]uint64{1<<64 - 1, 0xff << 56, 0xf}).Draw(t, "mask")
			at := rapid.Uint32Range(1, 9).Draw(t, "at")
			if raised := got.raise(key, at); raised != (at > want[key]) {
				t.Fatalf("raise says %v", raised)
			}
			want[key] = max(want[key], at)
		}
		if got.len() != len(want) {
			t.Fatalf("%d keys, want %d", got.len(), len(want))
		}
		for key, at := range want {
			if got.get(key) != at {
				t.Fatalf("%x: %d, want %d", key, got.get(key), at)
			}
		}
		got.all(func(key uint64, at uint32) {
			if want[key] != at {
				t.Fatalf("%x: %d, want %d", key, at, want[key])
			}
			delete(want, key)
		})
		if len(want) > 0 {
			t.Fatalf("%d keys were left out", len(want))
		}
		if got.get(12345) != 0 && len(keys) == 0 {
			t.Fatal("a key from nowhere")
		}
	})
}

func BenchmarkTable(b *testing.B) {
	var t table
	b.ReportAllocs()
	for i := range b.N {
		t.raise(uint64(i)*0x9e3779b97f4a7c15, 1)
	}
}
