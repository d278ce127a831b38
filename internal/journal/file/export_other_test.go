//go:build !linux

package file

// DropFromCache takes a file out of the page cache where that is possible.
func DropFromCache(string) error { return nil }
