package file_test

import "math/rand/v2"

// What is tried many times, and is no matter of goroutines, is tried less with the race detector: it takes five times as long there. `make test`
// runs these tests without it, too, and then tries all.

// amount is how often something is tried.
func amount(all, raced int) int {
	if raceDetector {
		return raced
	}
	return all
}

// among tells whether one of many is among those that are tried.
func among(random *rand.Rand) bool { return !raceDetector || random.IntN(6) == 0 }
