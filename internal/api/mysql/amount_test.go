package mysql

import (
	"flag"
	"testing"

	"github.com/hikyaku/hikyaku/internal/sampletest"
)

var tryAll = flag.Bool("all", false, "try all cases of what costs much, not a sample")

// amount is how many of so many cases are tried: `make soak` tries all.
func amount(all, sample int) int {
	if *tryAll {
		return all
	}
	return sample
}

// share takes one of so many cases, or all of them with -all.
func share[T any](t testing.TB, of int, cases ...T) []T {
	t.Helper()
	return sampletest.Of(t, amount(len(cases), (len(cases)+of-1)/of), cases...)
}
