package http

import (
	"encoding/json"
	"fmt"
	"strconv"
	"time"
)

// Duration is a time.Duration that JSON writes as "30s" and reads as "30s" or as a number of seconds.
type Duration time.Duration

// maxSeconds is the longest duration that can be said: about 292 years.
const maxSeconds = float64(1<<63-1) / float64(time.Second)

// String is Go's notation: "1m30s".
func (d Duration) String() string { return time.Duration(d).String() }

// MarshalJSON writes Go's notation as a string.
func (d Duration) MarshalJSON() ([]byte, error) { return json.Marshal(d.String()) }

// UnmarshalJSON reads Go's notation or a number of seconds.
func (d *Duration) UnmarshalJSON(data []byte) error {
	if string(data) == "null" {
		return nil
	}
	text := string(data)
	if data[0] == '"' {
		if err := json.Unmarshal(data, &text); err != nil {
			return err
		}
	}
	parsed, err := ParseDuration(text)
	if err != nil {
		return err
	}
	*d = parsed
	return nil
}

// ParseDuration reads "30s", "1h30m" or a number of seconds. Negative ones are refused.
func ParseDuration(text string) (Duration, error) {
	bad := func() (Duration, error) {
		return 0, fmt.Errorf(`%.40q is no duration: write "30s", "1h30m" or a number of seconds`, text)
	}
	if seconds, err := strconv.ParseFloat(text, 64); err == nil {
		if !(seconds >= 0 && seconds < maxSeconds) { // also refuses NaN
			return bad()
		}
		return Duration(seconds * float64(time.Second)), nil
	}
	d, err := time.ParseDuration(text)
	if err != nil || d < 0 {
		return bad()
	}
	return Duration(d), nil
}
