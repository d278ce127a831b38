//go:build !linux

package javascript

import "os/exec"

func confine() error { return ErrUnsupported }

const self = ""

func apart(*exec.Cmd) {}

const supported = false
