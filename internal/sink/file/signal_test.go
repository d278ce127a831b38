//go:build unix

package file

import (
	"os/signal"
	"syscall"
	"testing"
)

// ignoreFileSizeSignal lets a write beyond the limit fail instead of ending the process.
func ignoreFileSizeSignal(t *testing.T) {
	signal.Ignore(syscall.SIGXFSZ)
	t.Cleanup(func() { signal.Reset(syscall.SIGXFSZ) })
}
