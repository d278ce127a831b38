package file

import (
	"path/filepath"
	"strconv"
	"strings"
)

// Holder is the process that has the journal in a folder open. held is false when none has, also where there is no such
// folder; pid is 0 when the process is not known.
func Holder(dir string) (pid int, held bool, err error) {
	text, err := lockHolder(filepath.Join(dir, lockName))
	if err != nil || text == "" {
		return 0, false, err
	}
	pid, _ = strconv.Atoi(strings.TrimSpace(strings.TrimPrefix(text, "process ")))
	return pid, true, nil
}
