package value_test

import (
	"errors"
	"math/big"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/hikyaku/hikyaku/tsurugi/internal/value"
)

func TestDecimalsKeepEveryDigit(t *testing.T) {
	for in, want := range map[string]string{
		"0": "0", "-0.0": "0.0", "12.34": "12.34", "-12.340": "-12.340", ".5": "0.5", "5.": "5", "1e3": "1000",
		"1.5E-3": "0.0015", "+7": "7",
		"99999999999999999999999999999999999999":     "99999999999999999999999999999999999999",
		"-99999999999999999999999999999.999999999":   "-99999999999999999999999999999.999999999",
		"9223372036854775808":                        "9223372036854775808",
		"-9223372036854775808":                       "-9223372036854775808",
		"1e1000000":                                  "1e1000000",
		"123456789012345678901234567890e-2000000000": "123456789012345678901234567890e-2000000000",
	} {
		v, err := value.ParseDecimal(in)
		if err != nil || v.String() != want || v.Type() != value.Decimal {
			t.Errorf("%s: got %v (%v), wanted %s", in, v, err, want)
		}
	}
	for _, bad := range []string{"", "-", ".", "1.2.3", "1-2", "--1", "1e", "1e99999999999", "0x1", "1.-2", "NaN"} {
		if v, err := value.ParseDecimal(bad); !errors.Is(err, value.ErrDecimal) {
			t.Errorf("%q is taken for %v", bad, v)
		}
	}
}

func TestCoefficientsAreTwosComplement(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := new(big.Int).SetBytes(rapid.SliceOfN(rapid.Byte(), 0, 20).Draw(t, "bytes"))
		if rapid.Bool().Draw(t, "negative") {
			n.Neg(n)
		}
		v := value.OfBigDecimal(n, -3)
		b := v.AppendTwos(nil)
		again := value.OfTwos(append(rapid.SampledFrom([][]byte{nil, sign(n)}).Draw(t, "padding"), b...), -3)
		if v.Coefficient().Cmp(n) != 0 || again != v || len(b) > n.BitLen()/8+1 {
			t.Fatalf("%v became %v in % x and then %v", n, v, b, again)
		}
	})
}

// sign is a byte that can stand before a number without changing it.
func sign(n *big.Int) []byte {
	if n.Sign() < 0 {
		return []byte{0xff}
	}
	return []byte{0}
}

func TestTimesAreWhatTheClockShows(t *testing.T) {
	at := time.Date(2026, 3, 29, 1, 2, 3, 456_789_000, time.FixedZone("", -(3*3600+30*60)))
	for _, c := range []struct {
		v    value.Value
		text string
		time time.Time
	}{
		{value.OfDate(at), "2026-03-29", time.Date(2026, 3, 29, 0, 0, 0, 0, time.UTC)},
		{value.OfDate(time.Date(1, 1, 1, 0, 0, 0, 0, time.UTC)), "0001-01-01",
			time.Date(1, 1, 1, 0, 0, 0, 0, time.UTC)},
		{value.OfTimeOfDay(at), "01:02:03.456789", time.Date(1970, 1, 1, 1, 2, 3, 456_789_000, time.UTC)},
		{value.OfTimePoint(at), "2026-03-29 01:02:03.456789", time.Date(2026, 3, 29, 1, 2, 3, 456_789_000, time.UTC)},
		{value.OfTimeOfDayWithTimeZone(at), "01:02:03.456789-03:30",
			time.Date(1970, 1, 1, 1, 2, 3, 456_789_000, at.Location())},
		{value.OfTimePointWithTimeZone(at), "2026-03-29 01:02:03.456789-03:30", at},
	} {
		if c.v.String() != c.text || !c.v.Time().Equal(c.time) {
			t.Errorf("got %v %v, wanted %s %v", c.v, c.v.Time(), c.text, c.time)
		}
	}
}

func TestValuesHaveText(t *testing.T) {
	for want, v := range map[string]value.Value{
		"NULL": {}, "true": value.OfBool(true), "-5": value.OfInt4(-5), "1.5": value.OfFloat4(1.5),
		"1e+300": value.OfFloat8(1e300), "text": value.OfText("text"),
		"00ff": value.OfBytes([]byte{0, 255}), "/tmp/x": value.OfBlobFile("/tmp/x"),
		"CLOB 1/2": value.OfReference(value.Clob, value.Reference{Provider: 1, Object: 2, Tag: 3}),
	} {
		if v.String() != want {
			t.Errorf("got %v, wanted %s", v, want)
		}
	}
	if _, ok := value.OfBlobFile("0123456789012345678901234").Reference(); ok {
		t.Error("a file is taken for a reference")
	}
}

func FuzzParseDecimal(f *testing.F) {
	for _, s := range []string{"1", "-1.50", "1e-7", "99999999999999999999", "."} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		v, err := value.ParseDecimal(s)
		if err != nil {
			return
		}
		again, err := value.ParseDecimal(v.String())
		if err != nil || again.Coefficient().Sign() != v.Coefficient().Sign() {
			t.Fatalf("%q became %v, which is read as %v (%v)", s, v, again, err)
		}
	})
}
