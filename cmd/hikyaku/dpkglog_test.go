package main

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"time"
)

// madeUpLog writes a package log as dpkg would. It is the same every time.
func madeUpLog(lines int) []byte {
	names := []string{"adduser", "bash", "coreutils", "curl", "git", "libc6", "libssl3", "nginx", "openssh-server",
		"perl-base", "python3.11", "tzdata", "zlib1g"}
	r := rand.New(rand.NewPCG(1, 2026))
	at := time.Date(2026, 1, 5, 9, 0, 0, 0, time.UTC)
	var b bytes.Buffer
	line := func(format string, args ...any) {
		fmt.Fprintf(&b, "%s %s\n", at.Format(time.DateTime), fmt.Sprintf(format, args...))
		lines--
		if r.IntN(3) == 0 {
			at = at.Add(time.Second)
		}
	}
	line("startup archives unpack")
	for lines > 0 {
		pkg := names[r.IntN(len(names))] + ":amd64"
		was := fmt.Sprintf("%d.%d-%d", r.IntN(9), r.IntN(40), r.IntN(5)+1)
		is := was + "+deb12u1"
		if r.IntN(2) == 0 {
			line("install %s <none> %s", pkg, is)
		} else {
			line("upgrade %s %s %s", pkg, was, is)
		}
		for _, state := range []string{"half-installed", "unpacked", "half-configured", "installed"} {
			if lines <= 0 {
				break
			}
			if state == "half-configured" {
				line("configure %s %s <none>", pkg, is)
			}
			line("status %s %s %s", state, pkg, is)
		}
	}
	return b.Bytes()
}
