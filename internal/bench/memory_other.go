//go:build !linux

package bench

import "runtime"

// residentBytes is the memory that the Go runtime has of the operating system and has not given back.
func residentBytes() int64 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.Sys - m.HeapReleased)
}

// bytesRead cannot be told here.
func bytesRead() int64 { return 0 }
