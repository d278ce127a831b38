//go:build !linux

package harness

import "os"

// datasync makes what was written to f durable.
func datasync(f *os.File) error { return f.Sync() }
