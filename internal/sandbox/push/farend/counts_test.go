package farend

import (
	"bytes"
	"testing"

	"golang.org/x/net/http2/hpack"
	"pgregory.net/rapid"
)

func hpackField(f [2]string) hpack.HeaderField { return hpack.HeaderField{Name: f[0], Value: f[1]} }

func TestTheTallyCountsAsAMapDoes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var got tally
		want, doubles := map[uint64]int{}, 0
		for _, k := range rapid.SliceOfN(rapid.Uint64Range(0, 3000), 0, 5000).Draw(t, "keys") {
			k *= 1 << 20 // low bits alike: they collide
			if k == 0 {
				k = 1
			}
			got.add(k)
			if want[k] > 0 {
				doubles++
			}
			want[k]++
		}
		if got.n != len(want) || got.doubles != doubles {
			t.Fatalf("%d keys and %d doubles, not %d and %d", got.n, got.doubles, len(want), doubles)
		}
		for k, n := range want {
			if c := got.count(k); c != min(n, 255) {
				t.Fatalf("%d: %d instead of %d", k, c, n)
			}
		}
		if got.count(12345) != 0 {
			t.Fatal("counted what never came")
		}
	})
}

func TestAMillionMessagesCostLittleMemory(t *testing.T) {
	var all tally
	for i := range uint64(1_000_000) {
		all.add(i*0x9e3779b97f4a7c15 + 1)
	}
	if bytes := len(all.keys) * 9; bytes > 24<<20 {
		t.Errorf("%d MB", bytes>>20)
	}
}

func FuzzHeaderBlocksAreReadBackByHPACK(f *testing.F) {
	f.Add(200, "apns-id", "x")
	f.Add(429, "retry-after", string(bytes.Repeat([]byte("y"), 127)))
	f.Add(999, "a", string(bytes.Repeat([]byte("y"), 300)))
	f.Fuzz(func(t *testing.T, status int, name, value string) {
		if status < 100 || status > 999 {
			return
		}
		a := Answer{Status: status}
		a.Set(name, value)
		fields, err := hpack.NewDecoder(4096, nil).DecodeFull(appendHeader(nil, &a))
		if err != nil || len(fields) != 2 || fields[1].Name != name || fields[1].Value != value {
			t.Fatalf("%v %v", fields, err)
		}
		if got := fields[0].Value; len(got) != 3 || got[0] != byte('0'+status/100) {
			t.Fatalf("status %s instead of %d", got, status)
		}
	})
}
