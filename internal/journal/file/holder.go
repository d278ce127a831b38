package file

import (
	"io"
	"os"
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

// Hold makes this process the Holder of a folder, which need not be that of a journal and is made when it is missing,
// until hold is closed or the process ends. journal.ErrLocked, with the holder's number in the text, when another one
// holds it.
func Hold(dir string) (hold io.Closer, err error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	return lockFile(filepath.Join(dir, lockName))
}
