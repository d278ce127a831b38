package mysql

import "sync/atomic"

// counts are what a door has done since it was opened.
type counts struct {
	statements atomic.Int64 // sent as text, or prepared and executed
}
