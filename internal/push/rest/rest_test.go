package rest

import (
	"errors"
	"fmt"
	"testing"
	"time"
)

var noon = time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)

func TestADeviceRestsLongerEachTimeAndNoOtherDoes(t *testing.T) {
	var ds Devices
	now := noon
	last := time.Duration(0)
	for range 12 {
		rest := ds.Strain("app", "a", now, 0)
		if rest < last || rest > longest {
			t.Fatalf("rests %v after %v", rest, last)
		}
		if got := ds.Left("app", "a", now); got != rest {
			t.Errorf("%v are left of %v", got, rest)
		}
		if ds.Left("app", "b", now) != 0 || ds.Left("other", "a", now) != 0 {
			t.Error("another device rests")
		}
		last, now = rest, now.Add(rest)
	}
	if last != longest {
		t.Errorf("the longest rest was %v", last)
	}
	ds.Calm("app", "a")
	if rest := ds.Strain("app", "a", now, 0); rest != first {
		t.Errorf("after it was calm it rests %v", rest)
	}
}

func TestADeviceRestsAsLongAsAskedFor(t *testing.T) {
	var ds Devices
	if rest := ds.Strain("app", "a", noon, time.Minute); rest != time.Minute {
		t.Errorf("rests %v", rest)
	}
	if rest := ds.Strain("app", "a", noon.Add(time.Second), 0); rest != 59*time.Second {
		t.Errorf("an earlier answer changed it to %v", rest)
	}
	if rest := ds.Strain("app", "a", noon.Add(2*time.Second), 2*time.Minute); rest != 2*time.Minute {
		t.Errorf("asked for more, it rests %v", rest)
	}
}

func TestNoMoreDevicesAreKnownThanTheBound(t *testing.T) {
	var ds Devices
	for i := range mostKnown + 1000 {
		ds.Strain("app", fmt.Sprint(i), noon, 0)
	}
	if n := len(ds.known); n > mostKnown {
		t.Errorf("%d are known", n)
	}
	ds.Strain("app", "late", noon.Add(time.Hour), 0)
	if n := len(ds.known); n != 1 {
		t.Errorf("an hour later %d are known", n)
	}
}

func TestAPauseLastsAsLongAsTheLongestAskedFor(t *testing.T) {
	var p Pause
	why := errors.New("quota")
	p.Begin(noon, time.Minute, why)
	p.Begin(noon, time.Second, errors.New("other"))
	if left, err := p.Left(noon.Add(10 * time.Second)); left != 50*time.Second || err != why {
		t.Errorf("%v, %v", left, err)
	}
	if left, _ := p.Left(noon.Add(time.Hour)); left != 0 {
		t.Errorf("%v", left)
	}
}

func TestStrikesOfOneDeviceAreItsOwnAndOfManyAreEverybodys(t *testing.T) {
	var s strikes
	for range 100 {
		if s.strike(noon, 7) {
			t.Fatal("one device struck everybody out")
		}
	}
	var many strikes
	out := 0
	for i := range uint64(10) {
		if many.strike(noon.Add(time.Duration(i)*time.Millisecond), i) {
			out++
		}
	}
	if out != 10-strikesOut+1 {
		t.Errorf("%d of 10 struck out", out)
	}
	var slow strikes
	for i := range uint64(20) {
		if slow.strike(noon.Add(time.Duration(i)*time.Minute), i) {
			t.Error("strikes of minutes ago were counted")
		}
	}
}

func TestAPauseBeginsWhenSeveralDevicesStruck(t *testing.T) {
	var p Pause
	why := errors.New("quota")
	for i := range uint64(strikesOut) {
		began := p.Strike(noon, i, time.Minute, why)
		left, reason := p.Left(noon)
		if last := i == strikesOut-1; began != last || (left == time.Minute) != last || (reason == why) != last {
			t.Errorf("after %d strikes: %v, %v left for %v", i+1, began, left, reason)
		}
	}
}

func TestRetryAfterIsReadInBothForms(t *testing.T) {
	for text, want := range map[string]time.Duration{
		"": 0, "7": 7 * time.Second, " 7 ": 7 * time.Second, "-1": 0, "soon": 0, "99999": LongestAfter,
		"99999999999999":                0,
		"Sun, 22 Nov 2026 12:00:30 GMT": 30 * time.Second, "Sun, 22 Nov 2026 11:00:30 GMT": 0,
		"Mon, 22 Nov 2027 12:00:30 GMT": LongestAfter,
	} {
		if got := After(text, noon); got != want {
			t.Errorf("%q: %v instead of %v", text, got, want)
		}
	}
}

func FuzzAfter(f *testing.F) {
	f.Add("7")
	f.Add("Sun, 22 Nov 2026 12:00:30 GMT")
	f.Fuzz(func(t *testing.T, text string) {
		if d := After(text, noon); d < 0 || d > LongestAfter {
			t.Fatalf("%q: %v", text, d)
		}
	})
}
