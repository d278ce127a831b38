package pipeline

import "time"

// limiter decides how many groups of a stage may be worked on at once. It is used under its stage's lock and does no
// waiting of its own.
type limiter interface {
	limit() int
	// begin notes that a group of size messages leaves; busy is how many are under way with it. The ticket is given
	// back to end.
	begin(busy, size int) uint64
	end(ticket uint64, s sample)
}

// sample is what one request told about the far end.
type sample struct {
	at     time.Time // when it was answered
	took   time.Duration
	size   int     // messages in it
	failed float64 // the share of them that has to be retried, 0 to 1
	slow   bool    // the far end asked for less
}

// fixed is a limiter that learns nothing.
type fixed int

func (f fixed) limit() int          { return int(f) }
func (fixed) begin(int, int) uint64 { return 0 }
func (fixed) end(uint64, sample)    {}
