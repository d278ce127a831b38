package dead

import (
	"fmt"
	"time"
)

// GoneError is why nothing is sent to a device that is known to be gone.
type GoneError struct {
	What  string // "device" or "subscription"
	Since time.Time
}

func (e *GoneError) Error() string {
	return fmt.Sprintf("the %s is gone since %s", e.What, e.Since.UTC().Format(time.RFC3339))
}

// Word is the same for all of them, as the metrics have it.
func (e *GoneError) Word() string { return e.What + " gone" }
