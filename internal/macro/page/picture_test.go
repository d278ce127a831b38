package page

import (
	"encoding/xml"
	"errors"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/hikyaku/hikyaku/internal/macro"
	"github.com/hikyaku/hikyaku/pace"
)

// wellFormed complains about a picture that no XML reader would take.
func wellFormed(t *testing.T, svg string) {
	t.Helper()
	d := xml.NewDecoder(strings.NewReader(svg))
	for {
		if _, err := d.Token(); errors.Is(err, io.EOF) {
			return
		} else if err != nil {
			t.Fatalf("%v\n%s", err, svg)
		}
	}
}

func TestTheTimelineShowsWhatIsPressedAndWhen(t *testing.T) {
	script, err := macro.Read([]byte("2,lp 3\n2 2\n5 5\nlx=-50 4\n<player 2>\nup=50 2\nhk 9\n</player>\n"),
		macro.Options{})
	if err != nil {
		t.Fatal(err)
	}
	svg := Timeline(script, pace.NTSC())
	wellFormed(t, svg)
	for _, want := range []string{
		`>P1 pad<`, `>P1 lp<`, `>P1 lx<`, `>P2 pad<`, `>P2 hk<`,
		"frames 0 to 4: 5<", // the direction goes on through two lines
		"frames 0 to 2: 3<", "frames 10 to 13: 4<", ">-50<", ">↓<", ">✛<", "frames 2 to 10: 9<",
		"14 frames, 0.23 seconds, 6 states for both players",
	} {
		if !strings.Contains(svg, want) {
			t.Errorf("there is no %q in\n%s", want, svg)
		}
	}
}

func TestALongMacrosPictureIsBounded(t *testing.T) {
	script, err := macro.Read([]byte("<loop 100000>\nlp 1\nhp 1\n</loop>"), macro.Options{})
	if err != nil {
		t.Fatal(err)
	}
	svg := Timeline(script, pace.NTSC())
	wellFormed(t, svg)
	if len(svg) > 1<<20 {
		t.Errorf("%d bytes", len(svg))
	}
	if got := Timeline(new(macro.Script), pace.NTSC()); got != "" {
		t.Errorf("of nothing: %s", got)
	}
}

func TestTheHistogramCountsEveryFrame(t *testing.T) {
	var h pace.Histogram
	for _, d := range []time.Duration{0, 500 * time.Nanosecond, 1500 * time.Nanosecond, 3 * time.Microsecond,
		3 * time.Millisecond, time.Hour} {
		h.Add(d)
	}
	svg := latenessPicture(&h)
	wellFormed(t, svg)
	if n := strings.Count(svg, `class="count tally"`); n != 5 {
		t.Errorf("%d bars\n%s", n, svg)
	}
	for _, want := range []string{"<title>2 frames: less than 1µs late<", "<title>1 frames: from 1µs to 2µs late<",
		"<title>1 frames: 65.536ms or more late<", ">&lt;4 µs<", ">≥66 ms<"} {
		if !strings.Contains(svg, want) {
			t.Errorf("no %s in\n%s", want, svg)
		}
	}
	wellFormed(t, latenessPicture(new(pace.Histogram)))
}
