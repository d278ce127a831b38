//go:build guests

package wine

import (
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"
)

// TestCalibrate finds delays that the library is told to have. A report cannot come sooner, and on a machine that has
// something else to do it comes later.
func TestCalibrate(t *testing.T) {
	for _, delay := range []time.Duration{5 * time.Millisecond, 40 * time.Millisecond} {
		r := newRecord(t)
		said, err := end(t, pad(t, r, []string{fmt.Sprintf("GCDAPI_DELAY_US=%d", delay.Microseconds())}, "macro",
			"calibrate", "--rounds", "20", "--device", "titanone"))
		m := regexp.MustCompile(`until it has it +(\d+) +([0-9.]+ (?:µs|ms|s)) `).FindStringSubmatch(said)
		if err != nil || m == nil {
			t.Fatalf("%v\n%s", err, said)
		}
		median, err := time.ParseDuration(strings.ReplaceAll(m[2], " ", ""))
		if err != nil || median < delay {
			t.Errorf("a delay of %s was taken for %s, %v", delay, m[2], err)
		}
		// The picture begins with the shortest.
		if shortest := regexp.MustCompile(`from +([0-9.]+ (?:µs|ms|s)) `).FindStringSubmatch(said); shortest != nil {
			if least, err := time.ParseDuration(strings.ReplaceAll(shortest[1], " ", "")); err != nil || least < delay {
				t.Errorf("a delay of %s was at least once taken for %s, %v", delay, shortest[1], err)
			}
		}
		lead := regexp.MustCompile(`--lead ([0-9.]+ms)`).FindStringSubmatch(said)
		if m[1] != "40" || lead == nil {
			t.Errorf("it said\n%s", said)
		}
		r.released(t)
		t.Logf("%s", said)
	}
}

func TestADeviceThatTellsNothingHasItsWritesMeasured(t *testing.T) {
	r := newRecord(t)
	said, err := end(t, pad(t, r, []string{"GCDAPI_MUTE=1"}, "macro", "calibrate", "--rounds", "10", "--device",
		"titanone"))
	if err != nil || !strings.Contains(said, "a write ") ||
		!strings.Contains(said, "tells nothing that follows what is written to it") {
		t.Errorf("%v\n%s", err, said)
	}
	r.released(t)
}
