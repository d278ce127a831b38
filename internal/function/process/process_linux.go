package process

import (
	"errors"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

func attributes(p *Program) *syscall.SysProcAttr {
	a := &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	if p.Cgroup > 0 {
		a.UseCgroupFD, a.CgroupFD = true, p.Cgroup
	}
	return a
}

// untilExit waits until a program has ended, and leaves it to be waited for. It holds no thread where the kernel can
// poll for it.
func untilExit(p *os.Process) {
	fd, err := unix.PidfdOpen(p.Pid, unix.PIDFD_NONBLOCK)
	if err != nil {
		_ = ignoringEINTR(func() error { return unix.Waitid(unix.P_PID, p.Pid, nil, unix.WEXITED|unix.WNOWAIT, nil) })
		return
	}
	f := os.NewFile(uintptr(fd), "pidfd")
	defer f.Close()
	raw, err := f.SyscallConn()
	if err == nil {
		err = raw.Read(func(uintptr) bool {
			var info unix.Siginfo
			err := ignoringEINTR(func() error {
				return unix.Waitid(unix.P_PIDFD, fd, &info,
					unix.WEXITED|unix.WNOWAIT|unix.WNOHANG, nil)
			})
			return err != nil || info.Signo != 0
		})
	}
	if err != nil {
		_ = ignoringEINTR(func() error { return unix.Waitid(unix.P_PID, p.Pid, nil, unix.WEXITED|unix.WNOWAIT, nil) })
	}
}

func ignoringEINTR(f func() error) error {
	for {
		if err := f(); !errors.Is(err, unix.EINTR) {
			return err
		}
	}
}

// await waits for the program's end. What is left of its group is killed while its number cannot be anybody else's.
func (c *Child) await() (*os.ProcessState, error) {
	untilExit(c.process)
	c.killGroup()
	return c.process.Wait()
}

func (c *Child) killGroup() { _ = syscall.Kill(-c.Pid, syscall.SIGKILL) } // there may be nobody any more

// Terminate asks the program to end.
func (c *Child) Terminate() { c.signal(syscall.SIGTERM) }

// Stop halts the group, and Continue lets it go on.
func (c *Child) Stop() { c.signal(syscall.SIGSTOP) }

// Continue ends what Stop began.
func (c *Child) Continue() { c.signal(syscall.SIGCONT) }

func (c *Child) signal(s syscall.Signal) {
	select {
	case <-c.done: // its number may be another's by now
	default:
		_ = syscall.Kill(-c.Pid, s) // there may be nobody any more
	}
}
