//go:build !linux

package pace

import "os"

// program is the file of this program.
func program() (string, error) { return os.Executable() }
