//go:build !unix

package file

import (
	"errors"
	"os"
)

// identity would be the operating system's name of a file. Without one a file that was renamed would be read again, so
// none is read.
func identity(os.FileInfo) (fileID, error) {
	return fileID{}, errors.New("on this system files cannot be told apart by number: the file source does not work " +
		"here")
}
