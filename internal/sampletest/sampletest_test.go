package sampletest

import (
	"slices"
	"testing"
)

func TestASampleIsInOrderAndTheSameForTheSameSeed(t *testing.T) {
	t.Setenv(Seed, "17")
	all := []int{1, 2, 3, 4, 5, 6, 7, 8, 9}
	some := Of(t, 4, all...)
	if len(some) != 4 || !slices.IsSorted(some) || len(slices.Compact(slices.Clone(some))) != 4 {
		t.Errorf("%v", some)
	}
	if again := Of(t, 4, all...); !slices.Equal(again, some) {
		t.Errorf("%v, and then %v", some, again)
	}
	if whole := Of(t, 9, all...); !slices.Equal(whole, all) {
		t.Errorf("all are %v", whole)
	}
}

func TestEveryCaseIsTriedInTime(t *testing.T) {
	for seen := map[string]bool{}; len(seen) < 3; {
		seen[Of(t, 1, "a", "b", "c")[0]] = true
	}
}
