//go:build !unix && !windows

package pace

import "time"

// processorTime is not known here.
func processorTime() time.Duration { return 0 }
