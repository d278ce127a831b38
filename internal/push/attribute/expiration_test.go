package attribute

import (
	"testing"
	"time"

	"github.com/hikyaku/hikyaku/internal/message"
)

func TestTheAttributeComesBeforeTheExpiryAndThatBeforeTheTTL(t *testing.T) {
	noon := time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)
	one, two := noon.Add(time.Hour), noon.Add(2*time.Hour)
	said := message.String(one.Format(time.RFC3339))
	for _, c := range []struct {
		name      string
		attribute message.Value
		m         message.Message
		ttl       time.Duration
		at        time.Time
	}{
		{"nothing", message.Value{}, message.Message{Time: noon}, 0, time.Time{}},
		{"a ttl", message.Value{}, message.Message{Time: noon}, time.Hour, one},
		{"a ttl, of a message without a time", message.Value{}, message.Message{}, time.Hour, time.Time{}},
		{"an expiry", message.Value{}, message.Message{Time: noon, Expires: two}, time.Hour, two},
		{"an attribute", said, message.Message{Time: noon, Expires: two}, time.Minute, one},
		{"now or never", message.String("0"), message.Message{Time: noon, Expires: two}, time.Minute, time.Time{}},
	} {
		t.Run(c.name, func(t *testing.T) {
			var e Expiration
			if !c.attribute.IsNull() {
				if err := e.Read(c.attribute); err != nil {
					t.Fatal(err)
				}
			}
			at, ok := e.Of(&c.m, c.ttl)
			if ok != !c.at.IsZero() || ok && !at.Equal(c.at) {
				t.Errorf("%v, %v; want %v", at, ok, c.at)
			}
			if e.Set == c.attribute.IsNull() {
				t.Error("it does not tell whether the attribute was there")
			}
		})
	}
	var e Expiration
	if err := e.Read(message.String("soon")); err == nil {
		t.Error("a text that is no time was taken")
	}
}
