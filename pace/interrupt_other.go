//go:build !windows && !unix

package pace

import (
	"os"
	"os/signal"
)

// deaf makes this process take no notice of Ctrl-C.
func deaf() { signal.Ignore(os.Interrupt) }
