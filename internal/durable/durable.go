// Package durable makes files and their names survive a power cut.
package durable

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
)

// Unfinished is what the name of a file ends with that WriteFile has not written to its end.
const Unfinished = ".unfinished"

// SyncDir makes the names in a folder durable. On Windows it does nothing: the file system keeps names durable by
// itself, and refuses to sync a folder.
func SyncDir(dir string) error {
	if runtime.GOOS == "windows" {
		return nil
	}
	f, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}

// WriteFile writes a file of this account alone that is there whole, durably, or as it was before. Nobody else may
// write it at the same time.
func WriteFile(path string, b []byte) error {
	next := path + Unfinished
	f, err := os.OpenFile(next, os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(b)
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err == nil {
		err = os.Rename(next, path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(next))
	}
	return SyncDir(filepath.Dir(path))
}
