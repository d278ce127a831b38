package message

import (
	"math"
	"testing"
	"time"
)

func TestAValueComesBackFromItsBinaryForm(t *testing.T) {
	for _, v := range []Value{Null(), Bool(true), Bool(false), Int(-1), Int(math.MinInt64), Uint(math.MaxUint64),
		Float(0.1), Float(math.NaN()), String(""), String("飛脚"), Bytes([]byte{0, 255}), Time(time.Unix(-1, 5000)),
		Decimal("-1.50")} {
		b, err := v.MarshalBinary()
		if err != nil {
			t.Fatal(err)
		}
		var got Value
		if err := got.UnmarshalBinary(b); err != nil || got != v {
			t.Errorf("%v comes back as %v, %v", v, got, err)
		}
	}
}

func FuzzUnmarshalBinary(f *testing.F) {
	for _, s := range []string{"", "\x00", "\x01\x01", "\x02\x81\x01", "\x05text", "\x09", "\x03\x01"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		var v, again Value
		if v.UnmarshalBinary(b) != nil {
			return
		}
		b, err := v.MarshalBinary()
		if err != nil {
			t.Fatal(err)
		}
		if err := again.UnmarshalBinary(b); err != nil || again != v {
			t.Errorf("%v comes back as %v, %v", v, again, err)
		}
	})
}
