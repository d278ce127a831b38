//go:build !linux

package machine

// Memory is not known on this system.
func Memory() Available { return Available{} }
