package file

import (
	"fmt"
	"sync/atomic"
	"time"

	"github.com/hikyaku/hikyaku/internal/journal"
)

// sayStalled is how often, in times of Options.Patience, a disk that does not answer is reported.
const sayStalled = 5

// work is what an append may have to wait for. Each kind is done under a lock of its own, or by one goroutine: never
// twice at a time.
type work int

const (
	flushing work = iota // writes what waits in memory
	rolling              // begins a segment, or sets room aside for one
	syncing              // makes the log durable
	zeroing              // writes zeros ahead
	looking              // looks at the folder
	works
)

var workNames = [works]string{"a write to the log", "the beginning of a segment", "a sync of the log",
	"a write ahead of the log", "a look at the folder"}

// ticksOfPatience is how many ticks of underWay Options.Patience has.
const ticksOfPatience = 8

// underWay knows what the disk has been asked for and has not answered yet. It takes no lock: who hangs may hold any.
// Time goes by ticks, which mindDisk counts, because a reading of the clock costs more than the rest of it.
type underWay struct {
	tick  time.Duration
	ticks atomic.Int64
	since [works]atomic.Int64 // ticks, and one more; 0: it is not under way
}

func (u *underWay) begin(w work) { u.since[w].Store(u.ticks.Load() + 1) }
func (u *underWay) end(w work)   { u.since[w].Store(0) }

// longest is the work that has been under way for the longest time, and for how long at least: two ticks less at most.
func (u *underWay) longest() (what work, long time.Duration) {
	now := u.ticks.Load()
	for w := range works {
		if since := u.since[w].Load(); since > 0 && time.Duration(now-since)*u.tick > long {
			what, long = w, time.Duration(now-since)*u.tick
		}
	}
	return what, long
}

// stalled is journal.ErrStalled when the disk has not answered for as long as Options.Patience.
func (j *Journal) stalled() error {
	if j.opts.Patience < 0 {
		return nil
	}
	if what, long := j.disk.longest(); long >= j.opts.Patience {
		return stallError(what, long)
	}
	return nil
}

func stallError(what work, long time.Duration) error {
	return fmt.Errorf("%w: it has not for %v: %s is under way", journal.ErrStalled, shown(long), workNames[what])
}

// shown is a duration as it is told: whole seconds, where there are some.
func shown(d time.Duration) time.Duration {
	if d >= time.Second {
		return d.Round(time.Second)
	}
	return d.Round(time.Millisecond)
}

// mindDisk is the goroutine that reports a disk that does not answer, again and again, and that it answers again.
func (j *Journal) mindDisk() {
	tick := time.NewTicker(j.disk.tick)
	defer tick.Stop()
	said := time.Duration(0) // how long it had not answered when that was reported last; 0: it was not
	for {
		select {
		case <-j.quit:
			return
		case <-j.ended:
			return
		case <-tick.C:
			j.disk.ticks.Add(1)
		}
		switch what, long := j.disk.longest(); {
		case long >= j.opts.Patience && (said == 0 || long >= said+sayStalled*j.opts.Patience):
			j.opts.Report(stallError(what, long))
			said = long
		case said > 0 && long < said: // it is another one
			j.opts.Report(fmt.Errorf("the disk answers again, after %v or more", shown(said)))
			said = 0
		}
	}
}
