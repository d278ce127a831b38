//go:build !linux

package process

import (
	"os"
	"syscall"
)

func attributes(*Program) *syscall.SysProcAttr { return nil }

// await waits for the program's end.
func (c *Child) await() (*os.ProcessState, error) { return c.process.Wait() }

func (c *Child) killGroup() { _ = c.process.Kill() } // it may have ended

// Terminate ends the program: here there is no way to ask.
func (c *Child) Terminate() { c.Kill() }

// Stop does nothing here.
func (c *Child) Stop() {}

// Continue does nothing here.
func (c *Child) Continue() {}

// Memory is unknown here.
func (c *Child) Memory() int64 { return 0 }
