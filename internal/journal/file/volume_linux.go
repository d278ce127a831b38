package file

import (
	"os"

	"golang.org/x/sys/unix"
)

func volumeOf(dir string) (Volume, error) {
	var st unix.Statfs_t
	if err := retried(func() error { return unix.Statfs(dir, &st) }); err != nil {
		return Volume{}, &os.PathError{Op: "statfs", Path: dir, Err: err}
	}
	size := int64(st.Frsize) //nolint:unconvert // it has other types on other processors
	if size == 0 {
		size = int64(st.Bsize) //nolint:unconvert // as above
	}
	return Volume{Bytes: int64(st.Blocks) * size, ReadOnly: st.Flags&unix.ST_RDONLY != 0}, nil
}
