//go:build amd64 || arm64

package isolate

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// Ways are how rooms are made on this machine. Its methods are for one thread, which has to live as long as the rooms:
// what they start ends with it.
type Ways struct {
	Abilities
	at      string // an empty folder
	mapped  bool   // a namespace of users is needed: this process may not mount
	ruleset int    // of Landlock; 0: none
	ended   []int  // processes of ours that have ended, or will at once
}

// Room is where the programs of an instance are.
type Room struct {
	// Opt tells whether layers are seen as /opt.
	Opt bool
	// Pid is the process that holds the room.
	Pid int

	ways  *Ways
	plan  Plan
	made  []identity // of what it was made of, with a Memo
	pidfd int
	hold  *os.File // when it closes, the room ends
}

// namespaces are what a room has of its own.
const namespaces = unix.CLONE_NEWNS | unix.CLONE_NEWPID | unix.CLONE_NEWIPC | unix.CLONE_NEWUTS

func ids(inside, outside int) string { return fmt.Sprintf("%d %d 1\n", inside, outside) }

// keeper is the program that holds a room: it waits for the end of its input, and handles no signal.
const keeper = "/bin/cat"

// Open makes a room. An error wraps ErrNoRoom.
func (w *Ways) Open(p Plan) (*Room, error) {
	if !w.Room {
		return nil, fmt.Errorf("%w: %s", ErrNoRoom, &w.Abilities)
	}
	known := p.Memo != nil && p.Memo.files != nil
	r, err := w.open(&p)
	if err != nil && known { // what was found out may not be true any more
		p.Memo.files = nil
		return w.open(&p)
	}
	return r, err
}

func (w *Ways) open(p *Plan) (*Room, error) {
	in, out, err := os.Pipe()
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrNoRoom, err)
	}
	defer in.Close()
	null, err := os.OpenFile(os.DevNull, os.O_WRONLY, 0)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("%w: %w", ErrNoRoom, err), out.Close())
	}
	defer null.Close()
	s := &script{}
	flags := uint64(namespaces)
	if w.mapped {
		flags |= unix.CLONE_NEWUSER
		s.ownIDs(os.Geteuid(), os.Getegid())
	}
	files, made := w.files(p)
	s.add(files)
	if p.Alone {
		flags |= unix.CLONE_NEWNET
		s.loopback()
	}
	s.call("have a session of its own", unix.SYS_SETSID)
	c := w.confinement(p)
	c.in, c.out = int(in.Fd()), int(null.Fd())
	s.confine(c)
	const ignore = 1 // SIG_IGN, the first of the structure: the kernel buries whom nobody waits for
	s.call("wait for nobody", unix.SYS_RT_SIGACTION, uintptr(unix.SIGCHLD), point(s, [8]uint64{ignore}), 0, 8)
	s.call("start "+keeper, unix.SYS_EXECVE, s.text(keeper), s.list([]string{"cat"}), s.list(nil))
	pid, err := s.clone(flags, 0)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("%w: %w", ErrNoRoom, err), out.Close())
	}
	r := &Room{ways: w, plan: *p, made: made, Pid: pid, hold: out, Opt: len(p.Layers) > 0 &&
		s.missed&(1<<missedLayers) == 0}
	if r.pidfd, err = unix.PidfdOpen(pid, 0); err != nil {
		_ = out.Close()
		_ = unix.Kill(pid, unix.SIGKILL)
		reap(pid)
		return nil, fmt.Errorf("%w: %w", ErrNoRoom, err)
	}
	return r, nil
}

func (w *Ways) confinement(p *Plan) *confinement {
	c := &confinement{caps: w.Room || os.Geteuid() == 0, filter: w.Filter, tasks: p.Tasks}
	if !w.mapped {
		c.user = p.User
	}
	if w.Scoped {
		c.scope = w.ruleset
	}
	return c
}

// Bare is no room: its programs see what this process sees, but gain no privilege and have their system calls filtered.
// nil: not even that.
func (w *Ways) Bare() *Room {
	if !w.Filter {
		return nil
	}
	return &Room{ways: w, pidfd: -1}
}

// Start starts a program in the room, and returns its number on the machine.
func (r *Room) Start(p Program) (int, error) {
	in, out, err := copies(p.In, p.Out)
	if err != nil {
		return 0, err
	}
	defer unix.Close(in)
	defer unix.Close(out)
	s := &script{}
	if r.pidfd >= 0 {
		r.enter(s)
	}
	s.call("have a session of its own", unix.SYS_SETSID)
	s.call("go to "+p.Dir, unix.SYS_CHDIR, s.text(p.Dir))
	c := r.ways.confinement(&r.plan)
	c.in, c.out = in, out
	s.confine(c)
	s.call("", unix.SYS_EXECVE, s.text(p.Path), s.list(p.Args), s.list(p.Env))
	pid, err := s.clone(0, p.Cgroup)
	if err != nil || r.pidfd < 0 {
		return pid, err
	}
	r.ways.bury(pid)
	return int(s.pid), nil
}

