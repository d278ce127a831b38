//go:build linux

package crash

import (
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"testing"
	"time"
)

// patience is how long something may take that takes a moment when the machine has nothing else to do.
const patience = 2 * time.Minute

// until polls what can be seen from outside. what says, when it does not come, what was waited for; it may be called to
// describe how far things are.
func until(t *testing.T, what func() string, done func() bool) {
	t.Helper()
	untilWithin(t, patience, what, done)
}

// untilWithin is until for what takes so long by its rules.
func untilWithin(t *testing.T, patience time.Duration, what func() string, done func() bool) {
	t.Helper()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	over := time.NewTimer(patience)
	defer over.Stop()
	for !done() {
		select {
		case <-tick.C:
		case <-over.C:
			t.Fatalf("after %v still not: %s", patience, what())
		}
	}
}

// says makes a description for until of values that are looked at when it is needed.
func says(format string, args ...any) func() string {
	return func() string { return fmt.Sprintf(format, args...) }
}

// newRandom is the test's own generator.
func newRandom(t *testing.T) *rand.Rand {
	seed := uint64(time.Now().UnixNano())
	if s := os.Getenv("HIKYAKU_CRASH_SEED"); s != "" {
		n, err := strconv.ParseUint(s, 10, 64)
		if err != nil {
			t.Fatalf("HIKYAKU_CRASH_SEED: %v", err)
		}
		seed = n
	}
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("HIKYAKU_CRASH_SEED=%d", seed)
		}
	})
	return rand.New(rand.NewPCG(seed, 1))
}

// between is a random duration.
func between(r *rand.Rand, least, most time.Duration) time.Duration {
	return least + time.Duration(r.Int64N(int64(most-least)))
}
