package pace

import (
	"context"
	"runtime"
	"sync"
	"time"
)

// progressEvery is how often Job.Progress is told.
const progressEvery = 100 * time.Millisecond

// startPlain plays in this process.
func startPlain(ctx context.Context, j Job, maker Maker, lacking []string) (*Run, error) {
	d := newDrive(j, nil, newTimer())
	r := &Run{progress: d.progress, done: make(chan struct{}),
		footing: Footing{Wait: d.waiter.method(), Lacking: lacking}}
	r.command = func(c byte) { d.want(wantOf(c)) }
	made := make(chan error, 1)
	go func() {
		runtime.LockOSThread() // a player may keep what belongs to a thread
		defer runtime.UnlockOSThread()
		err := guard("make", -1, func() (err error) {
			d.player, err = maker(j.Setup)
			return err
		})
		made <- err
		if err != nil {
			return
		}
		stop := context.AfterFunc(ctx, func() { d.want(wantStop) })
		var telling sync.WaitGroup
		quiet := make(chan struct{})
		if j.Progress != nil {
			telling.Go(func() { tell(j.Progress, d.progress, quiet) })
		}
		report, err := d.play()
		stop()
		close(quiet)
		telling.Wait()
		_ = d.waiter.close()
		report.Footing = r.footing
		r.end(ctx, report, err)
	}()
	if err := <-made; err != nil {
		return nil, err
	}
	return r, nil
}

// tell tells how far a run is until it is over, and once more then.
func tell(to func(Progress), progress func() Progress, over <-chan struct{}) {
	every := time.NewTicker(progressEvery)
	defer every.Stop()
	for {
		select {
		case <-every.C:
			to(progress())
		case <-over:
			to(progress())
			return
		}
	}
}

func wantOf(command byte) int32 {
	switch command {
	case commandPause:
		return wantPause
	case commandResume:
		return wantRun
	}
	return wantStop
}
