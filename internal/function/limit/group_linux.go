package limit

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// period is how long a share of the processors is reckoned over. A short one keeps a small share from standing still
// for long.
const period = 20 * time.Millisecond

// Group holds the programs of one instance. Its methods may be called concurrently, but for Close.
type Group struct {
	root *Root
	born *os.File
	peak *os.File

	unified, memory, cpu, tasks string // its folders
}

// Group makes a group for programs that get at most a share.
func (r *Root) Group(name string, share Share) (*Group, error) {
	r.retry()
	g := &Group{root: r}
	for _, d := range []struct {
		root string
		own  *string
	}{{r.unified, &g.unified}, {r.memory, &g.memory}, {r.cpu, &g.cpu}, {r.tasks, &g.tasks}} {
		if d.root == "" {
			continue
		}
		dir := filepath.Join(d.root, name)
		if err := os.Mkdir(dir, 0o755); err != nil {
			g.Close()
			return nil, fmt.Errorf("cannot make a control group: %w", err)
		}
		*d.own = dir
	}
	if err := g.limit(share); err != nil {
		g.Close()
		return nil, err
	}
	return g, nil
}

func (g *Group) limit(share Share) (err error) {
	bytes := strconv.FormatInt(share.MemoryBytes, 10)
	switch {
	case g.root.memory2:
		err = write(g.unified, "memory.max", bytes)
		_ = write(g.unified, "memory.swap.max", "0") // where there is swap
		_ = write(g.unified, "memory.oom.group", "1")
		g.peak, _ = os.Open(filepath.Join(g.unified, "memory.peak")) // since Linux 5.19
	case g.memory != "":
		err = write(g.memory, "memory.limit_in_bytes", bytes)
		_ = write(g.memory, "memory.memsw.limit_in_bytes", bytes)    // where swap is accounted
		_ = write(g.memory, "memory.kmem.tcp.limit_in_bytes", bytes) // what connections hold counts apart there
		g.peak, _ = os.Open(filepath.Join(g.memory, "memory.max_usage_in_bytes"))
	}
	if err != nil {
		return fmt.Errorf("cannot limit the memory of a control group to %s bytes: %w", bytes, err)
	}
	if dir := cmp.Or(g.tasks, g.unified); g.root.what.Tasks && share.Tasks > 0 {
		if err := write(dir, "pids.max", strconv.Itoa(share.Tasks)); err != nil {
			return fmt.Errorf("cannot limit the processes of a control group: %w", err)
		}
	}
	if g.cpu != "" {
		if err := write(g.cpu, "cpu.cfs_period_us", strconv.FormatInt(period.Microseconds(), 10)); err != nil {
			return fmt.Errorf("cannot limit the processors of a control group: %w", err)
		}
	}
	if g.unified != "" {
		if g.born, err = os.OpenFile(g.unified, os.O_RDONLY|syscall.O_DIRECTORY, 0); err != nil {
			return fmt.Errorf("cannot open a control group: %w", err)
		}
	}
	return g.SetCPU(share.CPUs)
}

// SetCPU changes how many processors the programs get; 0: as many as there are.
func (g *Group) SetCPU(cpus float64) error {
	quota := "-1"
	if cpus > 0 {
		quota = strconv.FormatInt(max(int64(cpus*float64(period.Microseconds())), 1000), 10) // the kernel gives no less
	}
	var err error
	switch {
	case g.root.cpu2:
		if cpus <= 0 {
			quota = "max"
		}
		err = write(g.unified, "cpu.max", quota+" "+strconv.FormatInt(period.Microseconds(), 10))
	case g.cpu != "":
		err = write(g.cpu, "cpu.cfs_quota_us", quota)
	}
	if err != nil {
		return fmt.Errorf("cannot limit the processors of a control group: %w", err)
	}
	return nil
}

// Descriptor is the open folder of the group, for a program to be born in; 0: there is none.
func (g *Group) Descriptor() int {
	if g.born == nil {
		return 0
	}
	return int(g.born.Fd())
}

// Add takes a program into the group, with what it has forked, and has to be called for one that was just started.
// Where it could be born in the group of version 2, the other hierarchies follow.
func (g *Group) Add(pid int) error {
	pids := []string{strconv.Itoa(pid)}
	for range 10 { // who forks faster than this is caught by the limit of version 2 or by being killed with the group
		for _, p := range pids {
			for _, dir := range []string{g.memory, g.cpu, g.tasks} {
				if dir == "" {
					continue
				}
				if err := write(dir, "cgroup.procs", p); err != nil && !gone(err) {
					return fmt.Errorf("cannot take program %s into a control group: %w", p, err)
				}
			}
		}
		if pids = g.missing(); len(pids) == 0 {
			return nil
		}
	}
	return nil
}

