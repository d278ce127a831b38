//go:build amd64 || arm64

package isolate

import (
	"fmt"
	"runtime"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// step is one system call that a child makes before it becomes another program. Its texts and structures are kept by
// the script.
type step struct {
	nr    uintptr
	args  [6]uintptr
	saved uint8            // 1 to 6: that argument is what the last call that is kept has returned
	keep  bool             // what it returns is kept
	may   [3]syscall.Errno // errors that are none
	soft  uint8            // 1 or more: if it fails, that bit of the script's missed is set, and the next step follows
	again bool             // not a call: the child starts a child of its own, which goes on, and ends
	what  string           // for errors
}

// script is what a child does before it becomes another program: a list of system calls, made up before. A child that
// shares its memory with us, as one of vfork does, can do nothing else: no Go runtime is in it. It must not be used by
// two at once.
type script struct {
	steps []step
	hold  []any // what the steps point to

	// What children leave, who share our memory.
	kept   uintptr
	missed uint32
	pid    uintptr // of the child's child
	failed int     // step + 1
	errno  syscall.Errno
}

//go:linkname beforeFork syscall.runtime_BeforeFork
func beforeFork()

//go:linkname afterFork syscall.runtime_AfterFork
func afterFork()

//go:linkname afterForkInChild syscall.runtime_AfterForkInChild
func afterForkInChild()

//go:noescape
func vfork(trap, a1, a2 uintptr) (pid, errno uintptr)

// cloneArgs is the kernel's struct clone_args.
type cloneArgs struct {
	flags, pidfd, childTID, parentTID, exitSignal, stack, stackSize, tls, setTID, setTIDSize, cgroup uint64
}

func (s *script) call(what string, nr uintptr, args ...uintptr) *step {
	s.steps = append(s.steps, step{nr: nr, what: what})
	st := &s.steps[len(s.steps)-1]
	copy(st.args[:], args)
	return st
}

// add adds the steps of another script, which has to stay as it is.
func (s *script) add(other *script) {
	s.steps = append(s.steps, other.steps...)
	s.hold = append(s.hold, other)
}

// text is a string as the kernel reads it.
func (s *script) text(t string) uintptr {
	b := append([]byte(t), 0)
	s.hold = append(s.hold, b)
	return uintptr(unsafe.Pointer(&b[0]))
}

// list is a list of strings as execve reads it.
func (s *script) list(texts []string) uintptr {
	all := make([]uintptr, len(texts)+1)
	for i, t := range texts {
		all[i] = s.text(t)
	}
	s.hold = append(s.hold, all)
	return uintptr(unsafe.Pointer(&all[0]))
}

// point keeps a structure.
func point[T any](s *script, v T) uintptr {
	p := &v
	s.hold = append(s.hold, p)
	return uintptr(unsafe.Pointer(p))
}

// clone starts the child and returns its number when it has become another program, or has ended because it could not:
// then the error says at which step. It has to be called on a thread that lives as long as the child shall.
func (s *script) clone(flags uint64, cgroup int) (pid int, err error) {
	s.kept, s.missed, s.pid, s.failed, s.errno = 0, 0, 0, 0, 0
	flags |= unix.CLONE_VM | unix.CLONE_VFORK
	n, errno := uintptr(0), unix.ENOSYS
	if cgroup > 0 {
		a := &cloneArgs{flags: flags | unix.CLONE_INTO_CGROUP, exitSignal: uint64(unix.SIGCHLD), cgroup: uint64(cgroup)}
		n, errno = s.fork(unix.SYS_CLONE3, uintptr(unsafe.Pointer(a)), unsafe.Sizeof(*a))
		runtime.KeepAlive(a)
	}
	// as filters say whose engine cannot see the flags; who is not born in a group is taken into it
	if errno == unix.ENOSYS {
		n, errno = s.fork(unix.SYS_CLONE, uintptr(flags)|uintptr(unix.SIGCHLD), 0)
	}
	runtime.KeepAlive(s)
	if errno != 0 {
		return 0, fmt.Errorf("a process with namespaces of its own: %w", errno)
	}
	if s.failed != 0 {
		reap(int(n))
		if s.pid != 0 {
			reap(int(s.pid))
		}
		return 0, &stepError{s.steps[s.failed-1].what, s.errno}
	}
	return int(n), nil
}

func reap(pid int) {
	for {
		if _, err := unix.Wait4(pid, nil, unix.WALL, nil); err != unix.EINTR {
			return
		}
	}
}

// fork returns in the parent alone.
//
//go:norace
//go:noinline
func (s *script) fork(nr, a1, a2 uintptr) (pid uintptr, errno syscall.Errno) {
	beforeFork()
	pid, e := vfork(nr, a1, a2)
	if e != 0 || pid != 0 {
		afterFork() // only what was returned may be touched: the child has used the stack
		return pid, syscall.Errno(e)
	}
	s.run()
	return 0, 0
}

// run makes the calls, in the child. It does not return.
//
//go:norace
//go:nosplit
func (s *script) run() {
	afterForkInChild()
	for i := 0; i < len(s.steps); i++ {
		st := &s.steps[i]
		if st.again {
			pid, e := vfork(unix.SYS_CLONE, unix.CLONE_VM|unix.CLONE_VFORK|unix.CLONE_PARENT|uintptr(unix.SIGCHLD), 0)
			if pid != 0 && e == 0 {
				s.pid = pid
				exit(0)
			}
			if e != 0 {
				s.fail(i, syscall.Errno(e))
			}
			continue
		}
		if st.saved > 0 {
			st.args[(st.saved-1)%6] = s.kept
		}
		r, _, e := syscall.RawSyscall6(st.nr, st.args[0], st.args[1], st.args[2], st.args[3], st.args[4], st.args[5])
		switch {
		case e == 0:
			if st.keep {
				s.kept = r
			}
		case e == st.may[0], e == st.may[1], e == st.may[2]:
		case st.soft > 0:
			s.missed |= 1 << st.soft
		default:
			s.fail(i, e)
		}
	}
	exit(0)
}

//go:norace
//go:nosplit
func (s *script) fail(i int, e syscall.Errno) {
	s.failed, s.errno = i+1, e
	exit(127)
}

//go:norace
//go:nosplit
func exit(status uintptr) {
	for {
		_, _, _ = syscall.RawSyscall6(unix.SYS_EXIT_GROUP, status, 0, 0, 0, 0, 0)
	}
}

// stepError says what a child could not do.
type stepError struct {
	what  string
	errno syscall.Errno
}

func (e *stepError) Error() string {
	if e.what == "" {
		return e.errno.Error()
	}
	return e.what + ": " + e.errno.Error()
}
func (e *stepError) Unwrap() error { return e.errno }
