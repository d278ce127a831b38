package pace

import (
	"fmt"
	"io"
	"os"
	"runtime"
	"runtime/debug"
	"sync"
	"time"
)

// How a pacing process ends.
const (
	exitDone   = 0
	exitBroken = 1 // the asking process said nothing that makes sense
	exitStuck  = 2 // the player did not come back after a stop
	patience   = 3 * time.Second
	heapGrowth = 256 << 20 // bytes, after which the collector works again
	headBytes  = 1 << 20

	promoteEvery = 10  // tellings
	childOfCPUs  = "2" // its GOMAXPROCS: one thread plays, one talks
)

// serve plays one job in this process, which is for nothing else, and returns its exit status.
func serve(players Players, in io.Reader, out io.Writer, stop <-chan os.Signal) int {
	var h head
	if _, err := readKind(in, kindHead, headBytes, &h); err != nil {
		return exitBroken
	}
	setup, err := readKind(in, kindSetup, MaxSetup, nil)
	if err != nil {
		return exitBroken
	}
	j, err := h.job(setup)
	if err == nil {
		err = j.check(players)
	}
	if err != nil {
		_ = writeJSON(out, kindFailed, failing{"make", -1, err.Error()})
		return exitBroken
	}
	sleeper, clock, err := newSleeper()
	if err != nil {
		_ = writeJSON(out, kindFailed, failing{"make", -1, err.Error()})
		return exitBroken
	}
	runtime.LockOSThread() // for good
	d := newDrive(j, nil, newSpinner(sleeper, clock, j.Rate))
	go listen(in, stop, d)
	if err := guard("make", -1, func() (err error) {
		d.player, err = players[j.Player](setup)
		return err
	}); err != nil {
		_ = writeJSON(out, kindFailed, failingOf(err))
		return exitDone
	}
	footing := Footing{Own: true, Wait: d.waiter.method()}
	prioritize(&footing)
	rest()
	d.settle()
	threads, realTime := map[int]bool{}, footing.realTime()
	if realTime {
		promote(threads)
		sleeper.keepPlace()
		if w, ok := sleeper.(watched); ok {
			if err := w.beWatched(); err != nil {
				footing.Lacking = append(footing.Lacking, fmt.Sprintf("a second thread that looks after the first: %v",
					err))
			} else {
				footing.Watched = true
			}
		}
	}
	_ = d.waiter.calibrate()
	footing.Spin = time.Duration(d.waiter.spin())
	if err := writeJSON(out, kindReady, footing); err != nil {
		d.want(wantStop)
	}
	var telling sync.WaitGroup
	quiet := make(chan struct{})
	telling.Go(func() {
		told := 0
		tell(func(p Progress) {
			_ = writeJSON(out, kindProgress, p)
			if told++; realTime && told%promoteEvery == 0 { // the runtime may have begun others
				promote(threads)
			}
		}, d.progress, quiet)
	})
	before := processorTime()
	report, err := d.play()
	report.CPU = processorTime() - before
	if footing.Watched {
		report.Fetched = sleeper.(watched).endWatch()
	}
	footing.Spin = time.Duration(d.waiter.spin())
	report.Footing = footing
	close(quiet)
	telling.Wait()
	if writeJSON(out, kindEnd, endedOf(report, err)) != nil {
		return exitBroken // nobody is there any more
	}
	return exitDone
}

// listen obeys the asking process until it goes, which is a stop. It ends with the process.
func listen(in io.Reader, stop <-chan os.Signal, d *drive) {
	go func() {
		<-stop
		halt(d)
	}()
	for b := make([]byte, 1); ; {
		if n, err := in.Read(b); n == 0 && err != nil {
			break
		} else if n > 0 && b[0] == commandStop {
			break
		} else if n > 0 {
			d.want(wantOf(b[0]))
		}
	}
	halt(d)
}

// halt stops the player, and the process when that does not come back: nothing else could let go of the device then.
func halt(d *drive) {
	d.want(wantStop)
	time.AfterFunc(patience, func() { os.Exit(exitStuck) })
}

// rest collects now, so that nothing has to be collected while frames are played, unless a player allocates much.
func rest() {
	debug.FreeOSMemory()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	debug.SetMemoryLimit(int64(m.Sys-m.HeapReleased) + heapGrowth)
	debug.SetGCPercent(-1)
}
