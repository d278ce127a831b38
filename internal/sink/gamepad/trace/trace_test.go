package trace_test

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hikyaku/hikyaku/internal/macro"
	"github.com/hikyaku/hikyaku/internal/sink/gamepad/device"
	"github.com/hikyaku/hikyaku/internal/sink/gamepad/trace"
)

func TestWhatIsWrittenIsReadAgain(t *testing.T) {
	file := filepath.Join(t.TempDir(), "trace")
	target, done, err := trace.Driver().Keep(file, []int{1, 2})
	if err != nil {
		t.Fatal(err)
	}
	states := []string{"5", "2,mk", "9,lx=-30", "l2=40"}
	for range 2 { // runs: the second one goes on behind the first
		d, err := trace.Driver().Open(target, []int{1, 2})
		if err != nil {
			t.Fatal(err)
		}
		for i, text := range states {
			s, err := macro.ParseState(text)
			if err != nil {
				t.Fatal(err)
			}
			if err := d.Write(1+i%2, int64(i)*1000, &s); err != nil {
				t.Fatal(err)
			}
		}
		if err := errors.Join(d.Write(1, device.Release, new(macro.State)), d.Close()); err != nil {
			t.Fatal(err)
		}
	}
	if err := done(); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	events, err := trace.Read(bytes.NewReader(text))
	if err != nil || len(events) != 2*(len(states)+1) {
		t.Fatalf("%d events, %v\n%s", len(events), err, text)
	}
	for i, e := range events {
		at := i % (len(states) + 1)
		if at == len(states) {
			if e.Frame != device.Release || e.State != (macro.State{}) {
				t.Errorf("%v", e)
			}
			continue
		}
		if e.Frame != int64(at)*1000 || e.Player != 1+at%2 || e.State.String() != states[at] || e.At.IsZero() {
			t.Errorf("%v", e)
		}
	}
	if _, _, err := trace.Driver().Keep(file, nil); err != nil {
		t.Fatal(err)
	}
	if again, _ := os.ReadFile(file); bytes.Contains(again, []byte("mk")) {
		t.Error("the file was not emptied for the next ones")
	}
}

func TestFilesThatEachProcessHasItsOwnOfAreRefused(t *testing.T) {
	for _, name := range []string{"/dev/stdin", "/dev/stdout", "/dev//stderr", "/dev/fd/1", "/proc/self/fd/2"} {
		if _, _, err := trace.Driver().Keep(name, []int{1}); err == nil ||
			!strings.Contains(err.Error(), "write trace:-") {
			t.Errorf("%s: %v", name, err)
		}
	}
	if target, done, err := trace.Driver().Keep("-", []int{1}); target != "-" || err != nil || done() != nil {
		t.Errorf("- became %q: %v", target, err)
	}
}

func TestAWriteAllocatesNothing(t *testing.T) {
	d, err := trace.Open(filepath.Join(t.TempDir(), "trace"))
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	s, err := macro.ParseState("3,lp,mp,hp,lx=-100")
	if err != nil {
		t.Fatal(err)
	}
	if n := testing.AllocsPerRun(100, func() {
		if err := d.Write(2, 1_000_000, &s); err != nil {
			t.Error(err)
		}
	}); n > 0 {
		t.Errorf("%v allocations", n)
	}
}

func FuzzRead(f *testing.F) {
	f.Add([]byte("# a trace\n0\t1\t1763812345678901234\t9\n-\t1\t1763812346763345889\t5\n"))
	f.Add([]byte("0\t1\t5\n"))
	f.Add([]byte("1\t2\t3\tlx=-5,2"))
	f.Add([]byte("-1\t2\t3\tlp"))
	f.Fuzz(func(t *testing.T, text []byte) {
		events, _ := trace.Read(bytes.NewReader(text))
		for _, e := range events {
			if e.Frame < device.Release {
				t.Fatalf("%v", e)
			}
			if again, err := macro.ParseState(e.State.String()); err != nil || again != e.State {
				t.Fatalf("%s became %s: %v", e.State, again, err)
			}
		}
	})
}
