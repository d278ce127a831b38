//go:build linux || darwin

package machine

import "golang.org/x/sys/unix"

// FreeBytes is the space of dir's disk that this process may use; known is false when it cannot be told.
func FreeBytes(dir string) (n int64, known bool) {
	var st unix.Statfs_t
	if err := unix.Statfs(dir, &st); err != nil {
		return 0, false
	}
	return int64(st.Bavail) * int64(st.Bsize), true
}
