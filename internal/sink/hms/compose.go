package hms

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

const (
	longestTTL = 15 * 24 * time.Hour
	keepAll    = -1 // the collapse key by which nothing is replaced
	mostKey    = 100
)

// wish is what a message's attributes say.
type wish struct {
	target, name string // token, topic or condition, and its value
	app          string
	urgency      string
	collapseKey  string
	expiration   attribute.Expiration
	registered   time.Time
}

var (
	errTwoTargets = errors.New("it has more than one of the attributes token, topic and condition")
	errNoTarget   = errors.New("it has none of the attributes token, topic and condition")
	errNotObject  = errors.New("what should be Push Kit's message is no JSON object")
)

// read takes the attributes. Those of other names are nobody's business here.
func (w *wish) read(m *message.Message) error {
	for i := range m.Attributes {
		a := &m.Attributes[i]
		if a.Value.IsNull() {
			continue
		}
		var err error
		switch text := a.Value.Text(); a.Name {
		case "token", "topic", "condition":
			if w.target != "" {
				return errTwoTargets
			}
			w.target, w.name = a.Name, text
		case "app":
			w.app = text
		case "collapse_key":
			w.collapseKey = text
			_, err = collapseKey(text)
		case "urgency":
			w.urgency = strings.ToUpper(text)
			if !slices.Contains([]string{"HIGH", "NORMAL"}, w.urgency) {
				err = fmt.Errorf("%.100q is neither high nor normal", text)
			}
		case "expiration":
			err = w.expiration.Read(a.Value)
		case "registered_at":
			w.registered, err = attribute.Instant(a.Value)
		}
		if err != nil {
			return fmt.Errorf("attribute %s: %w", a.Name, err)
		}
	}
	if w.target == "" || w.name == "" {
		return errNoTarget
	}
	return nil
}

// collapseKey reads a collapse key: a number, as Push Kit has it.
func collapseKey(text string) (int, error) {
	n, err := strconv.Atoi(text)
	if err != nil || n < keepAll || n > mostKey {
		return 0, fmt.Errorf("%.100q is no number from -1 to 100", text)
	}
	return n, nil
}

// replaces is the collapse key by which a newer push stands for this one; "": none does.
func (d *delivery) replaces() string {
	key := cmp.Or(d.wish.collapseKey, d.sink.collapseKey)
	if n, err := collapseKey(key); err != nil || n == keepAll {
		return ""
	}
	return key
}

// compose makes the body of a request.
func (d *delivery) compose(now time.Time) ([]byte, error) {
	s, text := d.sink, d.Message.Body
	if s.program != nil {
		made, err := s.program.Make(d.Message)
		if err != nil {
			return nil, err
		}
		text = made
	}
	var members map[string]json.RawMessage
	if err := json.Unmarshal(text, &members); err != nil || members == nil {
		return nil, errNotObject
	}
	for _, name := range []string{"token", "topic", "condition"} {
		if _, there := members[name]; there {
			return nil, fmt.Errorf("the message for Push Kit has a member %s of its own: whom it is for is said by "+
				"the attributes", name)
		}
	}
	if err := d.android(members, now); err != nil {
		return nil, err
	}
	var target any = d.wish.name
	if d.Single {
		target = []string{d.wish.name}
	}
	name, err := json.Marshal(target)
	if err != nil {
		return nil, fmt.Errorf("attribute %s: %w", d.wish.target, err)
	}
	members[d.wish.target] = name
	return json.Marshal(map[string]any{"message": members})
}

// android adds what attributes and settings say, where the program has not said it.
func (d *delivery) android(members map[string]json.RawMessage, now time.Time) error {
	add := map[string]any{}
	if u := cmp.Or(d.wish.urgency, d.sink.urgency); u != "" {
		add["urgency"] = u
	}
	if k := cmp.Or(d.wish.collapseKey, d.sink.collapseKey); k != "" {
		n, err := collapseKey(k)
		if err != nil {
			return fmt.Errorf("collapse_key: %w", err)
		}
		add["collapse_key"] = n
	}
	switch {
	case d.Limited:
		left := min(d.Until.Sub(now), longestTTL)
		add["ttl"] = strconv.FormatInt(int64((left+time.Second-1)/time.Second), 10) + "s"
	case d.wish.expiration.Set:
		add["ttl"] = "1s" // nothing is documented that keeps a message for no time at all
	}
	return payload.Fill(members, "android", add)
}
