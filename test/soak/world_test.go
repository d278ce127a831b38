package soak

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing/synctest"
	"time"

	"github.com/hikyaku/hikyaku/internal/journal"
	"github.com/hikyaku/hikyaku/internal/journal/file"
	"github.com/hikyaku/hikyaku/internal/journal/file/faultfs"
	"github.com/hikyaku/hikyaku/internal/queue"
)

// world is one run: a disk, what works on it, and what should be there.
type world struct {
	random  *rand.Rand
	choices []choice
	mutate  func(journal.Journal) journal.Journal // breaks a rule of the journal; nil: none

	disk   *faultfs.Disk
	turns  *turns
	j      journal.Journal
	s      *queue.Store
	began  time.Time
	offset time.Duration // of the clock
	limits bounds
	idle   time.Duration

	m    *reference   // what should be there now
	past []*reference // what a power cut may lead back to, the oldest first
	sure int          // a kill leads back to none of past before this one

	owners   map[int]queue.Owner
	claimant int // last one given
	tokens   []queue.Token
	drafts   int      // made so far
	sources  []uint64 // how far each outside source has come

	down  bool // the journal has said that it takes nothing more
	full  bool // the disk is
	moved bool // time made something due in this step
	// how far the clock was set forward since the start: so late may it wake up for what it does by itself
	jumped  time.Duration
	injured bool // the disk fails
	trial   *trial
	lost    []string // checkpoints that were damaged

	trace []string
	count tally
}

// tally counts what runs did.
type tally struct {
	Seeds, Steps, Cuts, Kills, Stops, Again, Syncs, Full, Flips, Checkpoints, Clocks, Behind, Disk, Segments, Seeks,
	Back int
}

func (t *tally) add(o tally) {
	t.Seeds += o.Seeds
	t.Steps += o.Steps
	t.Cuts += o.Cuts
	t.Kills += o.Kills
	t.Stops += o.Stops
	t.Again += o.Again
	t.Syncs += o.Syncs
	t.Full += o.Full
	t.Flips += o.Flips
	t.Checkpoints += o.Checkpoints
	t.Clocks += o.Clocks
	t.Behind += o.Behind
	t.Disk += o.Disk
	t.Segments += o.Segments
	t.Seeks += o.Seeks
	t.Back += o.Back
}

func (t tally) String() string {
	return fmt.Sprintf("%d seeds, %d steps, %d disk changes, %d segments given up; %d power cuts, %d kills, %d clean "+
		"stops, %d cuts during a start; %d failed writes or syncs, %d full disks, %d flips, %d lost checkpoints, %d "+
		"clock steps, %d of them back; %d seeks brought %d messages back",
		t.Seeds, t.Steps, t.Disk, t.Segments, t.Cuts, t.Kills, t.Stops, t.Again, t.Syncs, t.Full, t.Flips,
		t.Checkpoints, t.Clocks, t.Behind, t.Seeks, t.Back)
}

// finding is what a run found to be wrong.
type finding struct{ what string }

func (w *world) wrong(format string, args ...any) { panic(finding{fmt.Sprintf(format, args...)}) }

func (w *world) say(format string, args ...any) {
	w.trace = append(w.trace, fmt.Sprintf(format, args...))
}

const dir = "log"

func name(s string) queue.Name {
	n, err := queue.ParseName(s)
	if err != nil {
		panic(err)
	}
	return n
}

func timeOf(micros int64) time.Time {
	if micros == 0 {
		return time.Time{}
	}
	return time.UnixMicro(micros).UTC()
}

func (w *world) clock() time.Time { return time.Now().Add(w.offset) }

// open starts a store over what is on the disk.
func (w *world) open() error {
	ctx := context.Background()
	f, err := file.Open(ctx, file.Options{
		Dir: dir, FS: inTurn{w.disk, w.turns}, SegmentBytes: 16 << 10, MaxGroupBytes: 64 << 10, IdleSeal: w.idle,
	})
	if err != nil {
		return err
	}
	w.j = f
	if w.mutate != nil {
		w.j = w.mutate(f)
	}
	w.s, err = queue.Open(ctx, queue.Options{
		Journal: w.j, Clock: w.clock, CheckpointBytes: 6 << 10,
		Monotonic: func() time.Duration { return time.Since(w.began) },
		Limits:    queue.Limits{Messages: w.limits.messages, Bytes: w.limits.bytes},
	})
	if err != nil {
		w.j.Close() //nolint:errcheck // the other error counts
		w.j = nil
		return err
	}
	w.owners, w.down, w.jumped = map[int]queue.Owner{}, false, 0
	return nil
}

// shut ends the store. With the disk cut before it is the death of the process.
func (w *world) shut() error {
	if w.j == nil {
		return nil
	}
	var errs []error
	if w.s != nil {
		errs = append(errs, w.s.Close())
	}
	errs = append(errs, w.j.Close())
	w.s, w.j = nil, nil
	synctest.Wait()
	return errors.Join(errs...)
}

