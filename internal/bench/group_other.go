//go:build !unix

package bench

import "os/exec"

// ownGroup does nothing here: the command alone is killed when its context ends.
func ownGroup(*exec.Cmd) {}
