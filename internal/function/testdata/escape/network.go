//go:build linux

package main

import (
	"fmt"
	"net"
	"net/http"
	"strings"
	"syscall"
	"time"
)

// network are the ways to others over the network. They send nothing but to the test.
func init() {
	ways["network: a door"] = func(t *target) string { return dials("tcp", t.Door) }
	ways["network: another's Runtime API"] = asks
	ways["network: a route out"] = routes
	ways["network: interfaces"] = interfaces
	ways["bomb: processes"] = bombProcesses
}

// asks asks another instance's endpoint for an invocation, as its runtime does.
func asks(t *target) string {
	c := http.Client{Timeout: 2 * time.Second}
	r, err := c.Get("http://" + t.Runtime + "/2018-06-01/runtime/nothing")
	if err != nil {
		return ""
	}
	_ = r.Body.Close()
	return "is answered " + r.Status
}

// routes tells whether there is a way to an address that nobody has. A datagram's socket that is connected sends
// nothing.
func routes(*target) string {
	c, err := net.Dial("udp", "192.0.2.1:9")
	if err == nil {
		_ = c.Close()
	}
	return succeeded(err, "there is one")
}

func interfaces(*target) string {
	all, err := net.Interfaces()
	var others []string
	for _, i := range all {
		if i.Flags&net.FlagLoopback == 0 {
			others = append(others, i.Name)
		}
	}
	return succeeded(errors(err, len(others) == 0), "sees %s", strings.Join(others, ", "))
}

// tooManyProcesses is beyond what an instance may have.
const tooManyProcesses = 1200

func bombProcesses(*target) string {
	var pids []int
	defer func() {
		for _, pid := range pids {
			_ = syscall.Kill(pid, syscall.SIGKILL)
			_, _ = syscall.Wait4(pid, nil, 0, nil)
		}
	}()
	for range tooManyProcesses {
		pid, err := syscall.ForkExec("/bin/sleep", []string{"sleep", "60"}, &syscall.ProcAttr{})
		if err != nil {
			return ""
		}
		pids = append(pids, pid)
	}
	return fmt.Sprintf("has started %d", len(pids))
}
