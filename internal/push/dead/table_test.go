package dead

import (
	"testing"

	"pgregory.net/rapid"
)

func TestTheTableIsAMapOfLatestInstants(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var got table
		want := map[uint64]entry{}
		keys := rapid.SliceOfN(rapid.Uint64(), 1, 200).Draw(t, "keys")
		for range rapid.IntRange(0, 400).Draw(t, "steps") {
			mask := rapid.SampledFrom([]uint64{1<<64 - 1, 0xff << 56, 0xf, 0x1f}).Draw(t, "mask")
			e := entry{key: rapid.SampledFrom(keys).Draw(t, "key") & mask}
			if rapid.IntRange(0, 3).Draw(t, "kind") > 0 {
				e.at, e.what = rapid.Uint32Range(1, 9).Draw(t, "at"), rapid.Uint16().Draw(t, "what")
			}
			got.put(e)
			switch {
			case e.at == 0:
				delete(want, e.key)
			case e.at > want[e.key].at:
				want[e.key] = e
			}
		}
		if got.len() != len(want) {
			t.Fatalf("%d keys, want %d", got.len(), len(want))
		}
		for key, e := range want {
			if got.get(key) != e || got.at(key) != e.at {
				t.Fatalf("%+v, want %+v", got.get(key), e)
			}
		}
		got.all(func(e entry) {
			if want[e.key] != e {
				t.Fatalf("%+v, want %+v", e, want[e.key])
			}
			delete(want, e.key)
		})
		if len(want) > 0 {
			t.Fatalf("%d keys were left out", len(want))
		}
	})
}

func BenchmarkTable(b *testing.B) {
	var t table
	b.ReportAllocs()
	for i := range b.N {
		t.put(entry{uint64(i) * 0x9e3779b97f4a7c15, 1, 1})
	}
}
