package main

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"golang.org/x/sys/unix"
)

func main() {
	if os.Getpid() != 1 {
		fmt.Fprintln(os.Stderr, "guest: this is a program for a virtual machine of its own: see test/guests/qemu")
		os.Exit(2)
	}
	err := work()
	if err != nil {
		fmt.Println("guest:", err) // the console, whose end the host shows
	}
	unix.Sync()
	if err := unix.Reboot(unix.LINUX_REBOOT_CMD_RESTART); err != nil {
		fmt.Println("guest: restart:", err)
	}
}

// only is a part of the names of the scenes that are played. The kernel makes variables of what it does not know on its
// command line.
const only = "HIKYAKU_GUEST_ONLY"

// places is how many goroutines have room at once: more than there are processors, so that a reader that wakes finds
// one.
const places = 4

func work() error {
	runtime.GOMAXPROCS(places)
	for _, m := range []struct{ kind, to string }{{"devtmpfs", "/dev"}, {"proc", "/proc"}, {"sysfs", "/sys"},
		{"tmpfs", "/tmp"}} {
		if err := os.MkdirAll(m.to, 0o755); err != nil {
			return err
		}
		if err := unix.Mount(m.kind, m.to, m.kind, 0, ""); err != nil {
			return fmt.Errorf("mount %s: %w", m.to, err)
		}
	}
	if err := loopback(); err != nil {
		return fmt.Errorf("the loopback network: %w", err)
	}
	told, err := newTeller("/dev/ttyS1")
	if err != nil {
		return err
	}
	all := slices.DeleteFunc(scenes(),
		func(s scene) bool { return s.name != "modules" && !strings.Contains(s.name, os.Getenv(only)) })
	for _, s := range all {
		if err := told.run(s); err != nil {
			return err
		}
	}
	return told.end(len(all))
}

// scenes are in an order that matters: devices are missing before they are there.
func scenes() []scene {
	all := []scene{{"uinput/missing", uinputMissing}, {"modules", loadModules}}
	for _, more := range [][]scene{uinputScenes(), frameScenes(), recordScenes(), passScenes(), hidScenes()} {
		all = append(all, more...)
	}
	return all
}

// loadModules loads the modules in the order that the host has found out.
func loadModules(t *test) {
	order, err := os.ReadFile("/modules/order")
	t.check(err)
	for name := range strings.FieldsSeq(string(order)) {
		f, err := os.Open(filepath.Join("/modules", name))
		t.check(err)
		if err := unix.FinitModule(int(f.Fd()), "", 0); err != nil {
			t.fatalf("%s: %v", name, err)
		}
		f.Close()
	}
	for _, node := range []string{"/dev/uinput", "/dev/uhid"} {
		t.eventually(node+" is there", func() bool {
			_, err := os.Stat(node)
			return err == nil
		})
	}
}
