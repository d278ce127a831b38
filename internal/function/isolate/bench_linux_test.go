//go:build amd64 || arm64

package isolate

import (
	"os"
	"runtime"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// BenchmarkRoom is what a start pays for isolation: the room, the program's way into it, and, after the instance, the
// room's end.
func BenchmarkRoom(b *testing.B) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	w := Probe(b.TempDir())
	if !w.Room {
		b.Skip("there are no rooms here: ", &w.Abilities)
	}
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		b.Fatal(err)
	}
	defer null.Close()
	plan := Plan{Code: b.TempDir(), TempBytes: 1 << 29, User: probedUser, Memo: &Memo{}}
	var open, start, end time.Duration
	for b.Loop() {
		began := time.Now()
		room, err := w.Open(plan)
		if err != nil {
			b.Fatal(err)
		}
		opened := time.Now()
		pid, err := room.Start(Program{Path: "/bin/true", Args: []string{"true"}, Dir: "/", In: int(null.Fd()),
			Out: int(null.Fd())})
		if err != nil {
			b.Fatal(err)
		}
		started := time.Now()
		if _, err := unix.Wait4(pid, nil, unix.WALL, nil); err != nil {
			b.Fatal(err)
		}
		ended := time.Now()
		room.Close()
		open, start, end = open+opened.Sub(began), start+started.Sub(opened), end+time.Since(ended)
	}
	for name, d := range map[string]time.Duration{"ms-open": open, "ms-start": start, "ms-close": end} {
		b.ReportMetric(float64(d.Microseconds())/1000/float64(b.N), name)
	}
}
