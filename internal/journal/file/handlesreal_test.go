//go:build unix

package file_test

import (
	"errors"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/hikyaku/hikyaku/internal/journal"
	"github.com/hikyaku/hikyaku/internal/journal/file"
)

// handlesEnv makes the test a process that uses up its handles beside the journal in the folder named.
const handlesEnv = "HIKYAKU_JOURNAL_HANDLES"

// TestAProcessThatMayOpenNoMoreFilesGoesOnWithWhatItHas is the same on a real file system, in a process of its own.
func TestAProcessThatMayOpenNoMoreFilesGoesOnWithWhatItHas(t *testing.T) {
	if dir := os.Getenv(handlesEnv); dir != "" {
		withoutHandles(t, dir)
		return
	}
	c := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^"+t.Name()+"$")
	c.Env = append(os.Environ(), handlesEnv+"="+t.TempDir())
	if out, err := c.CombinedOutput(); err != nil || !strings.Contains(string(out), "PASS") {
		t.Fatalf("%v:\n%s", err, out)
	}
}

func withoutHandles(t *testing.T, dir string) {
	o := file.Options{Dir: dir, SegmentBytes: 256 << 10, MaxGroupBytes: 64 << 10, IdleSeal: 10 * time.Millisecond,
		Watch: time.Millisecond}
	j := mustOpen(t, o)
	defer j.Close()
	mustAppend(t, j, message(0, 1000))
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
		t.Fatal(err)
	}
	limit.Cur = 64
	if err := syscall.Setrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
		t.Fatal(err)
	}
	var taken []*os.File
	take := func() {
		for {
			f, err := os.Open(os.DevNull)
			if err != nil {
				return
			}
			taken = append(taken, f)
		}
	}
	take()
	put := 0
	for ; ; put++ {
		_, err := appendWait(j, message(put+1, 30_000))
		take() // what was between two uses
		if errors.Is(err, journal.ErrRefused) && errors.Is(err, syscall.EMFILE) {
			break
		}
		if err != nil || put == 1000 {
			t.Fatal(err)
		}
	}
	if err := j.Health(); !errors.Is(err, journal.ErrRefused) {
		t.Fatal(err)
	}
	settle := journal.Record{Head: make([]byte, 1000)}
	settles := 0
	for ; settles < 300; settles++ { // more than a segment holds
		if _, err := appendWait(j, settle); err != nil {
			t.Fatalf("after %d settles: %v", settles, err)
		}
	}
	for _, f := range taken {
		f.Close()
	}
	for j.Health() != nil {
		if err := j.Health(); errors.Is(err, journal.ErrFailed) {
			t.Fatal(err)
		}
		time.Sleep(time.Millisecond)
	}
	mustAppend(t, j, message(put+1, 30_000))
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	j = mustOpen(t, o)
	defer j.Close()
	text, err := content(t.Context(), j)
	if puts := strings.Count(text, "head of"); err != nil || puts != put+2 {
		t.Errorf("%d puts, want %d: %v", puts, put+2, err)
	}
}
