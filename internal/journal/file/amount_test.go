package file_test

import (
	"flag"
	"math/rand/v2"
	"testing"
)

// `make test` runs this package's tests twice: with the race detector, with which they take about five times as long,
// and without it. What is tried many times, and is no matter of goroutines, is tried less with it, and `make soak`
// alone tries all.
var tryAll = flag.Bool("all", false, "try all cases of what is tried many times, not a sample")

// amount is how often something is tried: all told, as a sample, and as a smaller one, with the race detector and with
// -short.
func amount(all, sample, smaller int) int {
	switch {
	case *tryAll:
		return all
	case raceDetector, testing.Short():
		return smaller
	}
	return sample
}

// among tells whether one of many is among those that are tried.
func among(random *rand.Rand) bool { return random.IntN(amount(1, 3, 24)) == 0 }

// withoutDetector leaves a test to the run without the race detector: what it looks at is done by one goroutine.
func withoutDetector(t *testing.T) {
	t.Helper()
	if raceDetector {
		t.Skip("runs without the race detector, as scripts/unit and make soak-short do")
	}
}
