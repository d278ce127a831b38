package function_test

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/hikyaku/hikyaku/internal/function"
	"github.com/hikyaku/hikyaku/internal/waittest"
)

func TestNoProgramOutlivesAKilledOwner(t *testing.T) {
	for _, c := range []struct {
		name, unlimited string
		escaped         bool // who left the process group is found, too
	}{{"with control groups", "", true}, {"with process groups alone", "1", false}} {
		t.Run(c.name, func(t *testing.T) {
			cmd := exec.Command(os.Args[0])
			cmd.Env = append(os.Environ(), "ORPHAN_TEST="+t.TempDir(), "ORPHAN_CODE="+built,
				"ORPHAN_UNLIMITED="+c.unlimited, "ORPHAN_ISOLATION=none")
			out, err := cmd.StdoutPipe()
			if err != nil {
				t.Fatal(err)
			}
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			var pid int
			var forked string
			if _, err := fmt.Fscanf(out, "%d %s\n", &pid, &forked); err != nil {
				t.Fatalf("the owner does not begin: %v", err)
			}
			var others []string
			if err := json.Unmarshal([]byte(forked), &others); err != nil || len(others) != 2 {
				t.Fatalf("the function has not forked: %s (%v)", forked, err)
			}
			all := []int{pid, number(t, others[0])}
			if c.escaped && killsGroups(t) {
				all = append(all, number(t, others[1]))
			} else {
				defer syscall.Kill(number(t, others[1]), syscall.SIGKILL)
			}
			for _, n := range all {
				if !running(n) {
					t.Fatalf("%d of %v does not run", n, all)
				}
			}
			if err := cmd.Process.Kill(); err != nil {
				t.Fatal(err)
			}
			_ = cmd.Wait() // it was killed
			for _, n := range all {
				waittest.Until(t, fmt.Sprintf("program %d of %v ends", n, all), func() bool { return !running(n) })
			}
		})
	}
}

// Whoever is in a room ends with it, however it has left the group, and without control groups.
func TestNobodyInARoomOutlivesAKilledOwner(t *testing.T) {
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), "ORPHAN_TEST="+t.TempDir(), "ORPHAN_CODE="+built, "ORPHAN_UNLIMITED=1")
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	var pid int
	var forked string
	if _, err := fmt.Fscanf(out, "%d %s\n", &pid, &forked); err != nil {
		t.Fatalf("the owner does not begin: %v", err)
	}
	all := roommates(pid)
	if a, err := function.Probe(filepath.Join(t.TempDir(), "room")); err != nil || !a.Room {
		t.Log("there are no rooms here:", &a, err)
	} else if len(all) < 4 { // the shell, the function and what it has forked
		t.Errorf("in the room are %v", all)
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait() // it was killed
	for _, n := range all {
		waittest.Until(t, fmt.Sprintf("program %d of %v ends", n, all), func() bool { return !running(n) })
	}
}

// roommates are the processes that number each other as a process does.
func roommates(pid int) (all []int) {
	room, err := os.Readlink(fmt.Sprintf("/proc/%d/ns/pid", pid))
	paths, _ := filepath.Glob("/proc/[0-9]*") // the pattern is right
	for _, p := range paths {
		if other, e := os.Readlink(p + "/ns/pid"); err == nil && e == nil && other == room {
			if n, e := strconv.Atoi(filepath.Base(p)); e == nil {
				all = append(all, n)
			}
		}
	}
	return all
}

func TestWhatAFunctionHasForkedEndsWithItsInstance(t *testing.T) {
	p := open(t, function.Config{Isolation: function.None})
	deploy(t, p, nil)
	var forked []string
	answer(t, p, `{"do":"fork"}`, &forked)
	if !p.Machine().Limits.Kill {
		defer syscall.Kill(number(t, forked[1]), syscall.SIGKILL)
		forked = forked[:1]
	}
	if err := p.Remove("f", ""); err != nil {
		t.Fatal(err)
	}
	for _, f := range forked {
		waittest.Until(t, "what was forked ends", func() bool { return !running(number(t, f)) })
	}
}

func TestAFunctionThatForksWithoutEndMeetsItsLimit(t *testing.T) {
	p := open(t, function.Config{})
	if !p.Machine().Limits.Tasks {
		return // it would meet the machine's
	}
	deploy(t, p, func(d *function.Definition) { d.MemoryMB = 4096 })
	deploy(t, p, func(d *function.Definition) { d.Name = "g" })
	var forked int
	answer(t, p, `{"do":"fork bomb"}`, &forked)
	if forked < 100 || forked > 1024 {
		t.Errorf("it has forked %d", forked)
	}
	if r, err := p.Invoke(t.Context(), function.Request{Function: "g", Payload: []byte(`"on"`)}); err != nil ||
		string(r.Payload) != `"on"` {
		t.Errorf("another function: %+v, %v", r, err)
	}
	s, err := p.Stats("f", "")
	if err != nil || len(s.Instances) != 1 {
		t.Fatalf("%+v, %v", s, err)
	}
	if err := p.Remove("f", ""); err != nil {
		t.Error(err)
	}
	waittest.Until(t, "it is gone", func() bool { return !running(s.Instances[0].Pid) })
}

// running tells whether a process is there and no zombie.
func running(pid int) bool {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return false
	}
	_, rest, _ := strings.Cut(string(text), ") ")
	return !strings.HasPrefix(rest, "Z") && !strings.HasPrefix(rest, "X")
}

func killsGroups(t *testing.T) bool {
	t.Helper()
	p := open(t, function.Config{})
	return p.Machine().Limits.Kill
}

func number(t *testing.T, text string) int {
	t.Helper()
	n, err := strconv.Atoi(text)
	if err != nil {
		t.Fatal(err)
	}
	return n
}
