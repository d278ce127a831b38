package nearest

import (
	"strings"
	"testing"
)

func TestTheNearestNameIsFoundAndFarOnesAreNot(t *testing.T) {
	names := []string{"queue", "queues", "max_attempts", "max_connections", "listen", "id", "飛脚便"}
	for s, want := range map[string]string{
		"quee": "queue", "queuess": "queues", "QUEUE": "queue", "max_attemps": "max_attempts", "lisetn": "listen",
		"attempts": "max_attempts",
		"max_conn": "max_connections", "ib": "id", "飛却便": "飛脚便", "colour": "", "x": "", "": "",
		strings.Repeat("x", 300): "",
	} {
		if got := Name(s, names); got != want {
			t.Errorf("%.20q: %q, want %q", s, got, want)
		}
	}
}

func TestDistanceCountsLettersPutInTakenOutChangedAndSwapped(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want int
	}{{"", "", 0}, {"", "abc", 3}, {"abc", "abc", 0}, {"abc", "acb", 1}, {"abc", "abd", 1}, {"abc", "ab", 1},
		{"kitten", "sitting", 3}} {
		if got := distance(c.a, c.b); got != c.want {
			t.Errorf("%q to %q: %d, want %d", c.a, c.b, got, c.want)
		}
		if got := distance(c.b, c.a); got != c.want {
			t.Errorf("%q to %q: %d, want %d", c.b, c.a, got, c.want)
		}
	}
}
