//go:build !unix

package stdin

import "os"

// number would be the device and the inode of a file: here its size, time and first bytes have to do.
func number(os.FileInfo) (device, inode uint64) { return 0, 0 }
