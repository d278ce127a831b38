package queue

import (
	"time"

	"github.com/hikyaku/hikyaku/internal/bench/harness"
)

// extent says how much is measured.
type extent struct {
	harness.Pacing
	warmUp     time.Duration // before each comparison, uncounted
	writers    []int         // who put at once
	claimDepth int           // messages waiting where readers take the oldest
	beyond     int           // messages waiting in the queue that calls go through beside puts
	depths     [2]int        // messages waiting where readers name a condition
	// messages waiting where the cost of a claim by condition is compared with that at depth shallow
	deep    int
	shallow int
	// messages waiting at a start after a death; more would reach a checkpoint before it, and be a clean start
	killed     int
	restarts   []int // messages waiting at a start after a clean stop
	starts     int   // pairs of a start and its limit
	remembered int   // messages waiting where memory is measured
	cleaning   cleaningExtent
	waiters    int // readers that wait beside the one that is handed a message
}

// cleaningExtent is scaled down from what a server has, an eighth, so that cleaning is at work within seconds.
type cleaningExtent struct {
	harness.Pacing
	segmentBytes    int64
	checkpointBytes uint64
	load            uint64 // bytes that are appended before anything is measured
	drains          harness.Pacing
	part            int // messages read in each of them, at least
}

// The whole bench takes some ten minutes, the quick one a few seconds.
var (
	whole = extent{
		Pacing:     harness.Pacing{Pairs: 15, Slice: 500 * time.Millisecond},
		warmUp:     300 * time.Millisecond,
		writers:    []int{1, 16, 64, 256},
		claimDepth: 6000,
		beyond:     150_000,
		depths:     [2]int{6000, 100_000},
		deep:       1_000_000, shallow: 6000,
		killed: 50_000, restarts: []int{100_000, 1_000_000}, starts: 5,
		remembered: 1_000_000,
		cleaning: cleaningExtent{harness.Pacing{Pairs: 12, Slice: 2 * time.Second}, 8 << 20, 32 << 20, 512 << 20,
			harness.Pacing{Pairs: 5},
			200_000},
		waiters: 1000,
	}
	quick = extent{
		Pacing:     harness.Pacing{Pairs: 2, Slice: 30 * time.Millisecond},
		warmUp:     20 * time.Millisecond,
		writers:    []int{1, 16, 64, 256},
		claimDepth: 600,
		beyond:     5000,
		depths:     [2]int{600, 2000},
		deep:       3000, shallow: 1000,
		killed: 2000, restarts: []int{2000, 4000}, starts: 2,
		remembered: 3000,
		cleaning: cleaningExtent{harness.Pacing{Pairs: 2, Slice: 60 * time.Millisecond}, 256 << 10, 1 << 20, 4 << 20,
			harness.Pacing{Pairs: 2},
			1000},
		waiters: 20,
	}
)

// deepRestart is how many messages wait at the start that is measured only on request: it fills a disk for minutes.
const deepRestart = 10_000_000
