package mysql

import "flag"

var tryAll = flag.Bool("all", false, "try all cases of what costs much, not a sample")

// amount is how many of so many cases are tried: `make soak` tries all.
func amount(all, sample int) int {
	if *tryAll {
		return all
	}
	return sample
}
