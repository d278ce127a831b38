package limit

import (
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/hikyaku/hikyaku/internal/machine"
	"github.com/hikyaku/hikyaku/internal/waittest"
)

// spawn starts a shell in a group; it ends when its input does.
func spawn(t *testing.T, g *Group, script string) (*exec.Cmd, io.WriteCloser) {
	t.Helper()
	cmd := exec.Command("/bin/sh", "-c", script)
	if fd := g.Descriptor(); fd != 0 {
		cmd.SysProcAttr = &syscall.SysProcAttr{UseCgroupFD: true, CgroupFD: fd}
	}
	in, err := cmd.StdinPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err == nil {
		err = g.Add(cmd.Process.Pid)
	}
	if err != nil {
		t.Fatal(err)
	}
	return cmd, in
}

func TestAGroupHoldsItsProgramsWhereTheMachineLetsIt(t *testing.T) {
	root := Open()
	defer func() {
		if err := root.Close(); err != nil {
			t.Error(err)
		}
		for _, d := range root.Folders() {
			if exists(d) {
				t.Errorf("%s is left", d)
			}
		}
	}()
	what := root.What()
	if (!what.Memory || !what.CPU) != (what.Why != "") {
		t.Errorf("%+v: what cannot be limited is explained, and nothing else", what)
	}
	g, err := root.Group("one", Share{MemoryBytes: 64 << 20, CPUs: 0.5, Tasks: 100})
	if err != nil {
		t.Fatal(err)
	}
	cmd, in := spawn(t, g, `sleep 1000 & read line; x=$(head -c 5000000 /dev/zero | tr '\0' x); read line`)
	if _, err := io.WriteString(in, "go on\n"); err != nil {
		t.Fatal(err)
	}
	waittest.Until(t, "the peak is known", func() bool { return !what.Memory || g.Peak() >= 4_000_000 })
	if g.OutOfMemory() {
		t.Error("nobody has wanted too much")
	}
	if err := g.SetCPU(0); err != nil {
		t.Error(err)
	}
	if what.Freeze != g.Freeze(true) || what.Freeze != g.Freeze(false) {
		t.Error("freezing is not what it was said to be")
	}
	if !g.Kill() {
		_ = cmd.Process.Kill() // there is no other way here
	}
	if err := cmd.Wait(); err == nil {
		t.Error("the program was not killed")
	}
	g.Close()
	if again, err := root.Group("two", Share{MemoryBytes: 64 << 20}); err != nil {
		t.Error(err)
	} else {
		again.Close()
	}
}

func TestAProcessThatIsAloneMakesRoomForGroupsAndGoesBack(t *testing.T) {
	top := machine.Groups(true)["unified"]
	home := filepath.Join(top, "hikyaku-test-"+ownName())
	if top == "" || os.Mkdir(home, 0o755) != nil {
		return // there is no room to make here
	}
	defer os.Remove(home)
	cmd := exec.Command("/bin/sleep", "1000")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { _, _ = cmd.Process.Kill(), cmd.Wait() }()
	pid := cmd.Process.Pid
	dir := filepath.Join(home, "self")
	if a := stepAside(home, dir, pid); a != nil || exists(dir) {
		t.Fatal("one that is not in the group was moved")
	}
	if err := write(home, "cgroup.procs", strconv.Itoa(pid)); err != nil {
		t.Fatal(err)
	}
	a := stepAside(home, dir, pid)
	if a == nil || len(words(filepath.Join(home, "cgroup.procs"))) != 0 ||
		!words(filepath.Join(dir, "cgroup.procs"))[strconv.Itoa(pid)] {
		t.Fatalf("%+v: it was not moved", a)
	}
	// which the kernel refuses while somebody is in it
	for c := range words(filepath.Join(home, "cgroup.controllers")) {
		if err := write(home, "cgroup.subtree_control", "+"+c); err != nil {
			t.Errorf("%s: %v", c, err)
		}
		_ = write(home, "cgroup.subtree_control", "-"+c) // as it was
	}
	a.back()
	if exists(dir) || !words(filepath.Join(home, "cgroup.procs"))[strconv.Itoa(pid)] {
		t.Error("it is not back")
	}
	if _, err := cmd.Process.Kill(), cmd.Wait(); err == nil {
		t.Error("it was not killed")
	}
}

func TestAGroupForksWithinItsShare(t *testing.T) {
	root := Open()
	defer root.Close()
	if !root.What().Tasks {
		return // nothing was promised
	}
	g, err := root.Group("forks", Share{MemoryBytes: 64 << 20, Tasks: 10})
	if err != nil {
		t.Fatal(err)
	}
	defer g.Close()
	cmd, in := spawn(t, g, "read line; for n in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15; do sleep 1000 & done")
	if _, err := io.WriteString(in, "go on\n"); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait() // the shell gives up where it cannot fork
	if n := len(words(filepath.Join(g.unified, "cgroup.procs"))); g.unified != "" && n > 10 {
		t.Errorf("%d processes run", n)
	}
}

func TestTheFoldersOfAnOwnerThatIsGoneAreRemoved(t *testing.T) {
	parent := t.TempDir() // a plain folder will do: there are no processes in it
	own := ownName()
	parts := strings.Split(own, "-")
	gone := filepath.Join(parent, strings.Join([]string{parts[0], parts[1], parts[2], "1"}, "-"))
	other := filepath.Join(parent, "hikyaku-7-1-1")
	mine := filepath.Join(parent, own)
	for _, d := range []string{gone, filepath.Join(gone, "instance"), other, mine} {
		if err := os.Mkdir(d, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	sweep(parent, own)
	if exists(gone) || !exists(other) || !exists(mine) {
		t.Errorf("gone: %v, of another namespace: %v, ours: %v", exists(gone), exists(other), exists(mine))
	}
}

func TestTheShareOfTheProcessorsGrowsWithTheMemory(t *testing.T) {
	if CPUs(1769) != 1 || CPUs(3538) != 2 {
		t.Errorf("%v, %v", CPUs(1769), CPUs(3538))
	}
	if period > 100*time.Millisecond {
		t.Error("the kernel takes no longer period well")
	}
}
