package deployment

import (
	"encoding/base64"
	"encoding/hex"
	"time"
)

// check refuses what package function does not look at.
func (s *Settings) check() error {
	if s.DeadLetter != "" {
		if t, err := parseTarget(s.DeadLetter); err != nil {
			return err
		} else if t.function != "" {
			return invalid("a dead-letter target is a queue or a topic, not a function: %s", s.DeadLetter)
		}
	}
	if s.Timeout%time.Millisecond != 0 {
		return invalid("a timeout is a number of milliseconds")
	}
	return nil
}

// Checksum is that of the archive as clients see it, in base64; "" for a folder.
func (v Version) Checksum() string {
	sum, err := hex.DecodeString(v.SHA256)
	if err != nil {
		return ""
	}
	return base64.StdEncoding.EncodeToString(sum)
}
