//go:build unix

package main

import (
	"os/exec"
	"syscall"
)

// apart gives a process a session of its own: neither Ctrl-C nor the end of the terminal reaches it.
func apart(cmd *exec.Cmd) error {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	return nil
}

// keepReady keeps the file of tellReady from the processes that this one starts: one that stays would keep who waits
// from seeing that this one has ended.
func keepReady() { syscall.CloseOnExec(readyFile) }

// terminate asks a process to stop.
func terminate(pid int) error { return syscall.Kill(pid, syscall.SIGTERM) }
