//go:build guests

package wine

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/hikyaku/hikyaku/internal/macro"
	"github.com/hikyaku/hikyaku/internal/sink/gamepad/device"
	"github.com/hikyaku/hikyaku/internal/sink/gamepad/titanone"
	"github.com/hikyaku/hikyaku/internal/sink/gamepad/trace"
)

// record is what the stand-in for the vendor's library writes down; libraries/gcdapi.c says how.
type record struct{ file string }

func newRecord(t *testing.T) *record { return &record{filepath.Join(t.TempDir(), "record")} }

// call is a call of the library.
type call struct {
	at      time.Duration // of a clock that all processes have in common
	process int
	name    string
	answer  int
	state   macro.State // of gcapi_Write
}

// calls are those up to now, but for one that is just being written.
func (r *record) calls(t *testing.T) (all []call) {
	t.Helper()
	text, err := os.ReadFile(r.file)
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		if !strings.HasSuffix(line, "\n") {
			break
		}
		f := strings.Fields(line)
		var c call
		var numbers [3]int64
		for i, at := range []int{0, 1, 3} {
			n, err := strconv.ParseInt(f[at], 10, 64)
			if err != nil {
				t.Fatalf("%q: %v", line, err)
			}
			numbers[i] = n
		}
		c.at, c.process, c.name, c.answer = time.Duration(numbers[0]), int(numbers[1]), f[2], int(numbers[2])
		if c.name == "gcapi_Write" {
			if len(f) != 4+len(c.state) {
				t.Fatalf("%q has %d fields", line, len(f))
			}
			for i, text := range f[4:] {
				v, err := strconv.ParseInt(text, 10, 8)
				if err != nil {
					t.Fatalf("%q: %v", line, err)
				}
				c.state[i] = int8(v)
			}
		}
		all = append(all, c)
	}
	return all
}

// writes are the calls of gcapi_Write.
func (r *record) writes(t *testing.T) []call {
	t.Helper()
	return slices.DeleteFunc(r.calls(t), func(c call) bool { return c.name != "gcapi_Write" })
}

// presses tells whether this was pressed so far.
func (r *record) presses(t *testing.T, what string) bool {
	t.Helper()
	return slices.ContainsFunc(r.writes(t), func(c call) bool { return c.state.String() == what })
}

// released checks that the last write let go of everything, and that the device was given back after it.
func (r *record) released(t *testing.T) {
	t.Helper()
	calls := r.calls(t)
	if len(calls) < 2 {
		t.Fatalf("only %d calls", len(calls))
	}
	last, end := calls[len(calls)-2], calls[len(calls)-1]
	if last.name != "gcapi_Write" || last.answer != 1 || last.state != (macro.State{}) || end.name != "gcdapi_Unload" {
		t.Errorf("at the end were %s of %s, answered with %d, and %s", last.name, last.state, last.answer, end.name)
	}
}

// write is one that is expected.
type write struct {
	frame int64 // device.Release: the one at the end
	state macro.State
}

func (w write) String() string { return fmt.Sprintf("%d:%s", w.frame, &w.state) }

// repeated are the writes of a trace as the driver of the Titan One makes them, which writes an unchanged state again
// after some frames.
func repeated(events []trace.Event, frames int64) (all []write) {
	repeat := titanone.Driver().Repeat
	var state macro.State
	wrote := int64(0)
	for n := range frames {
		i := slices.IndexFunc(events, func(e trace.Event) bool { return e.Frame == n })
		if i >= 0 {
			state = events[i].State
		} else if n-wrote < repeat {
			continue
		}
		wrote = n
		all = append(all, write{n, state})
	}
	return append(all, write{device.Release, macro.State{}})
}
