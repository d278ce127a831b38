package play_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/hikyaku/hikyaku/internal/macro"
	"github.com/hikyaku/hikyaku/internal/sink/gamepad/device"
	"github.com/hikyaku/hikyaku/internal/sink/gamepad/play"
	"github.com/hikyaku/hikyaku/internal/sink/gamepad/trace"
	"github.com/hikyaku/hikyaku/pace"
)

var host *pace.Host

func TestMain(m *testing.M) {
	host = pace.Child(play.Players())
	os.Exit(m.Run())
}

// run plays a text to its end.
func run(t *testing.T, h *pace.Host, text string, o macro.Options, devices ...string) (pace.Report, error) {
	t.Helper()
	script, err := macro.Read([]byte(text), o)
	if err != nil {
		t.Fatal(err)
	}
	pads, err := play.Keep(devices, script.Players())
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := pads.Close(); err != nil {
			t.Error(err)
		}
	}()
	r, err := pads.Start(t.Context(), h, play.Job{Script: script})
	if err != nil {
		return pace.Report{}, err
	}
	return r.Wait()
}

// events reads a trace.
func events(t *testing.T, file string) []trace.Event {
	t.Helper()
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	all, err := trace.Read(f)
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// told is a trace without its times.
func told(all []trace.Event) string {
	var b strings.Builder
	for _, e := range all {
		frame := fmt.Sprint(e.Frame)
		if e.Frame == device.Release {
			frame = "-"
		}
		fmt.Fprintf(&b, "%s:%d:%s ", frame, e.Player, e.State)
	}
	return strings.TrimSpace(b.String())
}

func TestTheExamplesPlayFrameForFrame(t *testing.T) {
	for name, want := range map[string]string{
		"combo.txt":             "0:1:9 34:1:hp 54:1:2,mk 62:1:6 63:1:2 64:1:3,hp -:1:5",
		"low-kick-fireball.txt": "0:1:2,mk 8:1:3 9:1:6,lp -:1:5",
		"jab.txt":               "0:1:lp -:1:5",
	} {
		t.Run(name, func(t *testing.T) {
			text, err := os.ReadFile(filepath.Join("../../../../examples", name))
			if err != nil {
				t.Fatal(err)
			}
			file := filepath.Join(t.TempDir(), "trace")
			report, err := run(t, host, string(text), macro.Options{}, "trace:"+file)
			if err != nil {
				t.Fatal(err)
			}
			all := events(t, file)
			if got := told(all); got != want {
				t.Errorf("played\n%s, not\n%s", got, want)
			}
			if !report.Footing.Own {
				t.Errorf("it was played on %s", report.Footing)
			}
			// How late they are is for the bench to say; but each belongs behind the moment of its frame, and the
			// letting go behind the last one's end. The first was as late as its record says, and written no later than
			// its call ended.
			first := report.Records[0]
			begin := all[0].At.Add(-first.Late - first.Took)
			for _, e := range all {
				frame := e.Frame
				if frame == device.Release {
					frame = report.Played
				}
				if due := begin.Add(pace.NTSC().Deadline(frame)); e.At.Before(due) {
					t.Errorf("frame %d was written %v before its moment", e.Frame, due.Sub(e.At))
				}
			}
		})
	}
}

func TestTwoPlayersPlayOnOneDeviceOrOnOneEach(t *testing.T) {
	text := "lp 3\n<player 2>\nhk 1\n</player>\n<sync>\n<player 2>\n4 2\n</player>\n6 1\n"
	dir := t.TempDir()
	both := filepath.Join(dir, "both")
	if _, err := run(t, host, text, macro.Options{}, "trace:"+both); err != nil {
		t.Fatal(err)
	}
	if got, want := told(events(t, both)), "0:1:lp 0:2:hk 1:2:5 3:1:6 3:2:4 4:1:5 -:1:5 -:2:5"; got != want {
		t.Errorf("%s, not %s", got, want)
	}
	one, two := filepath.Join(dir, "one"), filepath.Join(dir, "two")
	if _, err := run(t, host, text, macro.Options{Mirror: true}, "trace:"+one, "trace:"+two); err != nil {
		t.Fatal(err)
	}
	if got, want := told(events(t, one)), "0:1:lp 3:1:4 4:1:5 -:1:5"; got != want {
		t.Errorf("player 1: %s, not %s", got, want)
	}
	if got, want := told(events(t, two)), "0:2:hk 1:2:5 3:2:6 -:2:5"; got != want {
		t.Errorf("player 2: %s, not %s", got, want)
	}
}

func TestWhatStopsHalfWayLetsGo(t *testing.T) {
	for name, h := range map[string]*pace.Host{"in a process of its own": host,
		"in this one": pace.Plain(play.Players())} {
		t.Run(name, func(t *testing.T) {
			script, err := macro.Read([]byte("lp 1000000"), macro.Options{})
			if err != nil {
				t.Fatal(err)
			}
			file := filepath.Join(t.TempDir(), "trace")
			pads, err := play.Keep([]string{"trace:" + file}, script.Players())
			if err != nil {
				t.Fatal(err)
			}
			for round := range 2 {
				ctx, cancel := context.WithCancel(t.Context())
				began := make(chan struct{}, 1)
				r, err := pads.Start(ctx, h, play.Job{Script: script, Progress: func(p pace.Progress) {
					if p.Played > 0 {
						select {
						case began <- struct{}{}:
						default:
						}
					}
				}})
				if err != nil {
					t.Fatal(err)
				}
				<-began
				if round == 0 {
					r.Stop()
				} else {
					cancel()
				}
				report, err := r.Wait()
				cancel()
				if !report.Stopped || round == 0 && err != nil || round == 1 && !errors.Is(err, context.Canceled) {
					t.Errorf("round %d: %v, %v", round, report.Stopped, err)
				}
			}
			if err := pads.Close(); err != nil {
				t.Error(err)
			}
			// The file tells of both runs.
			if got := told(events(t, file)); got != "0:1:lp -:1:5 0:1:lp -:1:5" {
				t.Errorf("%s", got)
			}
		})
	}
}

func TestNamesOfDevicesAreChecked(t *testing.T) {
	for device, says := range map[string]string{
		"uinpt": "did you mean uinput?", "joystick": "there are trace:FILE, uinput", "trace": "write trace:FILE",
		"": "there are",
	} {
		if err := play.Check([]string{device}); !errors.Is(err, play.ErrDevice) ||
			!strings.Contains(err.Error(), says) {
			t.Errorf("%q: %v", device, err)
		}
	}
	for _, devices := range [][]string{nil, {"uinput", "uinput", "uinput"}} {
		if err := play.Check(devices); !errors.Is(err, play.ErrDevice) {
			t.Errorf("%q: %v", devices, err)
		}
	}
	names := []string{}
	for _, d := range play.Drivers() {
		names = append(names, d.Name)
		if d.Summary == "" || d.Open == nil || d.Pads < 1 {
			t.Errorf("%s is half made", d.Name)
		}
	}
	if got := slices.Compact(slices.Sorted(slices.Values(names))); len(got) != len(names) {
		t.Errorf("two drivers have one name: %q", names)
	}
}

func TestAPlayerWithoutAPadIsRefused(t *testing.T) {
	script, err := macro.Read([]byte("<player 2>\nlp 1\n</player>"), macro.Options{})
	if err != nil {
		t.Fatal(err)
	}
	pads, err := play.Keep([]string{"titanone-hid"}, []int{1, 2})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := pads.Start(t.Context(), host, play.Job{Script: script}); !errors.Is(err, play.ErrDevice) ||
		!strings.Contains(err.Error(), "player 2") {
		t.Error(err)
	}
}
