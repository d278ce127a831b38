package serial_test

import (
	"bufio"
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hikyaku/hikyaku/internal/macro"
	"github.com/hikyaku/hikyaku/internal/sink/gamepad/device"
	"github.com/hikyaku/hikyaku/internal/sink/gamepad/serial"
)

// firmware compiles the text of docs/adapter.md and plugs it in. The console is what is returned: a line for each
// report that differs from the last one.
func firmware(t *testing.T) (b *board, console *bufio.Reader) {
	t.Helper()
	page, err := os.ReadFile("../../../../docs/adapter.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, ok := bytes.Cut(page, []byte("```c\n"))
	text, _, closed := bytes.Cut(rest, []byte("```\n"))
	if !ok || !closed {
		t.Fatal("the document has no firmware")
	}
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "firmware.c"), text, 0o600); err != nil {
		t.Fatal(err)
	}
	program := filepath.Join(dir, "board")
	if out, err := exec.CommandContext(t.Context(), "cc", "-std=gnu11", "-Wall", "-Wextra", "-Werror", "-I", dir, "-o",
		program, "testdata/board.c").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	b = newBoard(t)
	cmd := exec.CommandContext(t.Context(), program)
	cmd.ExtraFiles = []*os.File{b.line}
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		cmd.Process.Kill()
		cmd.Wait()
	})
	return b, bufio.NewReader(out)
}

func sees(t *testing.T, console *bufio.Reader, want string) {
	t.Helper()
	if line, err := console.ReadString('\n'); err != nil || strings.TrimSuffix(line, "\n") != want {
		t.Fatalf("the console sees %q, %v; not %q", line, err, want)
	}
}

// TestTheFirmwareOfTheDocumentPlays, and tells when the console has had a state.
func TestTheFirmwareOfTheDocumentPlays(t *testing.T) {
	b, console := firmware(t)
	b.line.WriteString("\x07\x02\x01") // somebody was there before
	d, err := serial.Driver().Open(b.file, []int{1})
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	var answer [device.AnswerBytes]byte
	for i, c := range []struct{ state, sees string }{
		{"9", "13=100,16=100"}, {"2,mk", "14=100,18=100"}, {"lx=-100,l2=40", "7=40,11=-100"}, {"ps", "0=100"},
		{"5", ""},
	} {
		if err := d.Write(1, int64(i), state(t, c.state)); err != nil {
			t.Fatal(err)
		}
		sees(t, console, c.sees)
		if n, err := d.(device.Reader).Read(1, answer[:], time.Hour); err != nil || n != macro.Inputs {
			t.Errorf("%s: %d bytes, %v", c.state, n, err)
		}
	}
}

// TestTheFirmwareLetsGoWhenNobodySpeaks: a computer that has gone holds no button.
func TestTheFirmwareLetsGoWhenNobodySpeaks(t *testing.T) {
	b, console := firmware(t)
	d, err := serial.Driver().Open(b.file, []int{1})
	if err != nil {
		t.Fatal(err)
	}
	if err := d.Write(1, 0, state(t, "lp")); err != nil {
		t.Fatal(err)
	}
	if err := d.Close(); err != nil {
		t.Fatal(err)
	}
	sees(t, console, "20=100")
	sees(t, console, "")
}

// TestTheFirmwareTellsThatItHasBegunAnew, so that a run on a board that lost its power for a moment ends.
func TestTheFirmwareTellsThatItHasBegunAnew(t *testing.T) {
	b, _ := firmware(t)
	frame := coded([]byte{0x02, 1, 20, 100})
	// The line is not a program's yet, so it is made to carry bytes as a program does, by one that says hello.
	d, err := serial.Driver().Open(b.file, []int{1})
	if err != nil {
		t.Fatal(err)
	}
	d.Close()
	if _, err := b.hold.Write(coded([]byte{0x01, 2, 9})); err != nil { // versions that it does not speak
		t.Fatal(err)
	}
	if _, err := b.hold.Write(frame); err != nil {
		t.Fatal(err)
	}
	var told []byte
	for bytes.Count(told, []byte{0}) < 2 {
		if _, err := device.Await(b.hold.Fd(), time.Hour); err != nil {
			t.Fatal(err)
		}
		part := make([]byte, 64)
		n, err := b.hold.Read(part)
		if err != nil {
			t.Fatal(err)
		}
		told = append(told, part[:n]...)
	}
	want := slices.Concat(coded([]byte("\x81\x00my board")), coded([]byte("\x83say hello first")))
	if !bytes.Equal(told, want) {
		t.Errorf("%q, not %q", told, want)
	}
}
