package limit

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/hikyaku/hikyaku/internal/machine"
)

// Root is the place below which groups are made: one folder of ours in each hierarchy that can be written. Its methods
// may be called concurrently.
type Root struct {
	what    What
	unified string // our folder of version 2; "" when there is none
	memory  string // of version 1
	cpu     string // of version 1
	tasks   string // of version 1
	memory2 bool   // the unified folder's groups limit memory
	cpu2    bool
	tasks2  bool
	name    string
	aside   *aside // nil: this process stays where it was

	mu   sync.Mutex
	left []string // folders that could not be removed yet
}

// Open looks for control groups that can be written, below the one that this process is in, and makes a folder of ours
// there. Folders of owners that are gone are removed, with what runs in them. It never fails: What says what was found.
func Open() *Root {
	r := &Root{name: ownName()}
	places := machine.Groups(true)
	var why []string
	if p := places["unified"]; p != "" {
		if err := r.openUnified(p); err != nil {
			why = append(why, err.Error())
		}
	}
	for _, c := range []struct {
		controller string
		have       bool
		dir        *string
	}{{"memory", r.memory2, &r.memory}, {"cpu", r.cpu2, &r.cpu}, {"pids", r.tasks2, &r.tasks}} {
		if p := places[c.controller]; p != "" && !c.have {
			if err := r.make(p, c.dir); err != nil {
				why = append(why, err.Error())
			}
		}
	}
	r.what.Memory = r.memory2 || r.memory != ""
	r.what.CPU = r.cpu2 || r.cpu != ""
	r.what.Tasks = r.tasks2 || r.tasks != ""
	if !r.what.Memory || !r.what.CPU {
		if len(why) == 0 {
			why = append(why, "no control group with the controllers memory and cpu was found for this process")
		}
		r.what.Why = strings.Join(why, "; ")
	}
	return r
}

// openUnified makes our folder in the version-2 hierarchy and asks for the controllers.
func (r *Root) openUnified(parent string) error {
	if err := r.make(parent, &r.unified); err != nil {
		return err
	}
	have := words(filepath.Join(parent, "cgroup.controllers"))
	for _, c := range []struct {
		name string
		got  *bool
	}{{"memory", &r.memory2}, {"cpu", &r.cpu2}, {"pids", &r.tasks2}} {
		if !have[c.name] {
			continue
		}
		err := write(parent, "cgroup.subtree_control", "+"+c.name)
		// a group with processes in it may not hand controllers down
		if errors.Is(err, syscall.EBUSY) && r.aside == nil {
			if r.aside = stepAside(parent, filepath.Join(parent, r.name+selfSuffix), os.Getpid()); r.aside != nil {
				_ = write(parent, "cgroup.subtree_control", "+"+c.name) // whether it worked is seen below
			}
		}
		*c.got = write(r.unified, "cgroup.subtree_control", "+"+c.name) == nil
	}
	r.what.Kill = exists(filepath.Join(r.unified, "cgroup.kill"))
	r.what.Freeze = exists(filepath.Join(r.unified, "cgroup.freeze"))
	return nil
}

// make makes our folder below a group.
func (r *Root) make(parent string, dir *string) error {
	sweep(parent, r.name)
	own := filepath.Join(parent, r.name)
	if err := os.Mkdir(own, 0o755); err != nil {
		return fmt.Errorf("no control group can be made: %w", err)
	}
	*dir = own
	return nil
}

// What tells what can be limited.
func (r *Root) What() What { return r.what }

// Folders are ours, one for each hierarchy: whoever kills all that is in their groups kills every instance.
func (r *Root) Folders() (all []string) {
	for _, d := range []string{r.unified, r.memory, r.cpu, r.tasks} {
		if d != "" {
			all = append(all, d)
		}
	}
	return all
}

// Close removes our folders. The groups must have been closed; what still runs in them is killed.
func (r *Root) Close() error {
	var err error
	for _, d := range r.Folders() {
		if e := clear(d); err == nil {
			err = e
		}
	}
	r.aside.back()
	return err
}

// clear removes a folder of ours and the groups in it, killing who is there.
func clear(dir string) error {
	var err error
	// the kernel does not say when the last one has left all hierarchies
	for pause := time.Millisecond; pause < time.Second; pause *= 2 {
		groups, _ := filepath.Glob(filepath.Join(dir, "*/"))
		for _, g := range groups {
			killAll(g)
			_ = os.Remove(g) // the next turn tries again
		}
		if err = os.Remove(dir); err == nil || os.IsNotExist(err) {
			return nil
		}
		time.Sleep(pause)
	}
	return fmt.Errorf("a control group is left behind: %w", err)
}

// ownName names this process as the owner of a folder: its namespace of process numbers, its number, and when it
// started.
func ownName() string {
	namespace, _ := os.Readlink("/proc/self/ns/pid") // without one the name is less exact
	namespace = strings.Trim(strings.TrimPrefix(namespace, "pid:"), "[]")
	return fmt.Sprintf("hikyaku-%s-%d-%s", namespace, os.Getpid(), startOf(os.Getpid()))
}

// startOf is when a process started, as the kernel counts; "" when there is none.
func startOf(pid int) string {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return ""
	}
	_, rest, _ := strings.Cut(string(text), ") ") // the name before it may have anything in it
	fields := strings.Fields(rest)
	if len(fields) < 20 {
		return ""
	}
	return fields[19]
}

// sweep removes the folders below a group whose owner was killed.
func sweep(parent, own string) {
	prefix := own[:strings.Index(own[len("hikyaku-"):], "-")+len("hikyaku-")+1]
	found, _ := filepath.Glob(filepath.Join(parent, prefix+"*"))
	for _, dir := range found {
		pid, start, ok := strings.Cut(strings.TrimPrefix(filepath.Base(dir), prefix), "-")
		n, err := strconv.Atoi(pid)
		if !ok || err != nil || startOf(n) == strings.TrimSuffix(start, selfSuffix) {
			continue
		}
		_ = clear(dir) // the next start tries again
	}
}
