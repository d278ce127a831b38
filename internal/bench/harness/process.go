package harness

import (
	"runtime"
	"runtime/debug"
)

// SettleMemory gives back what an earlier experiment left, so that the next one's memory is its own.
func SettleMemory() { debug.FreeOSMemory() }

// HeapBytes is what is reachable on the heap now.
func HeapBytes() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}
