package pace_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/hikyaku/hikyaku/pace"
)

// start starts a run in a process of its own and hears its player.
func start(t *testing.T, ctx context.Context, e *ear, j pace.Job, s callerSetup) (*pace.Run, *told) {
	t.Helper()
	j.Player, j.Setup = "caller", e.setup(s)
	if j.Rate.IsZero() {
		j.Rate = kilohertz(t)
	}
	run, err := pace.Child(players()).Start(ctx, j)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		run.Stop()
		<-run.Done()
	})
	h := e.next()
	if h.pid == os.Getpid() {
		t.Fatalf("it plays in this process: %v", run.Footing())
	}
	return run, h
}

func TestAProcessOfItsOwnPlaysEveryFrameAndStops(t *testing.T) {
	run, h := start(t, t.Context(), newEar(t), pace.Job{Frames: 50}, callerSetup{Says: "done"})
	for i, line := range h.until("stop") {
		if want := fmt.Sprintf("frame %d", i); line != want {
			t.Fatalf("%q, want %q", line, want)
		}
	}
	report, err := run.Wait()
	if err != nil || report.Played != 50 || report.Skipped != 0 || report.Stopped || report.Lateness.Count() != 50 ||
		report.Took.Count() != 50 {
		t.Errorf("%+v, %v", report, err)
	}
	if string(report.Result) != "done after 50" {
		t.Errorf("result %q", report.Result)
	}
	if len(report.Records) != 50 {
		t.Fatalf("%d records", len(report.Records))
	}
	for i, r := range report.Records {
		if r.Frame != int64(i) || r.Late < 0 || r.Took <= 0 {
			t.Errorf("record %d: %+v", i, r)
		}
	}
	if report.Elapsed < 50*time.Millisecond {
		t.Errorf("50 frames of a millisecond took %v", report.Elapsed)
	}
	if f := report.Footing; !f.Own || f.Priority == "" || f.Wait == "" || f.Spin <= 0 || f.Step() > 2 {
		t.Errorf("footing %+v", f)
	}
	if p := run.Progress(); p.Played != 50 || p.Frame != 49 {
		t.Errorf("progress %+v", p)
	}
}

func TestAStopComesAtOnceThoughTheNextFrameIsFar(t *testing.T) {
	slow, err := pace.Every(1, time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	for name, end := range map[string]func(run *pace.Run, cancel func()){
		"stop":    func(run *pace.Run, _ func()) { run.Stop() },
		"context": func(_ *pace.Run, cancel func()) { cancel() },
		"paused": func(run *pace.Run, _ func()) {
			run.Pause()
			run.Stop()
			run.Stop()
		},
	} {
		t.Run(name, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			run, h := start(t, ctx, newEar(t), pace.Job{Rate: slow}, callerSetup{})
			h.until("frame 0")
			end(run, cancel)
			h.until("stop")
			report, err := run.Wait()
			if name == "context" && !errors.Is(err, context.Canceled) || name != "context" && err != nil {
				t.Errorf("error %v", err)
			}
			if report.Played != 1 || !report.Stopped {
				t.Errorf("%+v", report)
			}
		})
	}
}

func TestAPauseDelaysWhatFollows(t *testing.T) {
	run, h := start(t, t.Context(), newEar(t), pace.Job{Frames: 200}, callerSetup{})
	h.until("frame 3")
	run.Pause()
	h.until("pause")
	if !waitFor(t, func() bool { return run.Progress().Paused }) {
		t.Error("the progress does not tell")
	}
	run.Resume()
	after := append([]string{}, h.until("resume")...)
	if len(after) > 0 {
		t.Errorf("played in the pause: %v", after)
	}
	h.until("stop")
	report, err := run.Wait()
	if err != nil || report.Played != 200 || report.Paused <= 0 || report.Stopped ||
		report.Elapsed < 200*time.Millisecond+report.Paused {
		t.Errorf("%v, %+v", err, report.Footing)
	}
}

// waitFor asks until something is so, or the test's time is over.
func waitFor(t *testing.T, so func() bool) bool {
	t.Helper()
	every := time.NewTicker(5 * time.Millisecond)
	defer every.Stop()
	for end := time.After(30 * time.Second); ; {
		if so() {
			return true
		}
		select {
		case <-every.C:
		case <-end:
			return false
		}
	}
}

