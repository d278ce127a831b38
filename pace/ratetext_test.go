package pace_test

import (
	"encoding/json"
	"errors"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/hikyaku/hikyaku/pace"
)

func TestRatesAreReadExactly(t *testing.T) {
	for text, want := range map[string]struct {
		n      int64
		span   time.Duration
		writes string
	}{
		"60/s":              {60, time.Second, "60/s"},
		" 60 / s ":          {60, time.Second, "60/s"},
		"60000/1001/s":      {60000, 1001 * time.Second, "60000/1001/s"},
		"59.94/s":           {2997, 50 * time.Second, "59.94/s"},
		"1.5/ms":            {1500, time.Second, "1500/s"},
		"7/3/s":             {7, 3 * time.Second, "140/min"},
		"0.5/s":             {1, 2 * time.Second, "30/min"},
		".25/min":           {1, 4 * time.Minute, "15/h"},
		"1./h":              {1, time.Hour, "1/h"},
		"2/ms":              {2000, time.Second, "2000/s"},
		"1/7/min":           {1, 7 * time.Minute, "1/420/s"},
		"3/50050000/ns":     {60000, 1001 * time.Second, "60000/1001/s"},
		"0.123456789/s":     {123456789, 1e9 * time.Second, "123456789/1000000000/s"},
		"1000000000/s":      {1, 1, "1000000000/s"},
		"7/12345678901/ns":  {7, 12345678901, "7000000/12345678901/ms"},
		"120000/2002/s":     {60000, 1001 * time.Second, "60000/1001/s"},
		"5000000000/s/1/ns": {}, "": {}, "60": {}, "s": {}, "/s": {}, "60/": {}, "60/sec": {}, "-60/s": {}, "+60/s": {},
		"60/-1/s": {},
		"0/s":     {}, "0.0/s": {}, "./s": {}, "1/0/s": {}, "1e3/s": {}, "60,5/s": {}, "1.0000000001/s": {},
		"2000000000/s":           {},
		"99999999999999999999/s": {}, "1/9223372036854775807/s": {}, "1.5/2/s": {}, "0x10/s": {}, "1_000/s": {},
	} {
		got, err := pace.ParseRate(text)
		if want.n == 0 {
			if !errors.Is(err, pace.ErrRate) || !got.IsZero() {
				t.Errorf("%q: %v, %v", text, got, err)
			}
			continue
		}
		wanted, wrong := pace.Every(want.n, want.span)
		if err != nil || wrong != nil || got != wanted {
			t.Errorf("%q: %v, %v, want %v, %v", text, got, err, wanted, wrong)
		}
		if got.String() != want.writes {
			t.Errorf("%q is written as %q, want %q", text, got.String(), want.writes)
		}
	}
}

func TestWhatIsWrittenIsReadBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r, _ := drawn(t)
		b, err := json.Marshal(r)
		if err != nil {
			t.Fatal(err)
		}
		var read pace.Rate
		if err := json.Unmarshal(b, &read); err != nil || read != r {
			t.Fatalf("%s: %v, %v", b, read, err)
		}
	})
	var none pace.Rate
	if b, err := none.MarshalText(); err != nil || len(b) > 0 || none.UnmarshalText(nil) != nil || !none.IsZero() {
		t.Errorf("no rate: %q, %v", b, err)
	}
	kept := pace.NTSC()
	if kept.UnmarshalText([]byte("much")) == nil || kept != pace.NTSC() {
		t.Errorf("after a mistake: %v", kept)
	}
}

func FuzzParseRate(f *testing.F) {
	for _, seed := range []string{"60/s", "59.94/s", "60000/1001/s", "3/50050000/ns", "100/min", ".5/h", "1/0/s",
		"-1/s", "99999999999999999999/s", "1//s"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		r, err := pace.ParseRate(text)
		if err != nil {
			if !r.IsZero() || !errors.Is(err, pace.ErrRate) {
				t.Fatalf("%q: %v and %v", text, r, err)
			}
			return
		}
		if r.Interval() <= 0 || r.Deadline(1) <= 0 {
			t.Fatalf("%q: a frame each %v", text, r.Interval())
		}
		if again, err := pace.ParseRate(r.String()); err != nil || again != r {
			t.Fatalf("%q is written as %q and read back as %v, %v", text, r, again, err)
		}
	})
}
