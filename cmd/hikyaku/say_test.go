package main

import (
	"fmt"
	"io/fs"
	"net"
	"os"
	"strings"
	"syscall"
	"testing"
)

func TestOnlyWhoeverReadTheOutputIsNotToldThatAPipeBroke(t *testing.T) {
	broken := &os.SyscallError{Syscall: "write", Err: syscall.EPIPE}
	for name, c := range map[string]struct {
		err  error
		told bool
	}{
		"our output":            {&fs.PathError{Op: "write", Path: os.Stdout.Name(), Err: syscall.EPIPE}, false},
		"a server broke it off": {&net.OpError{Op: "write", Net: "tcp", Err: broken}, true},
		"a process's input":     {&fs.PathError{Op: "write", Path: "|1", Err: syscall.EPIPE}, true},
	} {
		var said strings.Builder
		if code := report(&said, fmt.Errorf("bench: %w", c.err)); code != exitFailed || (said.Len() > 0) != c.told {
			t.Errorf("%s: status %d, said %q", name, code, &said)
		}
	}
}
