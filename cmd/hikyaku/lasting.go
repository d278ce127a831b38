package main

import (
	"errors"
	"math"
	"strconv"
	"strings"
	"time"
)

// lasting is a flag with a duration that may also be a number of whole days, as in a configuration: "90s", "1h30m",
// "7d".
type lasting time.Duration

// String implements pflag.Value.
func (l *lasting) String() string { return time.Duration(*l).String() }

// Type implements pflag.Value.
func (l *lasting) Type() string { return "DURATION" }

// Set implements pflag.Value.
func (l *lasting) Set(text string) error {
	d, err := time.ParseDuration(text)
	if days, ok := strings.CutSuffix(text, "d"); ok {
		var n int64
		if n, err = strconv.ParseInt(days, 10, 64); err == nil && n > math.MaxInt64/int64(24*time.Hour) {
			err = strconv.ErrRange
		}
		d = time.Duration(n) * 24 * time.Hour
	}
	switch {
	case err != nil:
		return errors.New("write it as 90s, 1h30m or 7d")
	case d < 0:
		return errors.New("a duration is not negative")
	}
	*l = lasting(d)
	return nil
}
