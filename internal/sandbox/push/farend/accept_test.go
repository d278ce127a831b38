package farend

import (
	"testing"
	"time"

	"pgregory.net/rapid"
)

func TestTheGateLetsInNoMoreThanItsRate(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := Newcomers{PerSecond: rapid.Float64Range(0.1, 100).Draw(t, "rate"), Burst: rapid.IntRange(0, 50).Draw(t, "burst")}
		burst := float64(n.Burst)
		if n.Burst == 0 {
			burst = max(1, n.PerSecond)
		}
		var g gate
		begin := time.Unix(0, 0)
		now, in := begin, 0
		for _, ms := range rapid.SliceOfN(rapid.IntRange(0, 2000), 1, 300).Draw(t, "gaps") {
			now = now.Add(time.Duration(ms) * time.Millisecond)
			if g.open(n, now) {
				in++
			}
			if most := burst + now.Sub(begin).Seconds()*n.PerSecond; float64(in) > most+0.001 {
				t.Fatalf("%d were let in where %v may", in, most)
			}
		}
		if in == 0 {
			t.Fatal("not even the first was let in")
		}
	})
}

func TestTheGateIsOpenWithoutARate(t *testing.T) {
	var g gate
	for range 1000 {
		if !g.open(Newcomers{}, time.Unix(0, 0)) {
			t.Fatal("closed")
		}
	}
}

func TestThoseTurnedAwayAreTreatedAsTold(t *testing.T) {
	for do, want := range map[Treatment][2]Treatment{
		"": {ResetThem, ResetThem}, ResetThem: {ResetThem, ResetThem}, HangThem: {HangThem, HangThem}, MixThem: {ResetThem, HangThem},
	} {
		var g gate
		if got := [2]Treatment{g.treatment(Newcomers{Do: do}), g.treatment(Newcomers{Do: do})}; got != want {
			t.Errorf("%q: %v", do, got)
		}
	}
}