// missing are the programs that were born in the group of version 2 and are not in the others yet.
func (g *Group) missing() (all []string) {
	if g.unified == "" || g.memory+g.cpu+g.tasks == "" {
		return nil
	}
	have := words(filepath.Join(g.unified, "cgroup.procs"))
	for _, dir := range []string{g.memory, g.cpu, g.tasks} {
		if dir == "" {
			continue
		}
		in := words(filepath.Join(dir, "cgroup.procs"))
		for p := range have {
			if !in[p] {
				all = append(all, p)
			}
		}
	}
	return all
}

// Peak is the most memory that the group has used so far, in bytes, as its limit counts it; 0: unknown.
func (g *Group) Peak() int64 {
	if g.peak == nil {
		return 0
	}
	var buf [24]byte
	n, _ := g.peak.ReadAt(buf[:], 0) // it ends before the buffer does
	v, err := strconv.ParseInt(string(bytes.TrimSpace(buf[:n])), 10, 64)
	if err != nil {
		return 0
	}
	return v
}

// OutOfMemory tells whether a program of the group was killed because the group wanted more than its memory.
func (g *Group) OutOfMemory() bool {
	file := ""
	switch {
	case g.root.memory2:
		file = filepath.Join(g.unified, "memory.events")
	case g.memory != "":
		file = filepath.Join(g.memory, "memory.oom_control")
	default:
		return false
	}
	text, _ := os.ReadFile(file) // a group that is gone has killed nobody
	for _, line := range strings.Split(string(text), "\n") {
		if n, ok := strings.CutPrefix(line, "oom_kill "); ok {
			return strings.TrimSpace(n) != "0"
		}
	}
	return false
}

// Freeze halts the programs, or lets them go on; false: it cannot.
func (g *Group) Freeze(on bool) bool {
	value := "0"
	if on {
		value = "1"
	}
	return g.unified != "" && g.root.what.Freeze && write(g.unified, "cgroup.freeze", value) == nil
}

// Kill kills all programs of the group; false: it may have missed some.
func (g *Group) Kill() bool {
	if g.unified != "" && g.root.what.Kill {
		return write(g.unified, "cgroup.kill", "1") == nil
	}
	if g.memory != "" {
		return killAll(g.memory)
	}
	return false
}

// Close kills who is left and removes the group.
func (g *Group) Close() {
	for _, f := range []*os.File{g.born, g.peak} {
		if f != nil {
			_ = f.Close() // it was only read
		}
	}
	for _, dir := range []string{g.unified, g.memory, g.cpu, g.tasks} {
		if dir == "" {
			continue
		}
		killAll(dir)
		if os.Remove(dir) != nil {
			g.root.mu.Lock()
			g.root.left = append(g.root.left, dir)
			g.root.mu.Unlock()
		}
	}
}

// retry removes groups whose last programs have ended meanwhile.
func (r *Root) retry() {
	r.mu.Lock()
	defer r.mu.Unlock()
	kept := r.left[:0]
	for _, dir := range r.left {
		if err := os.Remove(dir); err != nil && !os.IsNotExist(err) {
			kept = append(kept, dir)
		}
	}
	r.left = kept
}

// killAll kills the members of a group until there is none; false: some are left, or could not be killed.
func killAll(dir string) bool {
	if write(dir, "cgroup.kill", "1") == nil {
		return true
	}
	for range 20 { // who forks while it is killed is found the next time
		pids := words(filepath.Join(dir, "cgroup.procs"))
		if len(pids) == 0 {
			return true
		}
		for p := range pids {
			if n, err := strconv.Atoi(p); err == nil && n > 0 {
				_ = syscall.Kill(n, syscall.SIGKILL) // it may be gone
			}
		}
	}
	return false
}

func gone(err error) bool {
	return err != nil && (os.IsNotExist(err) || errors.Is(err, syscall.ESRCH))
}

// write writes to a file that is there: a control group's files are not made by us.
func write(dir, name, value string) error {
	f, err := os.OpenFile(filepath.Join(dir, name), os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	_, err = f.WriteString(value)
	if e := f.Close(); err == nil {
		err = e
	}
	return err
}
