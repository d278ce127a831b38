package link

import (
	"sync/atomic"
	"time"
)

// Seldom is for what is reported once a minute, because whoever connects could fill the log. The zero value is ready.
// Its method may be called from any goroutine.
type Seldom struct{ last atomic.Int64 } // in Unix seconds

// Due tells, once a minute, that it is time for a report.
func (s *Seldom) Due() bool {
	now, last := time.Now().Unix(), s.last.Load()
	return now-last >= 60 && s.last.CompareAndSwap(last, now)
}
