//go:build !unix

package exec

import osexec "os/exec"

// group would give a command a process group of its own: here it is ended alone.
func group(*osexec.Cmd) {}

func ask(cmd *osexec.Cmd) { _ = cmd.Process.Kill() } // it may have ended

func end(cmd *osexec.Cmd) { _ = cmd.Process.Kill() } // it may have ended
