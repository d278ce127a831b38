package away

import (
	"slices"
	"testing"
	"time"
)

func TestTroubleIsToldAtOnceAndThenEverMoreRarely(t *testing.T) {
	var telling Telling
	began := time.Unix(1000, 0)
	during := func(from, to int) (told []int) {
		for at := from; at < to; at++ {
			if telling.Due(began.Add(time.Duration(at) * time.Second)) {
				told = append(told, at)
			}
		}
		return told
	}
	at := func(second int) time.Time { return began.Add(time.Duration(second) * time.Second) }
	if told, want := during(0, 1500), []int{0, 10, 30, 70, 150, 310, 630, 1230}; !slices.Equal(told, want) {
		t.Errorf("told after %d seconds, wanted %d", told, want)
	}
	if !telling.Over(at(1500)) || telling.Over(at(1500)) {
		t.Error("that it is over is not told once")
	}
	if told, want := during(1501, 2500), []int{1510, 2110}; !slices.Equal(told, want) {
		t.Errorf("when it is back soon it is told after %d seconds, wanted %d", told, want)
	}
	telling.Over(at(2500))
	if told, want := during(5000, 5020), []int{5000, 5010}; !slices.Equal(told, want) {
		t.Errorf("when it was calm it is told after %d seconds, wanted %d", told, want)
	}
}
