//go:build !linux

package file

// volumeOf knows nothing: writes tell when there is no room, or nothing may be written.
func volumeOf(string) (Volume, error) { return Volume{}, nil }
