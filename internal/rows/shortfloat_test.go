package rows

import (
	"math"
	"math/rand/v2"
	"strconv"
	"testing"
)

// FuzzShortFloat holds the quick reader of floats to strconv: what it reads is the same to the last bit, and it takes
// nothing that is no number.
func FuzzShortFloat(f *testing.F) {
	for _, seed := range []string{"0", "-0", "0.1", "-12.50", "9007199254740992", "9007199254740993",
		"9007199254740992e22", "1e22", "1e23", "1e-22", "1e-23", "123456789012345e-37", "0.00000000000000000000001",
		"000000000000000000001.5", "5.", ".5", ".", "-", "", "+1", "1e", "1e+", "1e-0", "1E5", "1e5.", "1.2.3", "1_0",
		"0x1p2", "inf", "1e00022", "1e022", "0e999", "-0.0e1"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, s string) {
		got, ok := shortFloat(s)
		if !ok {
			return
		}
		want, err := strconv.ParseFloat(s, 64)
		if err != nil || math.Float64bits(got) != math.Float64bits(want) {
			t.Errorf("%q is %v, not %v (%v)", s, got, want, err)
		}
	})
}

func TestFloatsAreReadAsTheyAreWritten(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	c := &Column{Kind: Float, Bits: 64}
	quick := 0
	for range 200_000 {
		var f float64
		switch r.IntN(3) {
		case 0:
			f = math.Float64frombits(r.Uint64()) // any
		case 1:
			f = float64(r.Int64N(2e9)-1e9) / tens[r.IntN(12)] // measured
		default:
			f = r.Float64() * tens[r.IntN(len(tens))]
		}
		if math.IsNaN(f) || math.IsInf(f, 0) {
			continue
		}
		text := strconv.FormatFloat(f, "gef"[r.IntN(3)], -1, 64)
		if _, ok := shortFloat(text); ok {
			quick++
		}
		for _, read := range []func(string) (Value, error){c.ofNumber, c.ofText} {
			if v, err := read(text); err != nil || math.Float64bits(v.Float()) != math.Float64bits(f) {
				t.Fatalf("%s is %v, %v", text, v.Float(), err)
			}
		}
	}
	if quick < 50_000 {
		t.Errorf("only %d are read quickly", quick)
	}
}
