package main

import (
	"bytes"
	"strings"
	"testing"
	"time"
	"unicode/utf8"
)

func TestWrappedLinesFitAndLoseNoWord(t *testing.T) {
	const text = "one message → queue news → 10,000 users, each with what was picked → queue outbox → phones at " +
		"127.0.0.1:38545 (as Apple)"
	for _, width := range []int{40, 50, 80, 200} {
		got := terminal{width: width}.wrap(text, "  ")
		for _, line := range strings.Split(got, "\n") {
			if utf8.RuneCountInString(line) > width {
				t.Errorf("a line of more than %d columns: %q", width, line)
			}
		}
		if strings.Join(strings.Fields(got), " ") != text {
			t.Errorf("%d columns: the text became %q", width, got)
		}
	}
}

func TestABarFillsWithItsPart(t *testing.T) {
	for _, c := range []struct {
		part, whole int64
		want        string
	}{{0, 10, "░░░░"}, {5, 10, "██░░"}, {10, 10, "████"}, {11, 10, "████"}, {0, 0, "░░░░"}} {
		if got := (terminal{width: 80}).bar(c.part, c.whole, 4); got != c.want {
			t.Errorf("%d of %d: %s", c.part, c.whole, got)
		}
	}
	if got := (terminal{width: 80, colour: true}).bar(1, 2, 2); got != "\x1b[32m█\x1b[0m\x1b[2m░\x1b[0m" {
		t.Errorf("%q", got)
	}
}

// TestTheDemosTablesFitTheirTerminal draws them as they are at the end and on the way.
func TestTheDemosTablesFitTheirTerminal(t *testing.T) {
	for _, width := range []int{50, 80} {
		s := terminal{width: width}
		hops := newCampaignHops("ios")
		hops.begin(time.Now().Add(-time.Hour))
		var out bytes.Buffer
		if hops.draw(&out, s, mostDemoUsers) == 0 {
			t.Fatal("nothing was drawn")
		}
		if err := hops.writeSeed(&out, s, mostDemoUsers, time.Hour); err != nil {
			t.Fatal(err)
		}
		if err := hops.table(s).WriteText(&out); err != nil {
			t.Fatal(err)
		}
		for _, line := range strings.Split(out.String(), "\n") {
			if utf8.RuneCountInString(line) > width {
				t.Errorf("a line of more than %d columns: %q", width, line)
			}
		}
	}
}
