package pace

import (
	"context"
	"runtime"
	"time"

	tempo "github.com/hikyaku/hikyaku/pace"

	"github.com/hikyaku/hikyaku/internal/bench/harness"
	"github.com/hikyaku/hikyaku/internal/machine"
)

// paceWay is one way to keep to a rate.
type paceWay struct {
	name string
	run  func(ctx context.Context, host *tempo.Host, frames int64) (tempo.Report, error)
}

func paceWays() []paceWay {
	return []paceWay{{caseSleep, seedWay}, {caseNanosleep, nanosleepWay}, {caseSpin, spinWay},
		{harness.CaseOurs, ourWay}}
}

// silent is the name of the player of ours.
const silent = "bench-silent"

// Players are what the pace bench plays, for the program's pace.Child.
func Players() tempo.Players {
	return tempo.Players{silent: func([]byte) (tempo.Player, error) { return silentPlayer{}, nil }}
}

// silentPlayer does nothing, on time.
type silentPlayer struct{}

func (silentPlayer) Frame(int64) error { return nil }
func (silentPlayer) Stop() error       { return nil }

func ourWay(ctx context.Context, host *tempo.Host, frames int64) (tempo.Report, error) {
	run, err := host.Start(ctx, tempo.Job{Player: silent, Rate: tempo.NTSC(), Frames: frames,
		Keep: int(min(frames, tempo.MaxKeep))})
	if err != nil {
		return tempo.Report{}, err
	}
	return run.Wait()
}

// seedRate is the field report's, in frames a thousand seconds.
const seedRate = 59940

// seedWay sleeps to the deadline, as the field report does, which counts 59.94 frames a second.
func seedWay(ctx context.Context, _ *tempo.Host, frames int64) (tempo.Report, error) {
	return playFrames(ctx, frames, func(start time.Time, n int64) {
		time.Sleep(time.Until(start.Add(time.Duration(n * 1000 * 1_000_000_000 / seedRate))))
	})
}

// nanosleepWay is a thread of its own that sleeps until the deadline.
func nanosleepWay(ctx context.Context, _ *tempo.Host, frames int64) (tempo.Report, error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	return playFrames(ctx, frames,
		func(start time.Time, n int64) { nanosleepUntil(start.Add(tempo.NTSC().Deadline(n))) })
}

// spinFor is how long before the deadline spinWay wakes.
const spinFor = 150 * time.Microsecond

// spinWay is the same, but wakes earlier and looks at the clock.
func spinWay(ctx context.Context, _ *tempo.Host, frames int64) (tempo.Report, error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	return playFrames(ctx, frames, func(start time.Time, n int64) {
		due := start.Add(tempo.NTSC().Deadline(n))
		nanosleepUntil(due.Add(-spinFor))
		for time.Until(due) > 0 {
		}
	})
}

// playFrames plays frames in this goroutine. wait returns when one is due.
func playFrames(ctx context.Context, frames int64, wait func(start time.Time, n int64)) (r tempo.Report, err error) {
	rate := tempo.NTSC()
	r.Records = make([]tempo.Record, 0, frames)
	cpu, start := machine.ProcessorTime(), time.Now()
	for n := range frames {
		if n > 0 {
			wait(start, n)
		}
		late := max(0, time.Since(start)-rate.Deadline(n))
		if late >= rate.Interval() {
			r.Missed++
		}
		r.Lateness.Add(late)
		r.Records = append(r.Records, tempo.Record{Frame: n, Late: late})
		if err := ctx.Err(); err != nil {
			return r, err
		}
	}
	r.Played, r.Elapsed, r.CPU = frames, time.Since(start), machine.ProcessorTime()-cpu
	return r, nil
}
