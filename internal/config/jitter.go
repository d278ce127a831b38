package config

import (
	"errors"
	"strings"
)

// Jitter is a setting of other log shippers that here says what is always so. It takes full, and no other.
type Jitter struct{}

// UnmarshalText reads full.
func (*Jitter) UnmarshalText(text []byte) error {
	if !strings.EqualFold(string(text), "full") {
		return errors.New("it takes full: a retry waits a random part of its bound, so that not all come at once")
	}
	return nil
}

func (Jitter) describeType() string { return "`full`" }
