package queue

import (
	"flag"
	"testing"
)

// What is tried many times, and is no matter of goroutines, is tried less with the race detector: it takes seven times as long there. `make test`
// runs these tests without it, too, and then tries all.

// amount is how often something is tried.
func amount(all, raced int) int {
	if raceDetector {
		return raced
	}
	return all
}

// seldom lets a test of a model try a quarter of its cases, if it is run with the race detector and -rapid.checks does not say how many.
// The test must not run beside others.
func seldom(t *testing.T) {
	t.Helper()
	const quarter = "25"
	checks := flag.Lookup("rapid.checks")
	if !raceDetector || checks.Value.String() != checks.DefValue {
		return
	}
	all := checks.Value.String()
	if err := checks.Value.Set(quarter); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := checks.Value.Set(all); err != nil {
			t.Error(err)
		}
	})
}
