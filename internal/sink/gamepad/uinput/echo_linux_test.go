package uinput

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/hikyaku/hikyaku/internal/sink/gamepad/device"
)

// TestWhatAPadHasIsReadBack reads from a pipe in place of /dev/input/event…, which gets what the kernel would hand on.
func TestWhatAPadHasIsReadBack(t *testing.T) {
	pipe := filepath.Join(t.TempDir(), "event1")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	ec, err := newEcho(pipe)
	if err != nil {
		t.Fatal(err)
	}
	defer ec.close()
	to, err := os.OpenFile(pipe, os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer to.Close()
	h := &held{close: func() error { return nil }}
	h.pads[1] = &seat{echo: ec}
	var b [device.AnswerBytes]byte
	if n, err := h.Read(1, b[:], 0); n != 0 || err != nil {
		t.Fatalf("before anything was written: %d bytes, %v", n, err)
	}
	e := newEncoder()
	for _, text := range []string{"lp", "2,hp", "lx=-100", "5"} {
		events := e.changes(state(t, text), false)
		if _, err := to.Write(bytesOf(events)); err != nil {
			t.Fatal(err)
		}
		n, err := h.Read(1, b[:], time.Hour)
		if err != nil || n != len(buttons())+len(axes()) {
			t.Fatalf("%s: %d bytes, %v", text, n, err)
		}
		for i, button := range buttons() {
			if want := byte(state(t, text)[button.input] / 100); b[i] != want {
				t.Errorf("%s: the button %x is %d", text, button.code, b[i])
			}
		}
		for i, a := range axes() {
			got := b[len(buttons())+i]
			// what has not moved yet is not known
			if want := a.value(state(t, text)); got != byte(want) && !(want == a.rest && got == 0) {
				t.Errorf("%s: the axis %x is %d, not %d", text, a.code, got, want)
			}
		}
	}
	// A report that says nothing new, and the half of one, are none.
	if _, err := to.Write(append(bytesOf([]event{{kind: evSyn}}),
		bytesOf([]event{{kind: evKey, code: 0x130, value: 1}})...)); err != nil {
		t.Fatal(err)
	}
	if n, err := h.Read(1, b[:], 0); n != 0 || err != nil {
		t.Errorf("%d bytes, %v", n, err)
	}
	to.Close()
	if _, err := h.Read(1, b[:], time.Hour); !errors.Is(err, device.ErrGone) {
		t.Errorf("of a pad that is gone: %v", err)
	}
	if _, err := h.Read(2, b[:], 0); err == nil {
		t.Error("a pad that is not there was read")
	}
}

func FuzzTake(f *testing.F) {
	f.Add(bytesOf([]event{{kind: evKey, code: 0x130, value: 1}, {kind: evAbs, code: absX, value: -1}, {kind: evSyn}}))
	f.Add(bytesOf([]event{{kind: evSyn, code: 3}, {kind: 9, code: 0xffff, value: -5}}))
	f.Fuzz(func(t *testing.T, b []byte) {
		e := echoOf(nil)
		e.left = b
		events, reports := len(b)/eventBytes, 0
		for len(e.left) >= eventBytes {
			if e.take() {
				reports++
			}
		}
		if reports > events/2 || len(e.left) != len(b)%eventBytes {
			t.Fatalf("%d reports of %d events, %d bytes left", reports, events, len(e.left))
		}
	})
}
