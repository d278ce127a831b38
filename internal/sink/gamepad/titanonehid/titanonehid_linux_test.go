package titanonehid

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/hikyaku/hikyaku/internal/macro"
	"github.com/hikyaku/hikyaku/internal/sink/gamepad/device"
)

// TestTheDeviceIsTakenOverWrittenToAndGivenBack plays on a file in place of /dev/hidraw…: it holds the reports that the
// kernel would send.
func TestTheDeviceIsTakenOverWrittenToAndGivenBack(t *testing.T) {
	file := filepath.Join(t.TempDir(), "hidraw0")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	d, err := open(file, []int{1})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := open(file, []int{1}); !errors.Is(err, device.ErrBusy) {
		t.Errorf("a second program: %v", err)
	}
	s, err := macro.ParseState("2,mk,lx=-100")
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(d.Write(1, 0, &s), d.Write(1, device.Release, new(macro.State)), d.Close()); err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(file)
	if err != nil || len(b) != 4*65 {
		t.Fatalf("%d bytes, %v", len(b), err)
	}
	reports := slices.Collect(slices.Chunk(b, 65))
	for i, head := range []string{"\x00\x07\x00\x00\x01", "\x00\x04\x24\x00\x01", "\x00\x04\x24\x00\x01",
		"\x00\x08\x00\x00\x01"} {
		if got := string(reports[i][:5]); got != head {
			t.Errorf("report %d begins with %q, not %q", i, got, head)
		}
	}
	for i, v := range reports[1][5:] {
		want := byte(0)
		switch macro.Input(i) {
		case macro.Down, macro.Circle:
			want = 100
		case macro.LX:
			want = 256 - 100
		}
		if v != want {
			t.Errorf("byte %d of the state is %d, not %d", i, v, want)
		}
	}
	for _, r := range []int{0, 2, 3} {
		if strings.Trim(string(reports[r][5:]), "\x00") != "" {
			t.Errorf("report %d presses something: %q", r, reports[r])
		}
	}
}

// TestWhatTheDeviceTellsIsRead plays on a pipe, which tells what was written to it.
func TestWhatTheDeviceTellsIsRead(t *testing.T) {
	pipe := filepath.Join(t.TempDir(), "hidraw0")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	d, err := open(pipe, []int{1})
	if err != nil {
		t.Fatal(err)
	}
	var b [device.AnswerBytes]byte
	if n, err := d.(device.Reader).Read(1, b[:], time.Hour); err != nil || n != 65 || b[1] != kindEnter {
		t.Errorf("%d bytes, %v", n, err)
	}
	if n, err := d.(device.Reader).Read(1, b[:], 0); n != 0 || err != nil {
		t.Errorf("it told nothing: %d bytes, %v", n, err)
	}
	if err := d.Close(); err != nil {
		t.Error(err)
	}
	file := filepath.Join(t.TempDir(), "hidraw1")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	gone, err := open(file, []int{1})
	if err != nil {
		t.Fatal(err)
	}
	defer gone.Close()
	if _, err := gone.(device.Reader).Read(1, b[:], time.Hour); !errors.Is(err, device.ErrGone) ||
		!strings.Contains(err.Error(), "plug it in again") {
		t.Errorf("of a device that has come to its end: %v", err)
	}
}

func TestTheDeviceIsFoundAmongOthers(t *testing.T) {
	dir := t.TempDir()
	for name, uevent := range map[string]string{
		"hidraw0": "DRIVER=hid-generic\nHID_ID=0003:0000046D:0000C31C\nHID_NAME=a keyboard\n",
		"hidraw1": "DRIVER=hid-generic\nHID_ID=0003:00002508:00000003\nHID_NAME=Titan One\n",
		"hidraw2": "HID_ID=0003:00002508:00000099\n",
		"hidraw3": "nothing\n",
	} {
		if err := os.MkdirAll(filepath.Join(dir, name, "device"), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name, "device", "uevent"), []byte(uevent), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Mkdir(filepath.Join(dir, "hidraw4"), 0o755); err != nil { // one that is just going away
		t.Fatal(err)
	}
	files, err := find(dir)
	if err != nil || !slices.Equal(files, []string{"/dev/hidraw1"}) {
		t.Errorf("%q, %v", files, err)
	}
	if files, err := find(filepath.Join(dir, "none")); err != nil || files != nil {
		t.Errorf("%q, %v", files, err)
	}
}

func TestADeviceThatIsNotThereIsTold(t *testing.T) {
	if _, err := open(filepath.Join(t.TempDir(), "hidraw7"), []int{1}); !errors.Is(err, device.ErrMissing) {
		t.Error(err)
	}
	if d, err := open("/dev/full", []int{1}); err == nil {
		d.Close()
		t.Error("a device that takes no report was opened")
	}
}
