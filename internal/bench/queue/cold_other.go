//go:build !linux

package queue

// evict cannot be done here.
func evict(string) error { return nil }

// cached cannot be told here.
func cached(string) (yes, known bool) { return false, false }
