//go:build linux

package main

import (
	order "encoding/binary"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/hikyaku/hikyaku/pace"
)

// input is one struct input_event of a pad, as programs of 64 bits read it.
func input(at time.Duration, kind, code uint16, value int32) []byte {
	b := order.NativeEndian.AppendUint64(nil, uint64(at/time.Second))
	b = order.NativeEndian.AppendUint64(b, uint64(at%time.Second/time.Microsecond))
	b = order.NativeEndian.AppendUint16(b, kind)
	b = order.NativeEndian.AppendUint16(b, code)
	return order.NativeEndian.AppendUint32(b, uint32(value))
}

// pressedOnAPad are the bytes of a fireball: each change is a little away from its frame.
func pressedOnAPad() (b []byte) {
	add := func(frame int64, events ...[]byte) {
		at := 1000*time.Second + pace.NTSC().Deadline(frame) + time.Duration(frame%5-2)*2*time.Millisecond
		for _, e := range events {
			copy(e, input(at, 0, 0, 0)[:16])
			b = append(b, e...)
		}
		b = append(b, input(at, 0, 0, 0)...)
	}
	const key, abs, west, hatX, hatY = 1, 3, 0x134, 0x10, 0x11
	add(2, input(0, abs, hatY, 1))
	add(4, input(0, abs, hatX, 1))
	add(6, input(0, abs, hatY, 0), input(0, key, west, 1))
	add(8, input(0, abs, hatX, 0), input(0, key, west, 0))
	add(68, input(0, key, west, 1))
	return append(b, input(1001*time.Second, 0, 0, 0)[:7]...) // and a part of one
}

// TestARecordingIsPlayedAsItWasPressed: from the bytes of a pad to a macro and back to frames.
func TestARecordingIsPlayedAsItWasPressed(t *testing.T) {
	dir := t.TempDir()
	events, text, file := filepath.Join(dir, "events"), filepath.Join(dir, "macro.txt"), filepath.Join(dir, "trace")
	if err := os.WriteFile(events, pressedOnAPad(), 0o600); err != nil {
		t.Fatal(err)
	}
	r := hikyaku(t, "", nil, "macro", "record", "--device", events, "-o", text, "--map", "BTN_WEST=hp")
	if r.code != exitOK || !strings.Contains(r.stderr, "Recorded: 67 frames, 5 lines.") {
		t.Fatalf("%+v", r)
	}
	if r = hikyaku(t, "", nil, "macro", "play", text, "--device", "trace:"+file); r.code != exitOK {
		t.Fatalf("%+v", r)
	}
	if got := traced(t, file); got != "0 2, 2 3, 4 6,hp, 6 5, 66 hp, - 5" {
		t.Errorf("played %s", got)
	}
	if b, _ := os.ReadFile(text); !strings.HasPrefix(string(b), "# recorded from "+events+" at 60000/1001/s\n2 2\n") {
		t.Errorf("%s", b)
	}
}

// TestARecordingEndsWithCtrlC reads from a pipe that stays open.
func TestARecordingEndsWithCtrlC(t *testing.T) {
	pipe := filepath.Join(t.TempDir(), "event7")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		args   []string
		signal bool
	}{"Ctrl-C": {[]string{"--pause", "0"}, true}, "a pause": {[]string{"--pause", "50ms"}, false}} {
		to, err := os.OpenFile(pipe, os.O_RDWR, 0)
		if err != nil {
			t.Fatal(err)
		}
		defer to.Close()
		cmd := command(t.Context(), nil, append([]string{"macro", "record", "--device", pipe}, c.args...)...)
		var out strings.Builder
		cmd.Stdout = &out
		told, err := cmd.StderrPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		said := make([]byte, 4096)
		if _, err := told.Read(said); err != nil { // it says that it records
			t.Fatal(err)
		}
		if _, err := to.Write(pressedOnAPad()[:10*24]); err != nil { // all but the last press
			t.Fatal(err)
		}
		if c.signal {
			taken(t, to)
			if err := cmd.Process.Signal(syscall.SIGINT); err != nil {
				t.Fatal(err)
			}
		}
		if err := cmd.Wait(); err != nil || !strings.HasSuffix(out.String(), "\n2 2\n3 2\n6,lp 2\n") {
			t.Errorf("%s: %v: %q", name, err, out.String())
		}
	}
}

// taken waits until everything in a pipe was read.
func taken(t *testing.T, pipe *os.File) {
	t.Helper()
	conn, err := pipe.SyscallConn()
	if err != nil {
		t.Fatal(err)
	}
	for left := 1; left > 0; {
		var asked error
		err := conn.Control(func(fd uintptr) { left, asked = unix.IoctlGetInt(int(fd), unix.TIOCINQ) })
		if err != nil || asked != nil {
			t.Fatal(err, asked)
		}
	}
}

func TestWhatCannotBeRecordedIsTold(t *testing.T) {
	empty := filepath.Join(t.TempDir(), "empty")
	if err := os.WriteFile(empty, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	kept := filepath.Join(t.TempDir(), "kept.txt")
	if err := os.WriteFile(kept, []byte("lp 1\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		args string
		code int
		says string
	}{
		{"--device /dev/input/no-such-event", exitFailed, "the device is not there"},
		{"--device /dev/null", exitFailed, "no input device"},
		{"--device " + empty + " -o " + kept, exitFailed, "nothing was pressed"},
		{"--device " + empty + " -o /no/such/folder/macro.txt", exitFailed, "no such file"},
		{"--device " + empty + " --map BTN_WST=lp", exitUsage, "did you mean BTN_WEST?"},
		{"--device " + empty + " --dead-zone 0", exitUsage, "write --dead-zone 50"},
		{"--device " + empty + " --rate often", exitUsage, "write --rate 60000/1001"},
		{"combo.txt", exitUsage, "record"},
	} {
		r := hikyaku(t, "", nil, append([]string{"macro", "record"}, strings.Fields(c.args)...)...)
		if r.code != c.code || !strings.Contains(r.stderr, c.says) {
			t.Errorf("%s: %+v", c.args, r)
		}
	}
	if b, _ := os.ReadFile(kept); string(b) != "lp 1\n" {
		t.Errorf("an older macro became %q, though nothing was recorded", b)
	}
}
