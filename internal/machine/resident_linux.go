package machine

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
)

// ResidentBytes is the memory of this process that is in use by the machine's count; 0 when it cannot be told.
func ResidentBytes() int64 { return ResidentOf(os.Getpid()) }

// ResidentOf is that of another process.
func ResidentOf(pid int) int64 {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/statm", pid))
	if err != nil {
		return 0
	}
	fields := bytes.Fields(text)
	if len(fields) < 2 {
		return 0
	}
	pages, err := strconv.ParseInt(string(fields[1]), 10, 64)
	if err != nil {
		return 0
	}
	return pages * int64(os.Getpagesize())
}

// BytesRead is what this process has read so far, from files and elsewhere; 0 when it cannot be told.
func BytesRead() int64 {
	text, err := os.ReadFile("/proc/self/io")
	if err != nil {
		return 0
	}
	for line := range bytes.Lines(text) {
		if value, ok := bytes.CutPrefix(line, []byte("rchar: ")); ok {
			n, err := strconv.ParseInt(string(bytes.TrimSpace(value)), 10, 64)
			if err != nil {
				return 0
			}
			return n
		}
	}
	return 0
}