func TestThePlayerStopsWhenTheAskingProgramIsKilled(t *testing.T) {
	e := newEar(t)
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(self)
	cmd.Env = append(os.Environ(), asker+"="+string(e.setup(callerSetup{})))
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	h := e.next()
	h.until("frame 5")
	if h.pid == cmd.Process.Pid {
		t.Error("it plays in the asking process")
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait()
	h.until("stop")
	if line := h.line(); line != "" {
		t.Errorf("after the stop: %q", line)
	}
}

func TestWhatAPlayerPrintsIsSeen(t *testing.T) {
	e := newEar(t)
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(self)
	cmd.Env = append(os.Environ(), asker+"="+string(e.setup(callerSetup{FailAt: 1, Prints: "la la"})))
	var said bytes.Buffer
	cmd.Stderr = &said
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	h := e.next()
	h.until("stop")
	_ = cmd.Wait() // it ends with an error, that of the player
	if h.pid == cmd.Process.Pid {
		t.Error("it plays in the asking process")
	}
	for _, want := range []string{"la la on one\n", "la la on the other\n", "unplugged"} {
		if strings.Count(said.String(), want) != 1 {
			t.Errorf("there is not one %q in %q", want, said.String())
		}
	}
}

func TestWhatADeadProcessHeldIsLetGoOf(t *testing.T) {
	e := newEar(t)
	run, h := start(t, t.Context(), e, pace.Job{}, callerSetup{FailAt: 3, Kill: true})
	h.until("frame 2")
	second := e.next()
	if second.pid != os.Getpid() {
		t.Errorf("the player that lets go is in process %d", second.pid)
	}
	if played := second.until("stop"); len(played) > 0 {
		t.Errorf("it played %v", played)
	}
	if report, err := run.Wait(); !errors.Is(err, pace.ErrProcess) || !report.Stopped {
		t.Errorf("%v, %+v", err, report)
	}
}

func TestAPlayerThatHangsIsEndedWithItsProcess(t *testing.T) {
	e := newEar(t)
	run, h := start(t, t.Context(), e, pace.Job{}, callerSetup{FailAt: 3, Hang: true})
	h.until("hangs")
	run.Stop()
	e.next().until("stop")
	if _, err := run.Wait(); !errors.Is(err, pace.ErrProcess) || !strings.Contains(err.Error(), "did not come back") {
		t.Error(err)
	}
}

func TestThePlayersMistakesComeBackAndItStops(t *testing.T) {
	for name, c := range map[string]struct {
		setup callerSetup
		says  string
	}{
		"error": {callerSetup{FailAt: 3}, "play frame 3: unplugged"},
		"panic": {callerSetup{FailAt: 3, Panic: true}, "play frame 3: panic: out of tune"},
	} {
		t.Run(name, func(t *testing.T) {
			run, h := start(t, t.Context(), newEar(t), pace.Job{}, c.setup)
			h.until("stop")
			report, err := run.Wait()
			var p *pace.PlayerError
			if !errors.As(err, &p) || err.Error() != c.says || p.Frame != 3 {
				t.Errorf("error %v", err)
			}
			if report.Played != 3 || !report.Stopped {
				t.Errorf("%+v", report)
			}
		})
	}
}

func TestAJobThatCannotBeginSaysWhy(t *testing.T) {
	host := pace.Child(players())
	good := pace.Job{Player: "none", Rate: pace.NTSC()}
	for says, change := range map[string]func(j *pace.Job){
		"make the player: the device is not there": func(*pace.Job) {},
		"make the player: panic: made badly":       func(j *pace.Job) { j.Player = "panics" },
		`there is no player "some"`:                func(j *pace.Job) { j.Player = "some" },
		"no rate":                                  func(j *pace.Job) { j.Rate = pace.Rate{} },
		"-1 frames":                                func(j *pace.Job) { j.Frames = -1 },
		"no policy Policy(9)":                      func(j *pace.Job) { j.Policy = 9 },
		"its setup has 67108865 bytes":             func(j *pace.Job) { j.Setup = make([]byte, pace.MaxSetup+1) },
		"records to keep":                          func(j *pace.Job) { j.Keep = pace.MaxKeep + 1 },
	} {
		for _, plain := range []bool{false, true} {
			j := good
			j.Plain = plain
			change(&j)
			if _, err := host.Start(t.Context(), j); err == nil || !strings.Contains(err.Error(), says) {
				t.Errorf("plain %v: %v, want something about %q", plain, err, says)
			}
		}
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := host.Start(ended, good); !errors.Is(err, context.Canceled) {
		t.Errorf("with a context that has ended: %v", err)
	}
}

func TestALargeSetupArrivesWhole(t *testing.T) {
	e := newEar(t)
	run, h := start(t, t.Context(), e, pace.Job{Frames: 2, Keep: -1}, callerSetup{Says: strings.Repeat("la", 1<<20)})
	h.until("stop")
	report, err := run.Wait()
	if err != nil || len(report.Result) != 2<<20+len(" after 2") || len(report.Records) != 0 {
		t.Errorf("%v, %d bytes, %d records", err, len(report.Result), len(report.Records))
	}
}

func TestRunsGoOnSideBySide(t *testing.T) {
	e := newEar(t)
	one, h := start(t, t.Context(), e, pace.Job{}, callerSetup{})
	two, g := start(t, t.Context(), e, pace.Job{}, callerSetup{})
	h.until("frame 3")
	g.until("frame 3")
	one.Stop()
	h.until("stop")
	g.until("frame 9")
	two.Stop()
	g.until("stop")
	for _, run := range []*pace.Run{one, two} {
		if _, err := run.Wait(); err != nil {
			t.Error(err)
		}
	}
}
