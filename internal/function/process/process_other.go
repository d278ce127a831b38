//go:build !linux

package process

import (
	"errors"
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

// mounting is nothing here.
type mounting struct{ why string }

func openMounts() mounting { return mounting{why: "namespaces of mounts are a part of Linux"} }
func (*mounting) close()   {}

// Space would be a view; there is none on this system.
type Space struct{ Seen }

// Close does nothing.
func (*Space) Close() {}

// Mounts tells why programs cannot be given a view of their own.
func (s *Starter) Mounts() string { return s.mounting.why }

// Space makes no view, and says so.
func (s *Starter) Space(View) (*Space, error) { return nil, errors.New(s.mounting.why) }

func (s *Starter) start(p *Program, files []*os.File) (*os.Process, error) {
	return os.StartProcess(p.Path, p.Args, &os.ProcAttr{Dir: p.Dir, Env: p.Env, Files: files, Sys: attributes(p)})
}
