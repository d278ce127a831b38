package fcm

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/hikyaku/hikyaku/internal/message"
	"github.com/hikyaku/hikyaku/internal/push/attribute"
	"github.com/hikyaku/hikyaku/internal/push/payload"
)

const longestTTL = 28 * 24 * time.Hour

// wish is what a message's attributes say.
type wish struct {
	target, name string // token, fid, topic or condition, and its value
	project      string
	priority     string
	collapseKey  string
	expiration   attribute.Expiration
	registered   time.Time
}

var (
	errTwoTargets = errors.New("it has more than one of the attributes token, fid, topic and condition")
	errNoTarget   = errors.New("it has none of the attributes token, fid, topic and condition")
	errNotObject  = errors.New("what should be FCM's message is no JSON object")
)

// read takes the attributes. Those of other names are nobody's business here.
func (w *wish) read(m *message.Message) error {
	for i := range m.Attributes {
		a := &m.Attributes[i]
		if a.Value.IsNull() {
			continue
		}
		switch a.Name {
		case "token", "fid", "topic", "condition":
			if w.target != "" {
				return errTwoTargets
			}
			w.target, w.name = a.Name, a.Value.Text()
		case "project":
			w.project = a.Value.Text()
		case "collapse_key":
			w.collapseKey = a.Value.Text()
		case "priority":
			w.priority = strings.ToUpper(a.Value.Text())
			if !slices.Contains([]string{"HIGH", "NORMAL"}, w.priority) {
				return fmt.Errorf("attribute priority: %.100q is neither high nor normal", a.Value.Text())
			}
		case "expiration":
			if err := w.expiration.Read(a.Value); err != nil {
				return fmt.Errorf("attribute expiration: %w", err)
			}
		case "registered_at":
			at, err := attribute.Instant(a.Value)
			if err != nil {
				return fmt.Errorf("attribute registered_at: %w", err)
			}
			w.registered = at
		}
	}
	if w.target == "" || w.name == "" {
		return errNoTarget
	}
	return nil
}

// compose makes the body of a request.
func (d *delivery) compose(now time.Time) ([]byte, error) {
	s, text := d.sink, d.message.Body
	if s.program != nil {
		made, err := s.program.Make(d.message)
		if err != nil {
			return nil, err
		}
		text = made
	}
	var members map[string]json.RawMessage
	if err := json.Unmarshal(text, &members); err != nil || members == nil {
		return nil, errNotObject
	}
	for _, name := range []string{"token", "fid", "topic", "condition"} {
		if _, there := members[name]; there {
			return nil, fmt.Errorf("FCM's message has a member %s of its own: whom it is for is said by the attributes",
				name)
		}
	}
	if err := d.android(members, now); err != nil {
		return nil, err
	}
	name, err := json.Marshal(d.wish.name)
	if err != nil {
		return nil, fmt.Errorf("attribute %s: %w", d.wish.target, err)
	}
	members[d.wish.target] = name
	return json.Marshal(map[string]any{"message": members})
}

// android adds what attributes and settings say for Android devices, where the program has not said it.
func (d *delivery) android(members map[string]json.RawMessage, now time.Time) error {
	add := map[string]any{}
	if p := cmp.Or(d.wish.priority, d.sink.priority); p != "" {
		add["priority"] = p
	}
	if k := cmp.Or(d.wish.collapseKey, d.sink.collapseKey); k != "" {
		add["collapse_key"] = k
	}
	switch {
	case d.Limited:
		left := min(d.Until.Sub(now), longestTTL)
		add["ttl"] = strconv.FormatInt(int64((left+time.Second-1)/time.Second), 10) + "s"
	case d.wish.expiration.Set:
		add["ttl"] = "0s"
	}
	return payload.Fill(members, "android", add)
}
