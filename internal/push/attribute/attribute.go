// Package attribute reads what the attributes of messages say to a push service.
//
//	at, err := attribute.Instant(v) // 1700000000, or "2026-11-22T10:00:00Z"
package attribute

import (
	"fmt"
	"strconv"
	"time"

	"github.com/hikyaku/hikyaku/internal/message"
)

// latest is the last instant that is taken: the end of the year 9999. What lies beyond is surely milliseconds.
const latest = 253402300799

// Instant reads a time: Unix seconds, or RFC 3339.
func Instant(v message.Value) (time.Time, error) {
	if v.Kind() == message.KindTime {
		return v.AsTime(), nil
	}
	text := v.Text()
	if n, err := strconv.ParseFloat(text, 64); err == nil {
		if !(n >= 0 && n <= latest) {
			return time.Time{}, fmt.Errorf("%.100q are no seconds since 1970", text)
		}
		return time.Unix(int64(n), 0), nil
	}
	at, err := time.Parse(time.RFC3339Nano, text)
	if err != nil {
		return time.Time{}, fmt.Errorf("%.100q is neither seconds since 1970 nor a time of RFC 3339", text)
	}
	return at, nil
}
