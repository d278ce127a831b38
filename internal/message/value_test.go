package message

import (
	"fmt"
	"math"
	"testing"
	"time"
)

func TestValuesKeepWhatTheyAreGiven(t *testing.T) {
	when := time.Date(2026, 1, 2, 3, 4, 5, 678901234, time.FixedZone("", 9*3600))
	for _, c := range []struct {
		value Value
		kind  Kind
		text  string
		size  int
		ok    bool
	}{
		{Null(), KindNull, "", 1, Null().IsNull()},
		{Value{}, KindNull, "", 1, Value{} == Null()},
		{Bool(true), KindBool, "true", 1, Bool(true).AsBool()},
		{Bool(false), KindBool, "false", 1, !Bool(false).AsBool()},
		{Int(math.MinInt64), KindInt, "-9223372036854775808", 8, Int(math.MinInt64).AsInt() == math.MinInt64},
		{Uint(7), KindInt, "7", 8, Uint(7) == Int(7) && Uint(7).AsUint() == 7},
		{Uint(math.MaxInt64), KindInt, "9223372036854775807", 8, true},
		{Uint(math.MaxInt64 + 1), KindUint, "9223372036854775808", 8, true},
		{Uint(math.MaxUint64), KindUint, "18446744073709551615", 8, Uint(math.MaxUint64).AsUint() == math.MaxUint64},
		{Float(0.1), KindFloat, "0.1", 8, Float(0.1).AsFloat() == 0.1},
		{Float(1e21), KindFloat, "1e+21", 8, true},
		{String("飛脚"), KindString, "飛脚", 6, String("飛脚").AsString() == "飛脚"},
		{Bytes([]byte{0, 255}), KindBytes, "AP8=", 2, Bytes([]byte{0, 255}).AsString() == "\x00\xff"},
		{Time(when), KindTime, "2026-01-01T18:04:05.678901Z", 8,
			Time(when).AsTime().Equal(when.Truncate(time.Microsecond))},
		{Decimal("-12.50"), KindDecimal, "-12.50", 6, Decimal("-12.50").AsString() == "-12.50"},
	} {
		if c.value.Kind() != c.kind || c.value.Text() != c.text || c.value.Size() != c.size || !c.ok {
			t.Errorf("%#v: kind %s, text %q, size %d, kept %v", c.value, c.value.Kind(), c.value.Text(), c.value.Size(),
				c.ok)
		}
		if got, want := fmt.Sprintf("%#v", c.value), c.kind.String()+"("+c.text+")"; got != want {
			t.Errorf("shown as %s, want %s", got, want)
		}
	}
}

func TestBytesAreCopied(t *testing.T) {
	b := []byte("abc")
	v := Bytes(b)
	b[0] = 'x'
	if v.AsString() != "abc" {
		t.Error("the value changed with the slice it was made of")
	}
}

func TestKindsKeepTheirNumbers(t *testing.T) {
	// The journal stores them.
	for number, kind := range []Kind{KindNull, KindBool, KindInt, KindUint, KindFloat, KindString, KindBytes, KindTime,
		KindDecimal} {
		if int(kind) != number {
			t.Errorf("%s is %d, not %d", kind, kind, number)
		}
	}
	if got := Kind(200).String(); got != "kind 200" {
		t.Errorf("an unknown kind is %q", got)
	}
}

func TestParseTimeReadsWhatPeopleWrite(t *testing.T) {
	for text, want := range map[string]string{
		"2026-01-02":                   "2026-01-02T00:00:00Z",
		"2026-01-02 03:04:05":          "2026-01-02T03:04:05Z",
		"2026-01-02 03:04:05.123":      "2026-01-02T03:04:05.123Z",
		"2026-01-02T03:04:05":          "2026-01-02T03:04:05Z",
		"2026-01-02T03:04:05.1234569Z": "2026-01-02T03:04:05.123456Z",
		"2026-01-02T03:04:05+09:00":    "2026-01-01T18:04:05Z",
		"2026-01-02 03:04:05-01:00":    "2026-01-02T04:04:05Z",
		"0000-01-01":                   "0000-01-01T00:00:00Z",
		"9999-12-31T23:59:59.999999Z":  "9999-12-31T23:59:59.999999Z",
	} {
		got, err := ParseTime(text)
		if err != nil || got.Format(TimeFormat) != want || got.Location() != time.UTC {
			t.Errorf("%q: %v, %v, want %s", text, got, err, want)
		}
	}
	for _, text := range []string{"", "soon", "2026-13-01", "2026-02-30", "2026-01-02 25:00:00", "2026-01-02x",
		"20260102", "0000-00-00", "9999-12-31T23:59:59-01:00",
		"0000-01-01T00:00:00+01:00", " 2026-01-02", "2026-01-02T03:04:05.0000000000000000000000000000000000Z"} {
		if got, err := ParseTime(text); err == nil {
			t.Errorf("%q is %v", text, got)
		}
	}
}
