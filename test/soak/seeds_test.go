package soak

import (
	"flag"
	"os"
	"testing"
)

// one is a seed to run alone, with everything it does.
var one = flag.Uint64("seed", 0, "run this seed alone and print what it does")

// seeds are what a test runs of them.
const (
	seeds       = 2000
	slowerSeeds = 100 // with the race detector
)

func TestSeeds(t *testing.T) {
	oneProcessor(t)
	if order := os.Getenv(workerEnv); order != "" {
		worker(t, order)
		return
	}
	if *one != 0 {
		res := run(t, *one, 1<<20, nil)
		for _, line := range res.trace {
			t.Log(line)
		}
		if res.err != nil {
			t.Fatal(res.err)
		}
		return
	}
	n := uint64(seeds)
	if raceDetector {
		n = slowerSeeds
	}
	var all tally
	for seed := uint64(1); seed <= n; seed++ {
		res := run(t, seed, 60, nil)
		all.add(res.count)
		if res.err != nil {
			t.Fatalf("%v\n\nfrom the beginning: go test ./test/soak -run TestSeeds -seed %d", res.err, seed)
		}
	}
	t.Log(all)
}
