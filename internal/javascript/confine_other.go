//go:build !linux

package javascript

import (
	"os/exec"
	"time"
)

func confine() error { return ErrUnsupported }

func cpuTime() time.Duration { return 0 }

const self = ""

func apart(*exec.Cmd) {}

const supported = false
