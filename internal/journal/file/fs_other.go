//go:build !linux

package file

import "os"

// datasync syncs everything: there is no cheaper call that can be trusted here.
func datasync(f *os.File) error { return f.Sync() }

func preallocate(f *os.File, size int64) error {
	st, err := f.Stat()
	if err != nil {
		return err
	}
	return writeZeros(f, st.Size(), size)
}

// willNeed does nothing: there is no call for it here.
func willNeed(*os.File, int64, int64) {}
