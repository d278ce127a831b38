//go:build !linux

package doctor

// synchronized is not known on this system.
func synchronized() []Finding { return nil }
