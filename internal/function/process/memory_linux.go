package process

import (
	"bufio"
	"bytes"
	"fmt"
	"os"
	"strconv"
	"strings"
)

// Memory is the most memory that the program has had, and those below it that still run, each at its own peak, in
// bytes; 0: unknown.
func (c *Child) Memory() int64 { return memory(c.Pid, 0) }

// depth is how many generations are looked at.
const depth = 8

func memory(pid, generation int) int64 {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0
	}
	var sum int64
	for s := bufio.NewScanner(bytes.NewReader(text)); s.Scan(); {
		if rest, ok := strings.CutPrefix(s.Text(), "VmHWM:"); ok {
			// the kernel writes a number
			kb, _ := strconv.ParseInt(strings.TrimSpace(strings.TrimSuffix(rest, "kB")), 10, 64)
			sum = kb << 10
			break
		}
	}
	if generation == depth {
		return sum
	}
	children, _ := os.ReadFile(fmt.Sprintf("/proc/%d/task/%d/children", pid, pid)) // the kernel may not have this file
	for _, child := range strings.Fields(string(children)) {
		if n, err := strconv.Atoi(child); err == nil {
			sum += memory(n, generation+1)
		}
	}
	return sum
}
