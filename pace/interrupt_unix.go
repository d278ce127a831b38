//go:build unix

package pace

import (
	"os"
	"os/signal"
	"syscall"
)

// deaf makes this process take no notice of Ctrl-C, nor of Ctrl-Z: a player that was halted would hold what it holds
// until somebody thinks of it.
func deaf() { signal.Ignore(os.Interrupt, syscall.SIGTSTP) }
