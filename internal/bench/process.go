package bench

import (
	"runtime"
	"runtime/debug"
)

// settleMemory gives back what an earlier experiment left, so that the next one's memory is its own.
func settleMemory() { debug.FreeOSMemory() }

// heapBytes is what is reachable on the heap now.
func heapBytes() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}
