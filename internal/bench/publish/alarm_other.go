//go:build !linux

package publish

import "time"

// alarm waits for moments as exactly as time.Sleep does.
type alarm struct{}

func newAlarm() (*alarm, error) { return new(alarm), nil }

// until returns at the moment, or at once if it is past.
func (*alarm) until(t time.Time) error {
	time.Sleep(time.Until(t))
	return nil
}

func (*alarm) Close() error { return nil }
