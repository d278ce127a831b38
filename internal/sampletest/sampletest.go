// Package sampletest chooses, for tests, which of many cases a run tries. Each run tries others, and the log of a test
// tells the seed that takes the same again.
package sampletest

import (
	"flag"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"testing"
)

// Seed is the name of the variable of the environment with the seed; where it is not set, each choice draws its own.
const Seed = "HIKYAKU_SAMPLE_SEED"

// Of takes n of the cases, in their order, or all when there are no more.
func Of[T any](t testing.TB, n int, cases ...T) []T {
	t.Helper()
	if n >= len(cases) {
		return cases
	}
	seed := rand.Uint64()
	if text := os.Getenv(Seed); text != "" {
		var err error
		if seed, err = strconv.ParseUint(text, 10, 64); err != nil {
			t.Fatalf("%s: %v", Seed, err)
		}
	}
	t.Logf("%d of %d cases: %s=%d takes the same again", n, len(cases), Seed, seed)
	which := rand.New(rand.NewPCG(seed, 1)).Perm(len(cases))[:n]
	slices.Sort(which)
	some := make([]T, 0, n)
	for _, i := range which {
		some = append(some, cases[i])
	}
	return some
}

// Checks has rapid try n cases of each model until the test ends, unless n is 0 or -rapid.checks says how many. The
// test must not run beside others.
func Checks(t testing.TB, n int) {
	t.Helper()
	checks := flag.Lookup("rapid.checks")
	if n == 0 || checks.Value.String() != checks.DefValue {
		return
	}
	if err := checks.Value.Set(strconv.Itoa(n)); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := checks.Value.Set(checks.DefValue); err != nil {
			t.Error(err)
		}
	})
}
