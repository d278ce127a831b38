package machine

import (
	"math"
	"os"
	"runtime/debug"
)

// Available is an amount of memory and what bounds it.
type Available struct {
	Bytes int64  // 0: not known
	By    string // the folder of a control group, or "machine"; "" when it is not known
}

// share is which part of the memory Limit leaves to what Go allocates, in percent. The rest is for the program's own
// pages, for stacks and buffers of the kernel, and for what the collector is late with.
const share = 85

// spare is what Limit leaves at least: what the collector is late with is as large as the largest requests, however
// little memory there is.
const spare = 72 << 20

// Limit makes Go's garbage collector keep this process within the memory, unless the variable GOMEMLIMIT says how much
// it may take. It returns the bytes that hold, 0 without a limit, and who says so: "GOMEMLIMIT", or a.By. Memory that
// is in use cannot be collected: what allocates must be bounded by others.
func Limit(a Available) (limit int64, by string) {
	if os.Getenv("GOMEMLIMIT") != "" { // the runtime has read it, and ends programs for which it is nonsense
		if limit = debug.SetMemoryLimit(-1); limit == math.MaxInt64 {
			limit = 0 // "off"
		}
		return limit, "GOMEMLIMIT"
	}
	if a.Bytes <= 0 {
		return 0, ""
	}
	limit = min(a.Bytes/100*share, max(a.Bytes-spare, a.Bytes/2))
	debug.SetMemoryLimit(limit)
	return limit, a.By
}
