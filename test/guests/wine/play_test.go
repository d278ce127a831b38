//go:build guests

package wine

import (
	"fmt"
	"os"
	"os/exec"
	"path"
	"regexp"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/hikyaku/hikyaku/internal/sink/gamepad/device"
	"github.com/hikyaku/hikyaku/internal/sink/gamepad/trace"
	"github.com/hikyaku/hikyaku/pace"
)

// examples are the macros of the report that this comes from, and how many frames they have.
var examples = map[string]int64{"combo.txt": 65, "low-kick-fireball.txt": 10, "jab.txt": 2}

func example(name string) string { return path.Join(work, "src/examples", name) }

// traced is what the program for Linux writes into a trace.
func traced(t *testing.T, name string, program ...string) []trace.Event {
	t.Helper()
	file := path.Join(t.TempDir(), "trace")
	cmd := exec.CommandContext(t.Context(), work+"/hikyaku-pad", "macro", "play", example(name), "--device",
		"trace:"+file)
	if len(program) > 0 {
		cmd = wine(t, nil, append(program, "macro", "play", windows(example(name)), "--device",
			"trace:"+windows(file))...)
	}
	if said, err := end(t, cmd); err != nil {
		t.Fatalf("%v\n%s", err, said)
	}
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	events, err := trace.Read(f)
	if err != nil {
		t.Fatal(err)
	}
	return events
}

// rates are how fast a macro is played until every write came in its frame, and how often each. Where the machine has
// much else to do none may come in a frame of a sixtieth of a second; what was meant is as clear in longer ones.
var rates = []struct {
	name  string
	times int
}{{pace.NTSC().String(), 10}, {"20/s", 5}, {"5/s", 5}}

// TestTheLibraryIsGivenTheFramesOfTheTrace plays each macro until every write came in its frame, by the library's own
// clock. What else the machine has to do may make a run late, but never change what is written.
func TestTheLibraryIsGivenTheFramesOfTheTrace(t *testing.T) {
	for name, frames := range examples {
		t.Run(name, func(t *testing.T) {
			want := repeated(traced(t, name), frames)
			for _, rate := range rates {
				for range rate.times {
					if inPlace(t, name, rate.name, frames, want) {
						return
					}
				}
			}
			t.Error("no run had every write in its frame")
		})
	}
}

// inPlace plays an example, and tells whether every write came in its frame.
func inPlace(t *testing.T, name, rate string, frames int64, want []write) bool {
	t.Helper()
	r := newRecord(t)
	said, err := end(t, pad(t, r, nil, "macro", "play", windows(example(name)), "--device", "titanone", "--rate", rate))
	if err != nil {
		t.Fatalf("%v\n%s", err, said)
	}
	var got []write
	writes := r.writes(t)
	for i, c := range writes {
		if c.answer != 1 {
			t.Errorf("write %d was refused", i)
		}
		got = append(got, write{want[min(i, len(want)-1)].frame, c.state})
	}
	if !slices.Equal(got, want) {
		t.Fatalf("the library was given\n%v, not\n%v", got, want)
	}
	r.released(t)
	exact, err := pace.ParseRate(rate)
	if err != nil {
		t.Fatal(err)
	}
	late := outOfPlace(writes, want, frames, exact)
	if late != nil {
		t.Logf("at %s: %v", rate, late)
		return false
	}
	t.Logf("at %s every write came in its frame\n%s", rate, said)
	return true
}

// outOfPlace says what was written in another frame than it should have been. Frame 0 is the first write's.
func outOfPlace(writes []call, want []write, frames int64, rate pace.Rate) error {
	for i, w := range want {
		frame := w.frame
		if frame == device.Release {
			frame = frames
		}
		off := writes[i].at - writes[0].at - rate.Deadline(frame)
		if off.Abs() >= rate.Interval()/2 {
			return fmt.Errorf("%s was written %s from where frame %d is", &w.state, off.Round(10*time.Microsecond),
				frame)
		}
	}
	return nil
}

// TestTheTraceIsTheSameOnWindows holds the whole way to that, without the library.
func TestTheTraceIsTheSameOnWindows(t *testing.T) {
	for name := range examples {
		told := func(events []trace.Event) (all []string) {
			for _, e := range events {
				all = append(all, fmt.Sprintf("%d:%d:%s", e.Frame, e.Player, &e.State))
			}
			return all
		}
		if here, there := told(traced(t, name)), told(traced(t, name, programName)); !slices.Equal(here, there) {
			t.Errorf("%s: on Linux %q, on Windows %q", name, here, there)
		}
	}
}

// TestItSaysWhatItStandsOn: a process of its own, with Windows' best priority and its best timer.
func TestItSaysWhatItStandsOn(t *testing.T) {
	said, err := end(t, pad(t, newRecord(t), nil, "macro", "play", windows(example("jab.txt")), "--device", "titanone"))
	if err != nil {
		t.Fatalf("%v\n%s", err, said)
	}
	m := regexp.MustCompile(
		`on: step 1 of 3: own process, time-critical, high-resolution timer and a spin of (\d+)µs`).FindStringSubmatch(
		said)
	if m == nil {
		t.Fatalf("it said\n%s", said)
	}
	if spin, err := strconv.Atoi(m[1]); err != nil || spin == 0 {
		t.Errorf("a spin of %s", m[1])
	}
}
