//go:build race

package javascript

import "math"

// maxMemory is no bound: the race detector takes terabytes of addresses before main begins.
const maxMemory = math.MaxUint64
