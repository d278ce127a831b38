package function

import (
	"errors"
	"fmt"
	"strings"
	"syscall"
	"testing"
)

func TestAMachineWithoutRoomSaysWhatMakesSome(t *testing.T) {
	for err, says := range map[error]string{syscall.EMFILE: "ulimit -n", syscall.ENFILE: "ulimit -n",
		syscall.ENOSPC: "room on that disk", syscall.EAGAIN: "concurrency", syscall.ENOMEM: "concurrency"} {
		if got := remedy(fmt.Errorf("cannot make a pipe: %w", err)); !strings.HasPrefix(got, "; ") ||
			!strings.Contains(got, says) {
			t.Errorf("%v: %q", err, got)
		}
	}
	if got := remedy(errors.New("exec format error")); got != "" {
		t.Errorf("%q", got)
	}
}
