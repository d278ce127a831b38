package apns

import (
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/hikyaku/hikyaku/internal/message"
	"github.com/hikyaku/hikyaku/internal/push/attribute"
)

// wish is what a message's attributes say.
type wish struct {
	token, channel, app, topic, pushType, collapse string

	priority      int
	expiration    int64 // Unix seconds
	expirationSet bool
	registered    time.Time
}

// read takes the attributes. Those of other names are nobody's business here.
func (w *wish) read(m *message.Message) error {
	for i := range m.Attributes {
		a := &m.Attributes[i]
		if a.Value.IsNull() {
			continue
		}
		switch a.Name {
		case "token":
			w.token = a.Value.Text()
		case "channel":
			w.channel = a.Value.Text()
		case "app":
			w.app = a.Value.Text()
		case "topic":
			w.topic = a.Value.Text()
		case "collapse_id":
			w.collapse = a.Value.Text()
		case "push_type":
			w.pushType = a.Value.Text()
		case "priority":
			n, err := strconv.Atoi(a.Value.Text())
			if err != nil || n != 10 && n != 5 && n != 1 {
				return fmt.Errorf("attribute priority: %.100q is none of 10, 5 and 1", a.Value.Text())
			}
			w.priority = n
		case "expiration":
			at, err := attribute.Instant(a.Value)
			if err != nil {
				return fmt.Errorf("attribute expiration: %w", err)
			}
			w.expiration, w.expirationSet = max(0, at.Unix()), true
		case "registered_at":
			at, err := attribute.Instant(a.Value)
			if err != nil {
				return fmt.Errorf("attribute registered_at: %w", err)
			}
			w.registered = at
		}
	}
	return w.check()
}

// check refuses what APNs would, or what could not be a header.
func (w *wish) check() error {
	if _, ok := pushTypes[w.pushType]; !ok && w.pushType != "" {
		return fmt.Errorf("attribute push_type: %.100q is no push type", w.pushType)
	}
	if len(w.collapse) > maxCollapse {
		return fmt.Errorf("attribute collapse_id has %d bytes, the most are %d", len(w.collapse), maxCollapse)
	}
	if !isValue(w.collapse) || !isValue(w.channel) {
		return errors.New("attribute collapse_id or channel has a character that no header may have")
	}
	if w.topic != "" && !isTopic(w.topic) {
		return fmt.Errorf("attribute topic: %.100q is no topic", w.topic)
	}
	return nil
}
