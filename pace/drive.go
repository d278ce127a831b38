package pace

import (
	"fmt"
	"sync/atomic"
	"time"
)

// waiter waits for moments on a clock of its own. All but nudge belong to one goroutine.
type waiter interface {
	now() int64       // nanoseconds, from wherever
	until(t int64)    // returns at t; earlier when nudged since it last was, or for no reason
	overslept() int64 // how long after t the system woke it in the last until, if that is known; forgets it
	nudge()           // lets until return at once, this time or the next; from any goroutine
	spin() (d int64)  // how long before t it wakes, in nanoseconds
	close() error     // nobody waits, nor will
	method() string   // Footing.Wait
	calibrate() error // finds out how late it wakes; called once, before anything is waited for
}

// What is wanted of a drive.
const (
	wantRun int32 = iota
	wantPause
	wantStop
)

// drive plays a job's frames. Its goroutine calls play; the others may use want, and progress, which never waits.
type drive struct {
	job    Job
	player Player
	waiter waiter
	begins int64 // when frame 0 is due, on the waiter's clock

	wanted atomic.Int32

	// What progress reads.
	frame, played, skipped atomic.Int64
	late, latest           atomic.Int64
	paused                 atomic.Bool

	beat    beat
	kept    []Record // a ring
	records int64    // how many were ever kept
	report  Report
}

// settle touches the memory that play writes to, so that none of it has to be found while frames are played.
func (d *drive) settle() {
	for i := range d.kept {
		d.kept[i].Frame = -1
	}
	d.report = Report{}
}

func newDrive(j Job, p Player, w waiter) *drive {
	d := &drive{job: j, player: p, waiter: w, kept: make([]Record, j.keep())}
	d.frame.Store(-1)
	return d
}

// want asks for something, from any goroutine. Nothing comes after a stop.
func (d *drive) want(what int32) {
	for {
		old := d.wanted.Load()
		if old == wantStop || d.wanted.CompareAndSwap(old, what) {
			break
		}
	}
	d.waiter.nudge()
}

func (d *drive) progress() Progress {
	return Progress{
		Frame: d.frame.Load(), Played: d.played.Load(), Skipped: d.skipped.Load(), Paused: d.paused.Load(),
		Late: time.Duration(d.late.Load()), Max: time.Duration(d.latest.Load()),
	}
}

// play plays the frames from now on, or from the job's start, lets the player stop, and returns what became of it.
func (d *drive) play() (Report, error) {
	d.begins = d.waiter.now()
	if !d.job.Start.IsZero() {
		// first: what comes between the two readings makes it later, and never earlier
		left := int64(time.Until(d.job.Start))
		d.begins = d.waiter.now() + left
	}
	d.beat = beat{rate: d.job.Rate, policy: d.job.Policy, origin: d.begins}
	err := d.frames()
	d.report.Elapsed = max(0, time.Duration(d.waiter.now()-d.begins))
	if stop := d.call("stop", -1, d.player.Stop); err == nil {
		err = stop
	}
	if p, ok := d.player.(Resulter); ok {
		told := d.call("result", -1, func() (err error) { d.report.Result, err = p.Result(); return err })
		if err == nil {
			err = told
		}
	}
	d.report.Played, d.report.Skipped = d.played.Load(), d.beat.skipped
	d.report.Stopped = err != nil || d.wanted.Load() == wantStop && !d.over()
	d.report.Records = d.inOrder()
	return d.report, err
}

// over tells whether the last frame has been played and its time is over.
func (d *drive) over() bool {
	return d.job.Frames > 0 && d.beat.next >= d.job.Frames && d.waiter.now() >= d.beat.at(d.job.Frames)
}

// frames plays until the end or a stop.
func (d *drive) frames() error {
	for {
		switch d.wanted.Load() {
		case wantStop:
			return nil
		case wantPause:
			if err := d.pause(); err != nil {
				return err
			}
			continue
		}
		if d.over() {
			return nil
		}
		due := d.beat.due() // after the last frame: when its time is over
		if now := d.waiter.now(); now < due {
			d.waiter.until(due)
			continue // it may have been nudged
		}
		if d.job.Frames > 0 && d.beat.next >= d.job.Frames {
			return nil
		}
		if err := d.one(); err != nil {
			return err
		}
	}
}

// one plays the frame that is due.
func (d *drive) one() error {
	now := d.waiter.now()
	frame, late := d.beat.take(now)
	overslept := min(time.Duration(d.waiter.overslept()), late)
	if d.job.Frames > 0 && frame >= d.job.Frames { // Skip has left out the rest
		d.beat.skipped -= frame - d.job.Frames
		d.beat.next = d.job.Frames
		d.skipped.Store(d.beat.skipped)
		return nil
	}
	if err := d.call("play", frame, func() error { return d.player.Frame(frame) }); err != nil {
		return err
	}
	took := time.Duration(d.waiter.now() - now)
	d.report.Lateness.Add(late)
	d.report.Took.Add(took)
	if late >= d.job.Rate.Interval() {
		d.report.Missed++
	}
	if len(d.kept) > 0 {
		d.kept[d.records%int64(len(d.kept))] = Record{frame, late, took, overslept}
		d.records++
	}
	d.frame.Store(frame)
	d.played.Add(1)
	d.skipped.Store(d.beat.skipped)
	d.late.Store(int64(late))
	d.latest.Store(max(d.latest.Load(), int64(late)))
	return nil
}

// pause waits until something else is wanted, and delays all frames by as long.
func (d *drive) pause() error {
	from := d.waiter.now()
	d.paused.Store(true)
	p, tell := d.player.(Pauser)
	if tell {
		if err := d.call("pause", -1, p.Pause); err != nil {
			return err
		}
	}
	for d.wanted.Load() == wantPause {
		d.waiter.until(d.waiter.now() + int64(time.Hour))
	}
	d.paused.Store(false)
	now := d.waiter.now()
	d.beat.shift(now - from)
	d.report.Paused += time.Duration(now - from)
	if tell && d.wanted.Load() != wantStop {
		return d.call("resume", -1, p.Resume)
	}
	return nil
}

// call calls the player; a panic is an error, so that Stop comes after it.
func (d *drive) call(doing string, frame int64, f func() error) error {
	return guard(doing, frame, f)
}

func guard(doing string, frame int64, f func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v", p)
		}
		if err != nil {
			err = &PlayerError{doing, frame, err}
		}
	}()
	return f()
}

// inOrder is the ring's records, the oldest first.
func (d *drive) inOrder() []Record {
	n := int64(len(d.kept))
	if d.records <= n {
		return d.kept[:d.records:d.records]
	}
	at := d.records % n
	return append(append(make([]Record, 0, n), d.kept[at:]...), d.kept[:at]...)
}
