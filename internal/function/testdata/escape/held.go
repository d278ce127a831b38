//go:build linux

package main

import (
	"fmt"
	"net"

	"golang.org/x/sys/unix"
)

func init() {
	ways["bomb: memory of connections"] = bombConnections
	ways["bomb: memory of files without a name"] = bombNameless
}

// tooMuchHeld is beyond what the test gives as memory, in MB.
const tooMuchHeld = 600

// bombConnections writes into connections that nobody reads.
func bombConnections(*target) string {
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		return ""
	}
	defer l.Close()
	held, piece := 0, make([]byte, 256<<10)
	for held < tooMuchHeld<<20 {
		out, err := net.Dial("tcp4", l.Addr().String())
		if err != nil {
			return ""
		}
		defer out.Close()
		in, err := l.Accept()
		if err != nil {
			return ""
		}
		defer in.Close()
		raw, err := out.(*net.TCPConn).SyscallConn()
		if err != nil {
			return ""
		}
		_ = raw.Control(func(fd uintptr) {
			for n, err := 0, error(nil); err == nil; n, err = unix.Write(int(fd), piece) { // until it would wait
				held += n
			}
		})
	}
	return fmt.Sprintf("holds %d MB", held>>20)
}

func bombNameless(*target) string {
	fd, err := unix.MemfdCreate("x", 0)
	if err != nil {
		return ""
	}
	defer unix.Close(fd)
	piece := make([]byte, 1<<20)
	for range tooMuchHeld {
		if _, err := unix.Write(fd, piece); err != nil {
			return ""
		}
	}
	return fmt.Sprintf("holds %d MB", tooMuchHeld)
}
