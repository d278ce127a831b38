//go:build guests

package qemu

import (
	"bytes"
	"fmt"
)

// archive is a cpio archive as the kernel unpacks it: of the kind newc, which
// Documentation/driver-api/early-userspace/buffer-format.rst describes.
type archive struct {
	bytes.Buffer
	files int
}

const (
	folder  = 0o040755
	program = 0o100755
	file    = 0o100644
)

// add adds a file or a folder. A folder comes before what is in it.
func (a *archive) add(name string, mode int, data []byte) {
	a.files++
	fmt.Fprintf(a, "070701%08x%08x%08x%08x%08x%08x%08x%08x%08x%08x%08x%08x%08x%s\x00",
		a.files, mode, 0, 0, 1, 0, len(data), 0, 0, 0, 0, len(name)+1, 0, name)
	a.align()
	a.Write(data)
	a.align()
}

// end ends the archive.
func (a *archive) end() { a.add("TRAILER!!!", 0, nil) }

func (a *archive) align() {
	for a.Len()%4 != 0 {
		a.WriteByte(0)
	}
}