// bury reaps a process that ends at once, without waiting for it, and those that have ended meanwhile.
func (w *Ways) bury(pid int) {
	w.ended = slices.DeleteFunc(append(w.ended, pid), func(pid int) bool {
		n, err := unix.Wait4(pid, nil, unix.WALL|unix.WNOHANG, nil)
		return n != 0 && err != unix.EINTR
	})
}

// enter has a child enter the room: what it starts then is in it.
func (r *Room) enter(s *script) {
	flags := uintptr(namespaces)
	if r.plan.Alone {
		flags |= unix.CLONE_NEWNET
	}
	if r.ways.mapped {
		flags |= unix.CLONE_NEWUSER
	}
	s.call("enter its room", unix.SYS_SETNS, uintptr(r.pidfd), flags)
	s.steps = append(s.steps, step{again: true, what: "start a process"})
}

// copies are files by numbers that are not those of a program's own.
func copies(in, out int) (int, int, error) {
	const from = 10
	in, err := unix.FcntlInt(uintptr(in), unix.F_DUPFD_CLOEXEC, from)
	if err != nil {
		return 0, 0, err
	}
	if out, err = unix.FcntlInt(uintptr(out), unix.F_DUPFD_CLOEXEC, from); err != nil {
		_ = unix.Close(in)
		return 0, 0, err
	}
	return in, out, nil
}

// Close ends the room, and kills who is left in it. It may be called on any thread, once.
func (r *Room) Close() {
	if r == nil || r.pidfd < 0 {
		return
	}
	_ = r.hold.Close() // it was only held
	_ = unix.PidfdSendSignal(r.pidfd, unix.SIGKILL, nil, 0)
	reap(r.Pid)
	_ = unix.Close(r.pidfd)
}

// Probe finds out what this machine permits, by doing it. at is an empty folder that is the caller's alone.
func Probe(at string) *Ways {
	w := &Ways{at: at, mapped: os.Geteuid() != 0}
	w.Abilities = Abilities{Room: true, Proc: true, Filter: true}
	w.ruleset = scope()
	w.Scoped = w.ruleset > 0
	plan := Plan{TempBytes: 1 << 20, User: probedUser}
	err := w.try(plan)
	if err != nil && !w.mapped { // root that may not mount, as in a container, is as any user
		w.mapped = true
		if e := w.try(plan); e == nil {
			err = nil
		} else {
			w.mapped = false
		}
	}
	if err != nil { // where /proc is partly covered, no other may be mounted
		w.Proc = false
		if e := w.try(plan); e == nil {
			w.Missing = append(w.Missing, "a /proc of its own ("+cause(err)+")")
			err = nil
		}
	}
	if err != nil {
		w.Filter = false
		if e := w.try(plan); e == nil {
			w.Missing = append(w.Missing, "a filter of system calls ("+cause(err)+")")
			err = nil
		} else {
			w.Filter = true
		}
	}
	w.OwnUser = !w.mapped
	if err == nil {
		plan.Alone = true
		w.Alone = w.try(plan) == nil
	}
	if err != nil {
		w.Abilities = Abilities{Missing: []string{"a room of its own: user, files, processes, shared memory (" +
			cause(err) + ")"}, Filter: true}
		if e := w.runs(w.Bare()); e != nil {
			w.Filter = false
			w.Missing = append(w.Missing, "a filter of system calls ("+e.Error()+")")
		}
	}
	return w
}

const probedUser = 1 << 30

// cause is an error without what is said in another way.
func cause(err error) string {
	return strings.TrimPrefix(err.Error(), ErrNoRoom.Error()+": ")
}

func (w *Ways) try(p Plan) error {
	r, err := w.Open(p)
	if err != nil {
		return err
	}
	defer r.Close()
	return w.runs(r)
}

// runs tells whether a program can be started in a room.
func (w *Ways) runs(r *Room) error {
	null, err := os.Open(os.DevNull)
	if err != nil {
		return err
	}
	defer null.Close()
	pid, err := r.Start(Program{Path: "/bin/sh", Args: []string{"sh", "-c", "exit 0"}, Dir: "/", In: int(null.Fd()),
		Out: int(null.Fd())})
	if err != nil {
		return err
	}
	var status unix.WaitStatus
	if _, err := unix.Wait4(pid, &status, unix.WALL, nil); err != nil {
		return err
	}
	if status.ExitStatus() != 0 {
		return errors.New("/bin/sh ends with " + strconv.Itoa(int(status)))
	}
	return nil
}

// scope is a Landlock ruleset that keeps sockets without a name in the file system, and signals, within the room; 0:
// the kernel has none (before Linux 6.12).
func scope() int {
	attr := unix.LandlockRulesetAttr{Scoped: unix.LANDLOCK_SCOPE_ABSTRACT_UNIX_SOCKET | unix.LANDLOCK_SCOPE_SIGNAL}
	fd, err := landlock(&attr)
	if err != nil {
		return 0
	}
	return fd
}
