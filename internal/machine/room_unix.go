//go:build linux || darwin

package machine

import "golang.org/x/sys/unix"

// roomOf is the room of dir's disk; known is false when it cannot be told.
func roomOf(dir string) (r Room, known bool) {
	var st unix.Statfs_t
	if err := unix.Statfs(dir, &st); err != nil {
		return Room{}, false
	}
	return Room{All: int64(st.Blocks) * int64(st.Bsize), Free: int64(st.Bavail) * int64(st.Bsize)}, true
}
