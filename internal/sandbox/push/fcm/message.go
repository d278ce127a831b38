package fcm

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
)

const (
	maxPayload = 4096 // bytes of data and notification
	minToken   = 32   // characters; the real ones have some 150
	maxToken   = 4096
	maxBatch   = 512 << 10 // bytes of a request: a thousand tokens for a topic
)

// request is what messages:send takes. What has its own documents (android, apns, webpush) is looked at only where it
// can be wrong for everybody.
type request struct {
	Message      *body `json:"message"`
	ValidateOnly bool  `json:"validate_only"`
	ValidateToo  bool  `json:"validateOnly"`
}

type body struct {
	Name         string            `json:"name"`
	Data         map[string]string `json:"data"`
	Notification *notification     `json:"notification"`
	Android      *android          `json:"android"`
	Webpush      json.RawMessage   `json:"webpush"`
	APNS         json.RawMessage   `json:"apns"`
	Options      json.RawMessage   `json:"fcm_options"`
	Options2     json.RawMessage   `json:"fcmOptions"`
	Token        string            `json:"token"`
	FID          string            `json:"fid"`
	Topic        string            `json:"topic"`
	Condition    string            `json:"condition"`
}

type notification struct {
	Title, Body, Image string
}

type android struct {
	CollapseKey  string            `json:"collapse_key"`
	CollapseKey2 string            `json:"collapseKey"`
	Priority     json.RawMessage   `json:"priority"`
	TTL          string            `json:"ttl"`
	Package      string            `json:"restricted_package_name"`
	Data         map[string]string `json:"data"`
	Notification json.RawMessage   `json:"notification"`
	Options      json.RawMessage   `json:"fcm_options"`
	DirectBoot   bool              `json:"direct_boot_ok"`
}

var (
	tokenText = regexp.MustCompile(`^[A-Za-z0-9_:.-]+$`)
	fidText   = regexp.MustCompile(`^[c-f][A-Za-z0-9_-]{21}$`) // its first four bits are 0111
	topicText = regexp.MustCompile(`^[a-zA-Z0-9_.~%-]+$`)
	ttlText   = regexp.MustCompile(`^[0-9]+(\.[0-9]{1,9})?s$`)
)

// parse reads a request and says what is wrong with it.
func parse(text []byte) (*request, error) {
	var r request
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(&r); err != nil {
		return nil, fmt.Errorf("invalid JSON payload received: %w", err)
	}
	m := r.Message
	if m == nil {
		return nil, errors.New("message is missing")
	}
	targets := 0
	for _, t := range []string{m.Token, m.FID, m.Topic, m.Condition} {
		if t != "" {
			targets++
		}
	}
	switch {
	case targets != 1:
		return nil, errors.New("exactly one of token, fid, topic or condition is required")
	case m.Token != "" && (len(m.Token) < minToken || len(m.Token) > maxToken || !tokenText.MatchString(m.Token)):
		return nil, errors.New("the registration token is not a valid FCM registration token")
	case m.FID != "" && !fidText.MatchString(m.FID):
		return nil, errors.New("the installation id is not a valid Firebase installation id")
	case m.Topic != "" && !topicText.MatchString(strings.TrimPrefix(m.Topic, "/topics/")):
		return nil, errors.New("invalid topic name")
	}
	if err := checkData(m.Data); err != nil {
		return nil, err
	}
	if a := m.Android; a != nil {
		if a.TTL != "" && !ttlText.MatchString(a.TTL) {
			return nil, errors.New("invalid value at 'message.android.ttl': a duration ends in s")
		}
		if p := strings.ToUpper(strings.Trim(string(a.Priority), `"`)); !slices.Contains([]string{"", "NORMAL", "HIGH",
			"0", "1"}, p) {
			return nil, errors.New("invalid value at 'message.android.priority'")
		}
		if err := checkData(a.Data); err != nil {
			return nil, err
		}
	}
	if n := m.size(); n > maxPayload {
		return nil, errors.New("the message is too big")
	}
	return &r, nil
}

func checkData(data map[string]string) error {
	for name := range data {
		if name == "from" || name == "message_type" || strings.HasPrefix(name, "google.") ||
			strings.HasPrefix(name, "gcm.") {
			return fmt.Errorf("invalid data payload key: %s", name)
		}
	}
	return nil
}

// size is what counts against the bound of a payload.
func (m *body) size() int {
	n := 0
	for k, v := range m.Data {
		n += len(k) + len(v)
	}
	if m.Notification != nil {
		n += len(m.Notification.Title) + len(m.Notification.Body) + len(m.Notification.Image)
	}
	return n
}