// isCut tells whether the power is off.
func (w *world) isCut() bool {
	_, err := w.disk.Open("", true) // there is none of that name
	return errors.Is(err, faultfs.ErrCut)
}

// errBroken is what an injected fault answers.
var errBroken = errors.New("the disk does not want to")

// do does one thing to the reference and to the store. durable says that the store's answer means that it, and all
// before it, survives. What is acknowledged without having changed anything, such as a duplicate, says nothing of the
// rest. expect changes the reference, or says how the store should refuse.
func (w *world) do(durable bool, expect func() error, ask func() error) (done bool) {
	before := w.m.clone()
	w.past = append(w.past, before)
	w.sure = len(w.past) - 1
	want := expect()
	if want != nil {
		w.m = before.clone()
	}
	got := ask()
	synctest.Wait()
	nothing := func() { // it had no effect
		w.m = before
		w.past = w.past[:w.sure]
	}
	switch {
	case got == nil && want != nil:
		w.wrong("it was done; the reference says: %v", want)
	case got == nil && durable && w.m.writes > before.writes:
		w.past = nil
	case got == nil:
	case want != nil && errors.Is(got, want):
		w.say("  … %v", got)
		nothing()
	case errors.Is(got, queue.ErrUnavailable):
		w.say("  … %v", got)
		if !w.injured && !w.isCut() {
			w.wrong("the store gave up, though nothing was done to its disk: %v", got)
		}
		w.down = true
		return false // sure stays: it may have happened or not
	case errors.Is(got, faultfs.ErrCut) && w.isCut():
		return false
	case errors.Is(got, errBroken) && w.injured, errors.Is(got, queue.ErrNoRoom) && w.full:
		w.say("  … %v", got)
		nothing()
	default:
		w.wrong("it was refused: %v; the reference says: %v", got, want)
	}
	w.sure = len(w.past)
	return got == nil
}

// hampered tells that the store may be unable to do what it does by itself.
func (w *world) hampered() bool { return w.full || w.injured }

// mark remembers a state in the middle of an operation that takes several groups.
func (w *world) mark() { w.past = append(w.past, w.m.clone()) }

// settleDown lets time take its effect and compares.
func (w *world) settleDown() {
	w.moved = false
	// what time made due before the cut, and what follows from it, may have been written down, or not
	if w.isCut() && !w.down {
		w.m.tick(w.clock().UnixMicro(), func() {
			w.mark()
			w.mark()
			w.past[len(w.past)-1].conclude()
		})
		w.mark()
		w.m.conclude()
	}
	if w.isCut() || w.down {
		return
	}
	if len(w.m.queues) > 0 {
		// it does whatever is due now
		if _, err := w.s.Stats(context.Background(), w.m.queues[0].name); err != nil && !w.injured && !w.isCut() {
			w.wrong("no statistics: %v", err)
		}
		synctest.Wait()
	}
	w.m.tick(w.clock().UnixMicro(), func() {
		w.moved = true
		w.past = append(w.past, w.m.clone())
		if !w.hampered() {
			w.past[len(w.past)-1].conclude()
		}
	})
	if !w.hampered() {
		for _, q := range w.m.queues {
			for _, m := range q.messages {
				w.moved = w.moved || m.doomed != stays
			}
		}
		w.m.conclude()
	}
	if len(w.past) > 60 {
		w.flush()
	}
	if w.isCut() {
		return
	}
	seen, err := w.look(w.random.IntN(8) == 0)
	if err != nil {
		if !w.isCut() && !w.injured {
			w.wrong("the store does not show what it has: %v", err)
		}
		w.down = w.down || errors.Is(err, queue.ErrUnavailable)
		return
	}
	if w.isCut() {
		return
	}
	if len(w.m.over()) > 0 {
		w.moved = true
		w.mark()
	}
	if err := w.compare(w.m, seen); err != nil {
		w.wrong("%v", err)
	}
	w.sure = len(w.past)
}

// flush makes everything durable, so that there is only one state to come back to.
func (w *world) flush() {
	w.do(true, func() error { w.m.notes["flush"] = "x"; w.m.wrote(); return nil }, func() error {
		return w.s.SetNotes(context.Background(), queue.Note{Room: "soak", Key: "flush", Value: []byte("x")})
	})
}

// report is a finding with what led to it.
func (w *world) report(seed uint64, what string, lines int) error {
	from := max(0, len(w.trace)-lines)
	more := ""
	if from > 0 {
		more = fmt.Sprintf("  … %d steps before\n", from)
	}
	return fmt.Errorf("seed %d: %s\n%s  %s", seed, what, more, strings.Join(w.trace[from:], "\n  "))
}

// must is the value of what does not fail.
func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}
