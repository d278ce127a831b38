//go:build !linux

package machine

import "runtime"

// ResidentBytes is the memory that the Go runtime has of the operating system and has not given back.
func ResidentBytes() int64 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.Sys - m.HeapReleased)
}

// ResidentOf cannot be told here.
func ResidentOf(int) int64 { return 0 }

// BytesRead cannot be told here.
func BytesRead() int64 { return 0 }
