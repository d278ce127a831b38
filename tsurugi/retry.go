package tsurugi

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"
)

// A RetryPolicy says how often, and when, work is done again that failed with an error that is SafeToRetry. The zero
// value is good.
type RetryPolicy struct {
	Attempts int           // at most, the first included; default 10
	First    time.Duration // the longest rest after the first attempt; it doubles with each. Default 5 ms
	Longest  time.Duration // a rest; default 1 s
}

const (
	defaultAttempts = 10
	defaultFirst    = 5 * time.Millisecond
	defaultLongest  = time.Second
)

// rest is how long to wait after an attempt, the first of which is 1: anything up to twice as long as after the one
// before.
func (p RetryPolicy) rest(attempt int) time.Duration {
	first, longest := p.First, p.Longest
	if first <= 0 {
		first = defaultFirst
	}
	if longest <= 0 {
		longest = defaultLongest
	}
	for range attempt - 1 {
		if first >= longest {
			break
		}
		first *= 2
	}
	return rand.N(min(first, longest) + 1)
}

// Retry does work until it succeeds, fails with an error that is not SafeToRetry, has failed as often as the policy
// allows, or the context ends. The error is the last one.
func Retry(ctx context.Context, p RetryPolicy, work func(ctx context.Context) error) error {
	attempts := p.Attempts
	if attempts <= 0 {
		attempts = defaultAttempts
	}
	for n := 1; ; n++ {
		err := work(ctx)
		if err == nil || !SafeToRetry(err) {
			return err
		}
		if n == attempts {
			return fmt.Errorf("tsurugi: after %d attempts: %w", n, err)
		}
		rest := time.NewTimer(p.rest(n))
		select {
		case <-rest.C:
		case <-ctx.Done():
			rest.Stop()
			return errors.Join(context.Cause(ctx), err)
		}
	}
}
