//go:build !unix

package harness

import "time"

// ProcessorTime is not known here.
func ProcessorTime() time.Duration { return 0 }
