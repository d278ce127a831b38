package measure

import (
	"math"
	"testing"
	"time"
)

func TestDurationsAsPeopleWriteThem(t *testing.T) {
	for d, want := range map[time.Duration]string{
		0:                                       "0 s",
		7:                                       "7 ns",
		999:                                     "999 ns",
		time.Microsecond:                        "1.00 µs",
		12345:                                   "12.3 µs",
		999499:                                  "999 µs",
		999500:                                  "1.00 ms",
		99949 * time.Microsecond:                "99.9 ms",
		99950 * time.Microsecond:                "100 ms",
		999499 * time.Microsecond:               "999 ms",
		999500 * time.Microsecond:               "1.00 s",
		59949 * time.Millisecond:                "59.9 s",
		59950 * time.Millisecond:                "1m00s",
		125 * time.Second:                       "2m05s",
		3*time.Hour + 4*time.Minute:             "3h04m",
		51*time.Hour + 59*time.Minute:           "2d03h",
		-1500 * time.Millisecond:                "-1.50 s",
		math.MinInt64:                           "-106751d23h",
		time.Duration(math.MaxInt64):            "106751d23h",
		59*time.Minute + 59500*time.Millisecond: "1h00m",
	} {
		if got := Duration(d); got != want {
			t.Errorf("%d ns is %q, want %q", int64(d), got, want)
		}
	}
}

func TestBytesAsPeopleWriteThem(t *testing.T) {
	for n, want := range map[int64]string{
		0: "0 B", 1023: "1023 B", 1024: "1.00 KiB", -1536: "-1.50 KiB", 10 << 20: "10.0 MiB", 1<<20 - 1: "1.00 MiB",
		256 << 20: "256 MiB", 5 << 30: "5.00 GiB", 3 << 40: "3.00 TiB", 2 << 50: "2.00 PiB", math.MaxInt64: "8.00 EiB",
		math.MinInt64: "-8.00 EiB",
	} {
		if got := Bytes(n); got != want {
			t.Errorf("%d is %q, want %q", n, got, want)
		}
	}
}

func TestCountsHaveSeparators(t *testing.T) {
	for n, want := range map[int64]string{
		0: "0", 999: "999", 1000: "1,000", -1000: "-1,000", -999: "-999", 1234567: "1,234,567",
		math.MinInt64: "-9,223,372,036,854,775,808",
	} {
		if got := Count(n); got != want {
			t.Errorf("%d is %q, want %q", n, got, want)
		}
	}
}

func TestNumbersHaveThreeDigitsOrAreWhole(t *testing.T) {
	for f, want := range map[float64]string{
		0: "0", 0.00012345: "0.000123", 0.9996: "1.00", 0.4436: "0.444", 1: "1.00", 9.996: "10.0", 12.34: "12.3",
		99.94: "99.9", 99.96: "100",
		3300.4: "3,300", -12345.6: "-12,346", 1e-9: "1e-09", 1e20: "1e+20", math.Inf(1): "-",
	} {
		if got := Number(f); got != want {
			t.Errorf("%v is %q, want %q", f, got, want)
		}
	}
	if got := Number(math.NaN()); got != "-" {
		t.Errorf("NaN is %q", got)
	}
	if got := Rate(3300); got != "3,300/s" {
		t.Errorf("a rate is %q", got)
	}
}
