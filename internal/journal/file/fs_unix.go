//go:build unix

package file

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/hikyaku/hikyaku/internal/journal"
)

func syncDir(dir string) error {
	f, err := os.Open(dir)
	if err != nil {
		return err
	}
	if err := f.Sync(); err != nil {
		f.Close()
		return err
	}
	return f.Close()
}

// lockFile holds a lock that ends with the process at the latest. The file stays: removing it would let two processes
// lock two files of the same name.
func lockFile(name string) (io.Closer, error) {
	f, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE, 0o644)
	if err != nil {
		return nil, err
	}
	if err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		defer f.Close()
		if !errors.Is(err, unix.EWOULDBLOCK) {
			return nil, fmt.Errorf("lock %s: %w", name, err)
		}
		return nil, fmt.Errorf("%w: folder %s, %s", journal.ErrLocked, filepath.Dir(name), processIn(f))
	}
	if err := f.Truncate(0); err != nil {
		f.Close()
		return nil, err
	}
	if _, err := f.WriteAt(fmt.Appendf(nil, "%d\n", os.Getpid()), 0); err != nil && !fullError(err) {
		f.Close()
		return nil, err
	}
	return f, nil
}

// processIn reads who holds a lock.
func processIn(f *os.File) string {
	if pid, err := io.ReadAll(io.LimitReader(f, 20)); err == nil && len(pid) > 0 {
		return "process " + strings.TrimSpace(string(pid))
	}
	return "unknown process"
}

// lockHolder says who holds a lock, without leaving a trace; empty when nobody does.
func lockHolder(name string) (string, error) {
	f, err := os.Open(name)
	if missing(err) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	defer f.Close() // gives a lock back, too
	err = unix.Flock(int(f.Fd()), unix.LOCK_SH|unix.LOCK_NB)
	if errors.Is(err, unix.EWOULDBLOCK) {
		return processIn(f), nil
	}
	return "", err
}

// fullError says that err means there is no room.
func fullError(err error) bool {
	return errors.Is(err, unix.ENOSPC) || errors.Is(err, unix.EDQUOT) || errors.Is(err, unix.EFBIG)
}
