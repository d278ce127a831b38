package doctor

import (
	"fmt"
	"slices"
)

// Level says how bad something is.
type Level string

// The levels.
const (
	OK   Level = "ok"
	Warn Level = "warn" // it works, and may not always
	Bad  Level = "bad"  // it does not work, or loses what it should keep
)

// Finding is one thing that was looked at.
type Finding struct {
	Area  string `json:"area"` // disk, room, ports and so on
	Level Level  `json:"level"`
	What  string `json:"what"`            // was seen
	Means string `json:"means,omitempty"` // for whoever runs hikyaku; "" where that is plain
	Do    string `json:"do,omitempty"`
}

// Ok is a finding that wants nothing.
func Ok(area, format string, args ...any) Finding {
	return Finding{Area: area, Level: OK, What: fmt.Sprintf(format, args...)}
}

// Worst is the worst level of findings.
func Worst(fs []Finding) Level {
	for _, l := range []Level{Bad, Warn} {
		if slices.ContainsFunc(fs, func(f Finding) bool { return f.Level == l }) {
			return l
		}
	}
	return OK
}

// size is a number of bytes as people read it.
func size(n int64) string {
	const units = "KMGTPE"
	if n < 1<<10 {
		return fmt.Sprintf("%d B", n)
	}
	i, x := 0, float64(n)/(1<<10)
	for x >= 1<<10 && i < len(units)-1 {
		x /= 1 << 10
		i++
	}
	return fmt.Sprintf("%.3g %ciB", x, units[i])
}
