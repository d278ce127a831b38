package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hikyaku/hikyaku/internal/sink/gamepad/device"
	"github.com/hikyaku/hikyaku/internal/sink/gamepad/trace"
)

const module = "github.com/hikyaku/hikyaku/"

// TestItNeedsNothingButTheMacrosAndTheirPace: what else came in might not compile for windows/386, as hikyaku's SQL
// does not.
func TestItNeedsNothingButTheMacrosAndTheirPace(t *testing.T) {
	cmd := exec.CommandContext(t.Context(), "go", "list", "-deps", ".")
	cmd.Env = append(os.Environ(), "GOOS=windows", "GOARCH=386", "CGO_ENABLED=0")
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	for dep := range strings.Lines(string(out)) {
		dep = strings.TrimSpace(dep)
		ours, isOurs := strings.CutPrefix(dep, module)
		first, _, _ := strings.Cut(dep, "/")
		switch {
		case isOurs:
			fine := false
			for _, room := range []string{"cmd/hikyaku-pad", "pace", "internal/macro", "internal/macro/",
				"internal/sink/gamepad/", "internal/nearest"} {
				fine = fine || ours == room || strings.HasSuffix(room, "/") && strings.HasPrefix(ours, room)
			}
			if !fine {
				t.Errorf("it imports %s", ours)
			}
		case strings.HasPrefix(dep, "golang.org/x/sys/") || strings.HasPrefix(dep, "golang.org/x/text/"):
		case strings.Contains(first, "."):
			t.Errorf("it imports %s", dep)
		}
	}
}

// TestItIsBuiltForWindowsWith32Bits: for the systems with 64 bits it is built together with everything else, by the
// tests of the floors.
func TestItIsBuiltForWindowsWith32Bits(t *testing.T) {
	cmd := exec.CommandContext(t.Context(), "go", "build", "-o", filepath.Join(t.TempDir(), "hikyaku-pad.exe"), ".")
	cmd.Env = append(os.Environ(), "GOOS=windows", "GOARCH=386", "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

// TestItPlaysAsHikyakuDoes runs the real program.
func TestItPlaysAsHikyakuDoes(t *testing.T) {
	dir := t.TempDir()
	program := filepath.Join(dir, "hikyaku-pad")
	if out, err := exec.CommandContext(t.Context(), "go", "build", "-o", program, ".").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	file := filepath.Join(dir, "trace")
	if out, err := exec.CommandContext(t.Context(), program, "macro", "play", "../../examples/low-kick-fireball.txt",
		"--mirror", "--device", "trace:"+file).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	events, err := trace.Read(f)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, e := range events {
		if e.Frame != device.Release {
			got = append(got, e.State.String())
		}
	}
	if strings.Join(got, " ") != "2,mk 1 4,lp" || len(events) != 4 {
		t.Errorf("%v", events)
	}
	if out, err := exec.CommandContext(t.Context(), program, "macro", "play", "../../examples/jab.txt", "--device",
		"trace:-").CombinedOutput(); err != nil || !strings.Contains(string(out), "\tlp\n") ||
		!strings.Contains(string(out), "-\t1\t") {
		t.Errorf("a trace on the standard error: %v\n%s", err, out)
	}
	if out, err := exec.CommandContext(t.Context(), program, "macro", "calibrate", "--rounds", "2", "--device",
		"trace:"+file).CombinedOutput(); err != nil || !strings.Contains(string(out), "4 writes") {
		t.Errorf("%v\n%s", err, out)
	}
	for _, wrong := range [][]string{{}, {"macro", "calibrate"}, {"macro", "calibrate", "x", "--device", "uinput"},
		{"macro", "calibrate", "--rounds", "-1", "--device", "uinput"},
		{"macro", "play", "x", "--device", "uinput", "--at", "noon"},
		{"macro", "play", "x", "--device", "uinput", "--lead", "1ms"},
		{"macro", "jump"}, {"macro", "play"}, {"macro", "play", "x", "--device", "uinpt"},
		{"macro", "serve", "x", "--device", "uinput"},
		{"macro", "play", "x", "--device", "uinput", "--rate", "never"}} {
		cmd := exec.CommandContext(t.Context(), program, wrong...)
		if out, _ := cmd.CombinedOutput(); cmd.ProcessState.ExitCode() != 2 ||
			!strings.Contains(string(out), "usage:") {
			t.Errorf("%q: %s\n%s", wrong, cmd.ProcessState, out)
		}
	}
}
