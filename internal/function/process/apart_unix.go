//go:build unix

package process

import "syscall"

// apart puts the guard into a session of its own: what ends our group does not end it.
func apart() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setsid: true} }
