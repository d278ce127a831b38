//go:build guests

package qemu

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// bound is how long the machine may run. It takes a minute or two, and on a machine with much else to do some more.
const bound = 8 * time.Minute

// only is a variable with a part of the names of the scenes that are to be played, for those who are looking for
// something.
const only = "HIKYAKU_GUEST_ONLY"

// finding is what the guest tells of one scene, or its last word.
type finding struct {
	Test   string   `json:"test"`
	Failed []string `json:"failed"`
	Logged []string `json:"logged"`
	Millis int64    `json:"ms"`
	End    string   `json:"end"`    // the version of the kernel
	Scenes int      `json:"scenes"` // beside End: how many there were
}

// firstFiles makes the file that the machine begins with.
func firstFiles(t *testing.T, kernel string) string {
	t.Helper()
	a := new(archive)
	for _, dir := range []string{"dev", "proc", "sys", "tmp", "modules", "macros"} {
		a.add(dir, folder, nil)
	}
	dir := t.TempDir()
	for name, pkg := range map[string]string{"init": "./guest", "hikyaku-pad": "../../../cmd/hikyaku-pad"} {
		to := filepath.Join(dir, name)
		build := exec.CommandContext(t.Context(), "go", "build", "-trimpath", "-ldflags=-s -w", "-o", to, pkg)
		build.Env = append(os.Environ(), "CGO_ENABLED=0", "GOOS=linux", "GOARCH=amd64")
		if out, err := build.CombinedOutput(); err != nil {
			t.Fatalf("build %s: %v\n%s", pkg, err, out)
		}
		a.add(name, program, read(t, to))
	}
	order, err := modules(filepath.Join(kernel, "modules"), "evdev", "joydev", "uinput", "uhid", "hid-generic")
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, path := range order {
		names = append(names, filepath.Base(path))
		a.add("modules/"+filepath.Base(path), file, read(t, path))
	}
	a.add("modules/order", file, []byte(strings.Join(names, "\n")))
	for _, name := range []string{"combo.txt", "low-kick-fireball.txt", "jab.txt"} {
		a.add("macros/"+name, file, read(t, filepath.Join("../../../examples", name)))
	}
	a.end()
	to := filepath.Join(dir, "initramfs")
	if err := os.WriteFile(to, a.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	return to
}

func read(t *testing.T, path string) []byte {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// boot runs the machine to its end, and returns what it told and the end of what its console showed.
func boot(t *testing.T, kernel string) (findings []finding, console string) {
	t.Helper()
	dir := t.TempDir()
	told, shown := filepath.Join(dir, "told"), filepath.Join(dir, "console")
	ctx, cancel := context.WithTimeout(t.Context(), bound)
	defer cancel()
	cmd := exec.CommandContext(ctx, "qemu-system-x86_64",
		"-accel", "tcg", "-cpu", "max", "-smp", "1", "-m", "512", "-nodefaults", "-nographic", "-no-reboot", "-monitor",
		"none",
		"-kernel", filepath.Join(kernel, "vmlinuz"), "-initrd", firstFiles(t, kernel),
		"-serial", "file:"+shown, "-serial", "file:"+told,
		// One processor: then it is the kernel's priorities alone that say who comes first, however little time the
		// host has for the machine. Whatever the kernel despairs of ends the machine at once.
		"-append", "console=ttyS0 rdinit=/init quiet panic=-1 oops=panic random.trust_cpu=on "+only+"="+os.Getenv(only))
	var said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &said, &said
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL} // also when this test is killed
	began := time.Now()
	err := cmd.Run()
	console = tail(shown)
	if err != nil {
		t.Errorf("the machine, after %s: %v %v\n%s", time.Since(began).Round(time.Second), errors.Join(err, ctx.Err()),
			said.String(), console)
	}
	t.Logf("the machine ran for %s", time.Since(began).Round(100*time.Millisecond))
	b, _ := os.ReadFile(told)
	for sc := bufio.NewScanner(bytes.NewReader(b)); sc.Scan(); {
		var f finding
		if err := json.Unmarshal(sc.Bytes(), &f); err != nil {
			t.Errorf("the machine told %q: %v", sc.Text(), err)
			continue
		}
		findings = append(findings, f)
	}
	return findings, console
}

// tail is the end of what the console showed.
func tail(path string) string {
	b, err := os.ReadFile(path)
	if err != nil {
		return err.Error()
	}
	const most = 4000
	return "the console:\n" + string(b[max(0, len(b)-most):])
}
