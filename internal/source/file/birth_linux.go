package file

import (
	"os"

	"golang.org/x/sys/unix"
)

// birth is when the file was made, in nanoseconds since 1970; 0 where the file system does not tell.
func birth(f *os.File) int64 {
	conn, err := f.SyscallConn()
	if err != nil {
		return 0
	}
	var born int64
	err = conn.Control(func(fd uintptr) {
		var st unix.Statx_t
		if unix.Statx(int(fd), "", unix.AT_EMPTY_PATH, unix.STATX_BTIME, &st) == nil && st.Mask&unix.STATX_BTIME != 0 {
			born = st.Btime.Sec*1e9 + int64(st.Btime.Nsec)
		}
	})
	if err != nil {
		return 0
	}
	return born
}
