//go:build !unix

package harness

import "os/exec"

// OwnGroup does nothing here: the command alone is killed when its context ends.
func OwnGroup(*exec.Cmd) {}
