//go:build amd64 || arm64

package isolate

import (
	"math"
	"unsafe"

	"golang.org/x/sys/unix"
)

// What a program may have, whatever the machine's limits are.
const (
	maxFiles      = 1024 // open at once, as the provider has it
	lastCap       = 63
	closeFrom     = 3
	capVersion3   = 0x20080522
	insideUser    = 993 // in a namespace of users of its own: whom the provider runs functions as
	insideGroup   = 990
	stdinCopy     = 0
	stdoutCopy    = 1
	stderrCopy    = 2
	setModeFilter = 1 // SECCOMP_SET_MODE_FILTER
)

// confinement is what is taken from a program before it begins.
type confinement struct {
	user    int // 0: it stays whom it is
	tasks   int // 0: not bounded here
	caps    bool
	scope   int // a Landlock ruleset; 0: none
	filter  bool
	in, out int
}

// confine adds to a script what takes every privilege from a child. What comes after it can only become a program.
func (s *script) confine(c *confinement) {
	for _, d := range []struct{ from, to int }{{c.in, stdinCopy}, {c.out, stdoutCopy}, {c.out, stderrCopy}} {
		s.call("hand over its files", unix.SYS_DUP3, uintptr(d.from), uintptr(d.to), 0)
	}
	limit := func(what int, n uint64) {
		s.call("limit it", unix.SYS_PRLIMIT64, 0, uintptr(what), point(s, unix.Rlimit{Cur: n, Max: n}), 0)
	}
	limit(unix.RLIMIT_NOFILE, maxFiles)
	limit(unix.RLIMIT_CORE, 0)
	if c.tasks > 0 {
		limit(unix.RLIMIT_NPROC, uint64(c.tasks))
	}
	if c.caps {
		for n := range uintptr(lastCap + 1) {
			// The kernel has fewer; and who may not drop them has none, and gains none either.
			s.call("drop what it could gain", unix.SYS_PRCTL, unix.PR_CAPBSET_DROP, n).may = [3]unix.Errno{unix.EINVAL,
				unix.EPERM}
		}
	}
	if c.user > 0 {
		id := uintptr(c.user)
		s.call("leave its groups", unix.SYS_SETGROUPS, 0, 0)
		s.call("be another group", unix.SYS_SETRESGID, id, id, id)
		s.call("be another user", unix.SYS_SETRESUID, id, id, id)
	}
	// In a namespace of users the next program has none, as it is not root there and could gain none above. Until it
	// has begun, its memory is ours, and those that run in the room are the same user: what it has and they do not is
	// what keeps them from it.
	if c.caps && c.user > 0 {
		head, data := point(s, unix.CapUserHeader{Version: capVersion3}), point(s, [2]unix.CapUserData{})
		s.call("drop its capabilities", unix.SYS_CAPSET, head, data)
	}
	s.call("gain no privileges", unix.SYS_PRCTL, unix.PR_SET_NO_NEW_PRIVS, 1)
	if c.scope > 0 {
		s.call("close sockets without a name", unix.SYS_LANDLOCK_RESTRICT_SELF, uintptr(c.scope), 0)
	}
	s.call("close what it was not given", unix.SYS_CLOSE_RANGE, closeFrom, math.MaxUint32, 0)
	s.call("end with its owner", unix.SYS_PRCTL, unix.PR_SET_PDEATHSIG, uintptr(unix.SIGKILL))
	if c.filter {
		program := filter()
		s.hold = append(s.hold, program)
		s.call("filter its system calls", unix.SYS_SECCOMP, setModeFilter, 0,
			point(s, unix.SockFprog{Len: uint16(len(program)),
				Filter: (*unix.SockFilter)(unsafe.Pointer(&program[0]))}))
	}
}

// ownIDs adds to a script what makes a child somebody in a namespace of users of its own.
func (s *script) ownIDs(uid, gid int) {
	for _, f := range []struct{ path, text string }{
		{"/proc/self/setgroups", "deny"}, {"/proc/self/uid_map", ids(insideUser, uid)},
		{"/proc/self/gid_map", ids(insideGroup, gid)},
	} {
		const dir = ^uintptr(99) // AT_FDCWD
		s.call("open "+f.path, unix.SYS_OPENAT, dir, s.text(f.path), unix.O_WRONLY|unix.O_CLOEXEC).keep = true
		s.call("write "+f.path, unix.SYS_WRITE, 0, s.text(f.text), uintptr(len(f.text))).saved = 1
	}
}
