package pace_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hikyaku/hikyaku/pace"
)

// notes is a player that notes what it is called with, and when.
type notes struct {
	from time.Time
	at   []time.Duration
	said []string
	work func(n int64) error
}

func (p *notes) note(text string) error {
	p.at, p.said = append(p.at, time.Since(p.from)), append(p.said, text)
	return nil
}

func (p *notes) Frame(n int64) error {
	_ = p.note(fmt.Sprint(n))
	if p.work != nil {
		return p.work(n)
	}
	return nil
}
func (p *notes) Pause() error  { return p.note("pause") }
func (p *notes) Resume() error { return p.note("resume") }
func (p *notes) Stop() error   { return p.note("stop") }

// plainly starts a run of p in this process.
func plainly(t *testing.T, ctx context.Context, p *notes, j pace.Job) *pace.Run {
	t.Helper()
	p.from = time.Now()
	j.Player, j.Rate = "notes", ten(t)
	run, err := pace.Plain(pace.Players{"notes": func([]byte) (pace.Player, error) { return p, nil }}).Start(ctx, j)
	if err != nil {
		t.Fatal(err)
	}
	return run
}

// ten is ten frames in 3 seconds.
func ten(t *testing.T) pace.Rate {
	r, err := pace.Every(10, 3*time.Second)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestEveryFrameComesWhenItIsDue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &notes{}
		var told []pace.Progress
		report, err := plainly(t, t.Context(), p,
			pace.Job{Frames: 100, Keep: 7, Progress: func(p pace.Progress) { told = append(told, p) }}).Wait()
		if err != nil {
			t.Fatal(err)
		}
		for i, at := range p.at {
			if want := ten(t).Deadline(int64(i)); at != want {
				t.Errorf("frame %s at %v, want %v", p.said[i], at, want)
			}
		}
		if len(p.said) != 101 || p.said[100] != "stop" {
			t.Errorf("%v", p.said)
		}
		if report.Elapsed != 30*time.Second || report.Played != 100 || report.Lateness.Max() != 0 || report.Stopped ||
			report.Missed != 0 {
			t.Errorf("%+v", report)
		}
		if len(report.Records) != 7 || report.Records[0].Frame != 93 || report.Records[6].Frame != 99 {
			t.Errorf("records %+v", report.Records)
		}
		if f := report.Footing; f.Own || f.Step() != 3 || f.Wait != "timer" {
			t.Errorf("footing %v", f)
		}
		if n := len(told); n < 290 || told[n-1].Played != 100 {
			t.Errorf("told %d times, last %+v", n, told[max(0, n-1)])
		}
	})
}

func TestLateFramesAreDealtWithAsThePolicySays(t *testing.T) {
	for policy, want := range map[pace.Policy]struct {
		frames        string
		skipped, miss int64
		elapsed       time.Duration
	}{
		pace.CatchUp: {"[0 1 2 3 4 5 6 7 8 9 stop]", 0, 2, 3 * time.Second},
		pace.Skip:    {"[0 1 2 5 6 7 8 9 stop]", 2, 0, 3 * time.Second}, // after 2, at 1.6 s, frame 5 was due
		pace.Shift:   {"[0 1 2 3 4 5 6 7 8 9 stop]", 0, 1, 3*time.Second + 700*time.Millisecond},
	} {
		synctest.Test(t, func(t *testing.T) {
			p := &notes{work: func(n int64) error {
				if n == 2 {
					time.Sleep(time.Second) // the far end is slow
				}
				return nil
			}}
			report, err := plainly(t, t.Context(), p, pace.Job{Frames: 10, Policy: policy}).Wait()
			if err != nil || fmt.Sprint(p.said) != want.frames || report.Skipped != want.skipped ||
				report.Missed != want.miss || report.Elapsed != want.elapsed || report.Stopped {
				t.Errorf("%v: %v %v: skipped %d, missed %d, took %v", policy, err, p.said, report.Skipped,
					report.Missed, report.Elapsed)
			}
			if report.Took.Max() != time.Second {
				t.Errorf("took %v", &report.Took)
			}
		})
	}
}

func TestSkippingTheEndIsAnEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &notes{work: func(int64) error {
			time.Sleep(time.Minute)
			return nil
		}}
		report, err := plainly(t, t.Context(), p, pace.Job{Frames: 10, Policy: pace.Skip}).Wait()
		if err != nil || fmt.Sprint(p.said) != "[0 stop]" || report.Played+report.Skipped != 10 || report.Stopped {
			t.Errorf("%v %v, %d and %d", err, p.said, report.Played, report.Skipped)
		}
	})
}

func TestARunBeginsWhenItIsToldTo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &notes{}
		report, err := plainly(t, t.Context(), p, pace.Job{Frames: 1, Start: time.Now().Add(time.Hour)}).Wait()
		if err != nil || len(p.at) != 2 || p.at[0] != time.Hour || report.Elapsed != 300*time.Millisecond {
			t.Errorf("%v %v, %v", err, p.at, report.Elapsed)
		}
		late := &notes{} // a start that is past: the policy decides
		report, err = plainly(t, t.Context(), late,
			pace.Job{Frames: 10, Policy: pace.Skip, Start: time.Now().Add(-time.Second)}).Wait()
		if err != nil || late.said[0] != "3" || report.Skipped != 3 {
			t.Errorf("%v %v", err, late.said)
		}
	})
}

func TestPausesShiftTheRest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &notes{}
		run := plainly(t, t.Context(), p, pace.Job{Frames: 4})
		time.Sleep(400 * time.Millisecond) // within the bubble's time
		run.Pause()
		synctest.Wait()
		if !run.Progress().Paused {
			t.Error("it is not paused")
		}
		time.Sleep(10 * time.Hour)
		run.Resume()
		report, err := run.Wait()
		const ms = time.Millisecond
		want := []time.Duration{0, 300 * ms, 400 * ms, 10*time.Hour + 400*ms, 10*time.Hour + 600*ms,
			10*time.Hour + 900*ms, 10*time.Hour + 1200*ms}
		if err != nil || fmt.Sprint(p.said) != "[0 1 pause resume 2 3 stop]" || !slices.Equal(p.at, want) ||
			report.Paused != 10*time.Hour || report.Lateness.Max() != 0 {
			t.Errorf("%v %v at %v, paused %v", err, p.said, p.at, report.Paused)
		}
	})
}

func TestNoFrameComesAfterAStop(t *testing.T) {
	for name, c := range map[string]struct {
		end func(run *pace.Run, cancel context.CancelCauseFunc)
		err error
	}{
		"stop":    {func(run *pace.Run, _ context.CancelCauseFunc) { run.Stop() }, nil},
		"context": {func(_ *pace.Run, cancel context.CancelCauseFunc) { cancel(errOver) }, errOver},
		"paused": {func(run *pace.Run, _ context.CancelCauseFunc) {
			run.Pause()
			synctest.Wait()
			run.Stop()
			run.Resume() // too late
		}, nil},
	} {
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithCancelCause(t.Context())
			defer cancel(nil)
			p := &notes{}
			run := plainly(t, ctx, p, pace.Job{})
			time.Sleep(650 * time.Millisecond)
			c.end(run, cancel)
			report, err := run.Wait()
			if !errors.Is(err, c.err) || report.Played != 3 || !report.Stopped || p.said[len(p.said)-1] != "stop" ||
				p.at[len(p.at)-1] != 650*time.Millisecond {
				t.Errorf("%s: %v, %v at %v", name, err, p.said, p.at)
			}
			run.Stop()
			run.Pause()
		})
	}
}

var errOver = errors.New("it is over")

func TestAPlainPlayersMistakesEndTheRun(t *testing.T) {
	for says, work := range map[string]func(int64) error{
		"play frame 0: it is over":     func(int64) error { return errOver },
		"play frame 0: panic: no more": func(int64) error { panic("no more") },
	} {
		p := &notes{work: work}
		report, err := plainly(t, t.Context(), p, pace.Job{Frames: 3}).Wait()
		var wrong *pace.PlayerError
		if err == nil || err.Error() != says || !errors.As(err, &wrong) || !report.Stopped ||
			fmt.Sprint(p.said) != "[0 stop]" {
			t.Errorf("%v, %v", err, p.said)
		}
	}
	p := &notes{work: func(int64) error { return errOver }}
	if _, err := plainly(t, t.Context(), p, pace.Job{}).Wait(); !errors.Is(err, errOver) {
		t.Errorf("%v is not the player's own", err)
	}
}
