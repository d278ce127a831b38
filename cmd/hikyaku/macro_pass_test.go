//go:build linux

package main

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/hikyaku/hikyaku/internal/waittest"
)

// TestAButtonOfAPadBeginsAMacro hands a pipe with the events of a pad on to a trace.
func TestAButtonOfAPadBeginsAMacro(t *testing.T) {
	dir := t.TempDir()
	pipe, text, file := filepath.Join(dir, "event7"), filepath.Join(dir, "jab.txt"), filepath.Join(dir, "trace")
	if err := os.WriteFile(text, []byte("6,lp 2\n5 1\nhp 1\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	to, err := os.OpenFile(pipe, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer to.Close()
	cmd := command(t.Context(), nil, "macro", "pass", "--pad", pipe, "--device", "trace:"+file, "--on", "L3="+text,
		"--mirror")
	var said strings.Builder
	cmd.Stderr = &said
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer cmd.Process.Kill()
	const key, abs, south, thumb, hatX = 1, 3, 0x130, 0x13d, 0x10
	for _, c := range []struct {
		events []byte
		has    string
	}{
		{nil, "0 5"},
		{append(input(0, key, south, 1), input(0, abs, hatX, 1)...), ", 0 6,lk"},
		// the direction is the macro's, the kick the player's
		{input(0, key, thumb, 1), ", 0 4,lp,lk, 0 lk, 0 hp,lk, 0 6,lk"},
		{append(input(0, key, south, 0), input(0, key, thumb, 0)...), ", 0 6"},
	} {
		if _, err := to.Write(append(c.events, input(0, 0, 0, 0)...)); err != nil {
			t.Fatal(err)
		}
		waittest.Until(t, "the trace ends in "+c.has, func() bool {
			b, err := os.ReadFile(file)
			return err == nil && strings.HasSuffix(string(b), "\n") && strings.HasSuffix(traced(t, file), c.has)
		})
	}
	if err := cmd.Process.Signal(syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); err != nil || !strings.Contains(said.String(), "macros begun: 1\n") {
		t.Errorf("%v: %s", err, said.String())
	}
	if got := traced(t, file); got != "0 5, 0 6,lk, 0 4,lp,lk, 0 lk, 0 hp,lk, 0 6,lk, 0 6, - 5" {
		t.Errorf("the pad had %s", got)
	}
	for args, says := range map[string]string{
		"": "which pad is the player's", "--pad x --on l9=x": "there is no button",
		"--pad x --on lx=y": "there is no button",
		"--pad x --on l3":   "is not BUTTON=FILE", "--pad x --on l3=a --on L3=b": "begins another macro",
		"--pad x --map BTN_WST=lp": "did you mean BTN_WEST?", "--pad x --device uinput": "one pad goes to one device",
	} {
		r := hikyaku(t, "", nil, append([]string{"macro", "pass", "--device", "trace:" + file},
			strings.Fields(args)...)...)
		if r.code != exitUsage || !strings.Contains(r.stderr, says) {
			t.Errorf("%s: %+v", args, r)
		}
	}
	r := hikyaku(t, "<player 2>\nlp 1\n</player>\n", nil, "macro", "pass", "--device", "trace:"+file, "--pad", pipe,
		"--on", "l3=-")
	if r.code != exitFailed || !strings.Contains(r.stderr, "has lines for player 2") {
		t.Errorf("%+v", r)
	}
}
