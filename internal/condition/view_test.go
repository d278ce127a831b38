package condition

import (
	"math"
	"testing"

	"pgregory.net/rapid"

	"github.com/hikyaku/hikyaku/internal/message"
)

func TestEqualValuesHaveOneKey(t *testing.T) {
	for _, c := range []struct {
		view   View
		want   message.Value
		values []message.Value
	}{
		{AsNumber, message.Int(10), []message.Value{
			message.Int(10), message.Float(10), message.Decimal("10.00"), message.String("10"), message.String(" 1e1 "),
			message.Bytes([]byte("+10")), instant("1970-01-01 00:00:10"),
		}},
		{AsNumber, message.Float(0.5), []message.Value{
			message.Float(0.5), message.Decimal("0.50"), message.String(".5"), instant("1970-01-01 00:00:00.5"),
		}},
		{AsNumber, message.Int(0), []message.Value{
			message.Bool(false), message.Float(math.Copysign(0, -1)), message.Decimal("-0.0"), message.String("0"),
		}},
		{AsNumber, message.Uint(1 << 63), []message.Value{
			message.Uint(1 << 63), message.Float(1 << 63), message.Decimal("9223372036854775808"),
		}},
		{AsNumber, message.Float(1 << 64), []message.Value{
			message.Float(1 << 64), message.String("18446744073709551616"),
		}},
		{AsNumber, message.Decimal("0.12345678901234567890123"), []message.Value{
			message.Decimal("000.123456789012345678901230"), message.String("+.12345678901234567890123"),
		}},
		{AsInstant, message.Int(1767312000), []message.Value{
			instant("2026-01-02"), message.String("2026-01-02T09:00:00+09:00"), message.Int(1767312000),
			message.Bytes([]byte("2026-01-02")),
		}},
		{AsIs, message.String("10"), []message.Value{
			message.String("10"), message.Bytes([]byte("10")),
		}},
		{AsIs, message.Int(10), []message.Value{
			message.Int(10), message.Decimal("10.0"),
		}},
		{AsText, message.String("10"), []message.Value{
			message.String("10"), message.Int(10), message.Decimal("10"), message.Float(10),
			message.Bytes([]byte("10")),
		}},
	} {
		for _, v := range c.values {
			if got, ok := c.view.Key(v); !ok || got != c.want {
				t.Errorf("%s: %#v has the key %#v, %v, want %#v", c.view, v, got, ok, c.want)
			}
		}
	}
}

func TestWhatAViewCannotSeeHasNoKey(t *testing.T) {
	nan := message.Float(math.NaN())
	for view, values := range map[View][]message.Value{
		AsNumber: {message.Null(), message.String("ja"), message.String(""), message.String("1e999"),
			message.Decimal("wrong"), nan},
		AsInstant: {message.Null(), message.String("ja"), message.String("10"), nan},
		AsIs:      {message.Null(), message.Decimal("wrong"), nan},
		AsText:    {message.Null()},
	} {
		for _, v := range values {
			if key, ok := view.Key(v); ok {
				t.Errorf("%s: %#v has the key %#v", view, v, key)
			}
		}
	}
}

func TestFloatsKeepTheirOrderAmongDecimals(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		f := rapid.Float64().Draw(t, "float")
		if math.IsInf(math.Nextafter(f, math.Inf(1)), 0) || math.IsInf(f, 0) {
			return
		}
		next := math.Nextafter(f, math.Inf(1))
		low := message.Decimal(string(appendDigits(nil, message.Float(f))))
		high := message.Decimal(string(appendDigits(nil, message.Float(next))))
		for _, pair := range [][2]message.Value{{message.Float(f), low}, {message.Float(next), high}} {
			if c := compareNumbers(pair[0], pair[1]); c != 0 {
				t.Fatalf("%#v with its own digits %#v: %d", pair[0], pair[1], c)
			}
		}
		if compareNumbers(low, high) >= 0 || compareNumbers(message.Float(f), high) >= 0 ||
			compareNumbers(low, message.Float(next)) >= 0 {
			t.Fatalf("%v and %v are out of order", f, next)
		}
		if k := canonicalNumber(low); k != canonicalNumber(message.Float(f)) {
			t.Fatalf("%v has the keys %#v and %#v", f, k, canonicalNumber(message.Float(f)))
		}
	})
}

func TestRangesContainWhatLiesBetweenTheirEnds(t *testing.T) {
	five, nine := message.Int(5), message.Int(9)
	for _, c := range []struct {
		r    Range
		want string // for the keys 4 to 10
	}{
		{Range{}, "1111111"},
		{Range{Low: closedAt(five)}, "0111111"},
		{Range{Low: openAt(five)}, "0011111"},
		{Range{High: closedAt(nine)}, "1111110"},
		{Range{High: openAt(nine)}, "1111100"},
		{Range{Low: closedAt(five), High: openAt(nine)}, "0111100"},
	} {
		got := ""
		for key := int64(4); key <= 10; key++ {
			got += string("01"[b2i(c.r.Contains(message.Int(key)))])
		}
		if got != c.want {
			t.Errorf("%s: %s, want %s", describeRange(&c.r), got, c.want)
		}
	}
}
