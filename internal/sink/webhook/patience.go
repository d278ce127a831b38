package webhook

import (
	"context"
	"strconv"
	"time"
)

// noAnswerError is the reason of a request that took all the time it was given.
type noAnswerError struct {
	target string
	after  time.Duration
}

// Error names the setting that says how long a request may take.
func (e *noAnswerError) Error() string {
	return e.target + ": no answer within " + strconv.FormatFloat(e.after.Seconds(), 'f', -1, 64) +
		" s (request.timeout_secs)"
}

// Unwrap is what a context says of it.
func (e *noAnswerError) Unwrap() error { return context.DeadlineExceeded }

// timeLeft is how long a context goes on, to the nearest hundredth of a second: some microseconds have passed since its
// owner made it. 0: it has no end of its own.
func timeLeft(ctx context.Context) time.Duration {
	end, ok := ctx.Deadline()
	if !ok {
		return 0
	}
	left := time.Until(end)
	if left < 100*time.Millisecond {
		return left.Round(time.Millisecond)
	}
	return left.Round(10 * time.Millisecond)
}
