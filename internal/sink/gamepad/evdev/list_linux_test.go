package evdev

import (
	"os"
	"path/filepath"
	"testing"
	"unsafe"
)

// TestTheRequestsAreThoseOfTheKernel: the sizes of the structures stand in their numbers.
func TestTheRequestsAreThoseOfTheKernel(t *testing.T) {
	if size := unsafe.Sizeof(absInfo{}); evioGetAxis(3)>>16&0x3fff != size || evioGetAxis(3)&0xff != 0x43 {
		t.Errorf("input_absinfo has %d bytes, and its request is %#x", size, evioGetAxis(3))
	}
	if evioGetBits(evAbs, 8) != 0x80084523 || evioGetKeys(96) != 0x80604518 || evioGetName(256) != 0x81004506 {
		t.Error("the requests have other numbers")
	}
}

func TestPadsAreFoundAmongOtherDevices(t *testing.T) {
	sys, dev := t.TempDir(), t.TempDir()
	for node, d := range map[string]struct{ name, keys string }{
		"event3": {"AT Translated Set 2 keyboard", "402000000 3803078f800d001 feffffdfffefffff fffffffffffffffe"},
		"event7": {"Wireless Controller", "7fdb000000000000 0 0 0 0"},
	} {
		dir := filepath.Join(sys, node, "device", "capabilities")
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		for file, text := range map[string]string{"../name": d.name, "key": d.keys} {
			if err := os.WriteFile(filepath.Join(dir, file), []byte(text+"\n"), 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
	all, err := list(sys, dev)
	if err != nil || len(all) != 1 || all[0].Name != "Wireless Controller" ||
		all[0].Path != filepath.Join(dev, "event7") {
		t.Errorf("%+v, %v", all, err)
	}
	if len(all) == 1 && all[0].Refused == "" {
		t.Error("a device that is not there may be read")
	}
}
