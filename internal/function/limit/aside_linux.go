package limit

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// selfSuffix ends the name of the group that this process steps aside into.
const selfSuffix = "-self"

// aside is a process that has moved from its group to one below it. Version 2 limits the groups below a group only
// while no process is in that one itself; a service whose group was delegated to it, or a container's only process, has
// to make room first.
type aside struct {
	home, dir string
	pid       int
}

// stepAside moves a process into a group below its own; nil: it is not alone there, so that it is not its to arrange,
// or it cannot.
func stepAside(home, dir string, pid int) *aside {
	procs := words(filepath.Join(home, "cgroup.procs"))
	if len(procs) != 1 || !procs[strconv.Itoa(pid)] {
		return nil
	}
	if err := os.Mkdir(dir, 0o755); err != nil {
		return nil
	}
	if err := write(dir, "cgroup.procs", strconv.Itoa(pid)); err != nil {
		_ = os.Remove(dir) // nobody is in it
		return nil
	}
	return &aside{home: home, dir: dir, pid: pid}
}

// back moves the process to where it was, as far as nobody else has made use of the room.
func (a *aside) back() {
	if a == nil {
		return
	}
	for c := range words(filepath.Join(a.home, "cgroup.subtree_control")) {
		if strings.Contains("memory cpu pids", c) {
			_ = write(a.home, "cgroup.subtree_control", "-"+c) // another group below may need it
		}
	}
	if write(a.home, "cgroup.procs", strconv.Itoa(a.pid)) == nil {
		_ = os.Remove(a.dir) // if somebody else is in it, it stays
	}
}
