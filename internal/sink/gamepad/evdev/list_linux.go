package evdev

import (
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"
)

// List finds the pads of this machine, also those that may not be read.
func List() ([]Found, error) { return list("/sys/class/input", "/dev/input") }

func list(sys, dev string) (all []Found, err error) {
	dirs, err := filepath.Glob(filepath.Join(sys, "event*", "device"))
	if err != nil {
		return nil, err
	}
	for _, dir := range dirs {
		keys, err := os.ReadFile(filepath.Join(dir, "capabilities", "key"))
		if err != nil || !hasBit(string(keys), btnSouth) && !hasBit(string(keys), btnJoystick) {
			continue // what has gone meanwhile is no pad either
		}
		name, _ := os.ReadFile(filepath.Join(dir, "name"))
		f := Found{Path: filepath.Join(dev, filepath.Base(filepath.Dir(dir))), Name: strings.TrimSpace(string(name))}
		if err := unix.Access(f.Path, unix.R_OK); err != nil {
			f.Refused = whoMay(f.Path)
		}
		all = append(all, f)
	}
	return all, nil
}
