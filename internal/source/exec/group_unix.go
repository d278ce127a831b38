//go:build unix

package exec

import (
	osexec "os/exec"
	"syscall"
)

// group gives a command a process group of its own.
func group(cmd *osexec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }

// ask asks the group to end.
func ask(cmd *osexec.Cmd) { _ = syscall.Kill(-cmd.Process.Pid, syscall.SIGTERM) } // it may have ended

// end ends what there still is of the group.
func end(cmd *osexec.Cmd) { _ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) } // it may have ended
