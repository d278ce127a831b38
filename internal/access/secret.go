package access

import (
	"fmt"
	"log/slog"
)

// Secret is a text that is never printed: every way of formatting, logging or marshalling it shows asterisks.
// Reveal is the one way to its text.
type Secret string

const redacted = "********"

// Reveal returns the text itself, for computing a signature or a scramble with it.
func (s Secret) Reveal() string { return string(s) }

// String hides the secret.
func (s Secret) String() string {
	if s == "" {
		return ""
	}
	return redacted
}

// GoString hides the secret from %#v.
func (s Secret) GoString() string { return fmt.Sprintf("access.Secret(%q)", s.String()) }

// Format hides the secret from every verb, also from %x and %q.
func (s Secret) Format(f fmt.State, verb rune) {
	text := s.String()
	switch {
	case verb == 'v' && f.Flag('#'):
		text = s.GoString()
	case verb == 'q':
		text = fmt.Sprintf("%q", text)
	}
	_, _ = f.Write([]byte(text)) // a fmt.State takes everything
}

// LogValue hides the secret from log/slog.
func (s Secret) LogValue() slog.Value { return slog.StringValue(s.String()) }

// MarshalText hides the secret from JSON, YAML and TOML.
func (s Secret) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// MarshalYAML hides the secret from YAML.
func (s Secret) MarshalYAML() (any, error) { return s.String(), nil }
