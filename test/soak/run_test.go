package soak

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"runtime/debug"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hikyaku/hikyaku/internal/journal"
	"github.com/hikyaku/hikyaku/internal/journal/file/faultfs"
)

// oneProcessor lets goroutines run one at a time until the test ends, which is what makes the order of disk changes the
// seed's.
func oneProcessor(t *testing.T) {
	before, garbage := runtime.GOMAXPROCS(1), debug.SetGCPercent(1000) // a run makes much and keeps nothing
	t.Cleanup(func() {
		runtime.GOMAXPROCS(before)
		debug.SetGCPercent(garbage)
	})
}

// result is what a run came to.
type result struct {
	err   error
	trace []string
	order uint64 // of all that was done to the disk, as one number
	count tally
}

// run does what a seed says, in a bubble of its own. lines of what it did go into the error.
func run(t *testing.T, seed uint64, lines int, mutate func(journal.Journal) journal.Journal) (res result) {
	t.Helper()
	return act(t, seed, lines, mutate, (*world).live)
}

// act is run for a given story. The seed still has the say in what the story leaves to it.
func act(t *testing.T, seed uint64, lines int, mutate func(journal.Journal) journal.Journal,
	story func(*world)) (res result) {
	t.Helper()
	defer func() {
		if r := recover(); r != nil { // the bubble's: everybody waits for everybody
			t.Fatalf("seed %d: %v", seed, r)
		}
	}()
	watch := time.AfterFunc(2*time.Minute, func() { panic(fmt.Sprintf("seed %d hangs", seed)) })
	defer watch.Stop()
	synctest.Test(t, func(*testing.T) {
		w := &world{
			began:  time.Now(),
			random: rand.New(rand.NewPCG(seed, 0x736f616b)), choices: choices(), mutate: mutate,
			disk: faultfs.New(), turns: newTurns(seed), m: newReference(0), sources: make([]uint64, 2),
		}
		defer func() {
			r := recover()
			w.disk.Cut()
			w.shut() //nolint:errcheck // the power is off
			w.turns.end()
			w.count.Seeds, w.count.Segments = 1, w.turns.gone
			res.trace, res.count, res.order = w.trace, w.count, w.turns.log.Sum64()
			switch f := r.(type) {
			case nil:
			case finding:
				res.err = w.report(seed, f.what, lines)
			default:
				buf := make([]byte, 8<<10)
				res.err = w.report(seed, fmt.Sprintf("%v\n%s", r, buf[:runtime.Stack(buf, false)]), lines)
			}
		}()
		story(w)
	})
	return res
}

// live is a run.
func (w *world) live() {
	r := w.random
	w.limits = bounds{int64(20 + r.IntN(60)), int64(20_000 + r.IntN(100_000))}
	large := r.IntN(80) == 0
	if large {
		w.limits = bounds{2000, 1_000_000}
	}
	w.idle = []time.Duration{-1, 300 * time.Millisecond}[r.IntN(2)]
	w.m.now = w.clock().UnixMicro()
	if err := w.open(); err != nil {
		w.wrong("it does not begin: %v", err)
	}
	for range 6 {
		w.define()
		w.settleDown()
	}
	if large {
		w.fill()
	}
	all := steps()
	total := 0
	for _, s := range all {
		total += s.often
	}
	n := 20 + r.IntN(100)
	for range n {
		w.count.Steps++
		if w.trial == nil && r.IntN(12) == 0 {
			w.trouble()
			w.settleDown()
		}
		if w.m.queues == nil {
			w.create("a")
		} else {
			at := r.IntN(total)
			for _, s := range all {
				if at -= s.often; at < 0 {
					s.do(w)
					break
				}
			}
		}
		w.settleDown()
		w.aftermath()
	}
	if w.trial != nil {
		w.trial.steps = 0
		w.aftermath()
	}
	if w.full {
		w.relieve()
	}
	w.stop(func() {})
	w.count.Disk += w.disk.Changes()
}
