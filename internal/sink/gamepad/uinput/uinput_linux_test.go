package uinput

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unsafe"

	"github.com/hikyaku/hikyaku/internal/macro"
	"github.com/hikyaku/hikyaku/internal/sink/gamepad/device"
)

// TestTheRequestsAreThoseOfTheKernel: the sizes of the structures stand in their numbers.
func TestTheRequestsAreThoseOfTheKernel(t *testing.T) {
	for name, c := range map[string]struct {
		size    uintptr
		request uintptr
	}{
		"uinput_setup": {unsafe.Sizeof(setup{}), uiSetup}, "uinput_abs_setup": {unsafe.Sizeof(absSetup{}), uiAbs},
		"a name": {64, uiSysname},
	} {
		if inside := c.request >> 16 & 0x3fff; inside != c.size {
			t.Errorf("%s has %d bytes, and its request %d", name, c.size, inside)
		}
	}
}

// decode reads events as the kernel would.
func decode(t *testing.T, b []byte) string {
	t.Helper()
	if len(b)%eventBytes != 0 {
		t.Fatalf("%d bytes are no events of %d", len(b), eventBytes)
	}
	var all []string
	for ; len(b) > 0; b = b[eventBytes:] {
		e := *(*event)(unsafe.Pointer(unsafe.SliceData(b)))
		all = append(all, fmt.Sprintf("%d:%x=%d", e.kind, e.code, e.value))
	}
	return strings.Join(all, " ")
}

func state(t *testing.T, text string) *macro.State {
	t.Helper()
	s, err := macro.ParseState(text)
	if err != nil {
		t.Fatal(err)
	}
	return &s
}

func TestOnlyChangesAreWritten(t *testing.T) {
	e := newEncoder()
	for _, c := range []struct{ state, want string }{
		{"5", ""},
		{"2,mk", "1:131=1 3:11=1 0:0=0"},
		{"2,mk", ""},
		{"3", "1:131=0 3:10=1 0:0=0"},
		{"4,lp,hk", "1:134=1 1:139=1 3:5=255 3:10=-1 3:11=0 0:0=0"},
		{"l2=40,lx=-100,ry=100", "1:134=0 1:139=0 3:0=1 3:4=255 3:2=102 3:5=0 3:10=0 0:0=0"},
		{"5", "3:0=128 3:4=128 3:2=0 0:0=0"},
		{"touch,ps", "1:13c=1 1:2c0=1 0:0=0"},
	} {
		if got := decode(t, bytesOf(e.changes(state(t, c.state), false))); got != c.want {
			t.Errorf("%s: %s, not %s", c.state, got, c.want)
		}
	}
}

func TestEveryButtonHasAPlaceOfItsOwn(t *testing.T) {
	inputs, codes := map[macro.Input]bool{}, map[uint16]bool{}
	for _, b := range buttons() {
		if inputs[b.input] || codes[b.code] {
			t.Errorf("%s or %x is there twice", macro.Name(b.input), b.code)
		}
		inputs[b.input], codes[b.code] = true, true
	}
	for in := range macro.Input(macro.Inputs) {
		axis := in >= macro.RX && in <= macro.Right || in >= macro.AccX && in <= macro.GyroZ || in > macro.Touch
		if !axis && macro.Name(in) != "" && !inputs[in] {
			t.Errorf("%s is pressed nowhere", macro.Name(in))
		}
	}
}

// TestPadsThatWereKeptAreWrittenTo writes to files in place of /dev/input/event…: what they hold is what the kernel
// would get.
func TestPadsThatWereKeptAreWrittenTo(t *testing.T) {
	dir := t.TempDir()
	one, two := filepath.Join(dir, "event1"), filepath.Join(dir, "event2")
	for _, f := range []string{one, two} {
		if err := os.WriteFile(f, nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	target, done, err := keep(inputDir+"1="+one+",2="+two, []int{1, 2})
	if err != nil {
		t.Fatal(err)
	}
	d, err := open(target, []int{2})
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{"lp", "lp", "5"} {
		if err := d.Write(2, 0, state(t, text)); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(d.Close(), done()); err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(two)
	if err != nil {
		t.Fatal(err)
	}
	got := decode(t, b)
	// The first write says all that a pad has, since another run may have left something.
	if !strings.HasPrefix(got, "1:130=0 1:131=0 1:133=0 1:134=1 ") ||
		!strings.HasSuffix(got, " 3:11=0 0:0=0 1:134=0 0:0=0") {
		t.Errorf("%s", got)
	}
	if b, _ := os.ReadFile(one); len(b) > 0 {
		t.Errorf("the other pad got %s", decode(t, b))
	}
	if err := d.Write(1, 0, state(t, "lp")); err == nil {
		t.Error("a closed pad was written to")
	}
}

func TestWhatIsNoUinputIsTold(t *testing.T) {
	if _, err := open(filepath.Join(t.TempDir(), "uinput"), []int{1}); !errors.Is(err, device.ErrMissing) ||
		!strings.Contains(err.Error(), "modprobe uinput") {
		t.Error(err)
	}
	if _, err := open(os.DevNull, []int{1}); err == nil ||
		!strings.Contains(err.Error(), "is this the kernel's uinput") {
		t.Error(err)
	}
	for _, target := range []string{inputDir + "nonsense", inputDir + "9=/dev/null",
		inputDir + "1=/dev/no-such-event"} {
		if d, err := open(target, []int{1}); err == nil {
			d.Close()
			t.Errorf("%s was opened", target)
		}
	}
}
