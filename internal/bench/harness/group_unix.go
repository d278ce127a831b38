//go:build unix

package harness

import (
	"os/exec"
	"syscall"
)

// OwnGroup has a command, and what it starts, killed together when its context ends.
func OwnGroup(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
}
