package attribute

import (
	"time"

	"github.com/hikyaku/hikyaku/internal/message"
)

// Expiration is what a message's attribute expiration says. The zero value is that of a message without one.
type Expiration struct {
	Set bool
	at  time.Time
}

// Read takes the attribute's value.
func (e *Expiration) Read(v message.Value) (err error) {
	e.Set = true
	e.at, err = Instant(v)
	return err
}

// Of is after when nobody wants the message: what its attribute says, or else its own expiry, or else ttl after its
// time (0: no ttl). ok is false where nothing says it, and where the attribute says 0: that is now or never, which the
// far end does.
func (e *Expiration) Of(m *message.Message, ttl time.Duration) (at time.Time, ok bool) {
	switch {
	case e.Set:
		return e.at, e.at.Unix() != 0
	case !m.Expires.IsZero():
		return m.Expires, true
	case ttl > 0 && !m.Time.IsZero():
		return m.Time.Add(ttl), true
	}
	return time.Time{}, false
}
