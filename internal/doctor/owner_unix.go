//go:build unix

package doctor

import (
	"io/fs"
	"os"
	"syscall"
)

// ownerOf is whose a file is, and who asks.
func ownerOf(info fs.FileInfo) (owner, own int) {
	own = os.Geteuid()
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		return int(st.Uid), own
	}
	return own, own
}
