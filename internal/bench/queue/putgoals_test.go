package queue

import (
	"testing"
)

func TestGoalsThatDependOnTheSize(t *testing.T) {
	for depth, want := range map[int]float64{100_000: 0, 1_000_000: 800, 10_000_000: 6000} {
		got := 0.0
		for _, g := range coldGoals(depth) {
			got = g.Number
		}
		if got != want {
			t.Errorf("a cold start with %d messages may take %v ms, want %v", depth, got, want)
		}
	}
	for writers, want := range map[int]string{1: "ratio >= 0.85", 16: "", 64: "to lone >= 16 or messages/s >= 200,000",
		256: "to lone >= 30 or messages/s >= 200,000"} {
		got := ""
		for _, g := range putGoals(writers) {
			got = g.Text()
		}
		if got != want {
			t.Errorf("%d writers: asked %q, want %q", writers, got, want)
		}
	}
}
