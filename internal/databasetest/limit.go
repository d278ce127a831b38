//go:build linux

package databasetest

import (
	"bytes"
	"fmt"
	"os/exec"
	"strconv"
	"syscall"
)

// LimitFiles lets no file of the server grow beyond so many bytes, as if there were no more room; 0 lifts that. It
// reaches the processes that there are and those that they start.
func (s *Server) LimitFiles(size uint64) error {
	if s.running == nil {
		return fmt.Errorf("%s is down", s.name)
	}
	limit := "unlimited"
	if size > 0 {
		limit = strconv.FormatUint(size, 10)
	}
	pid := s.running.Process.Pid
	for _, pid := range append([]int{pid}, children(pid)...) {
		cmd := exec.Command("prlimit", "--pid", strconv.Itoa(pid), "--fsize="+limit+":unlimited")
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: s.owner} // it may do that to itself
		if out, err := cmd.CombinedOutput(); err != nil && !bytes.Contains(out, []byte("No such process")) {
			return fmt.Errorf("limit the files of %s: %w: %s", s.name, err, out)
		}
	}
	return nil
}
