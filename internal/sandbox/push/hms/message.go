package hms

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

const (
	maxMessage = 4096 // bytes without the tokens
	maxTokens  = 1000
	minToken   = 8 // characters; the real ones have some 130
	maxToken   = 4096
	maxTTL     = 15 * 24 * 60 * 60 // seconds
)

// request is what messages:send takes. What has its own documents (apns, webpush, review) is not looked at.
type request struct {
	ValidateOnly bool            `json:"validate_only"`
	Message      *message        `json:"message"`
	Review       json.RawMessage `json:"review"`
}

type message struct {
	Data         string          `json:"data"`
	Notification *notification   `json:"notification"`
	Android      *android        `json:"android"`
	APNS         json.RawMessage `json:"apns"`
	Webpush      json.RawMessage `json:"webpush"`
	Token        []string        `json:"token"`
	Topic        string          `json:"topic"`
	Condition    string          `json:"condition"`

	only bool // to be looked at, and not to be sent
}

type notification struct {
	Title string `json:"title"`
	Body  string `json:"body"`
	Image string `json:"image"`
}

// android is looked at where it can be wrong for everybody.
type android struct {
	CollapseKey  *int   `json:"collapse_key"`
	Urgency      string `json:"urgency"`
	TTL          string `json:"ttl"`
	Data         string `json:"data"`
	Notification *struct {
		Title       string          `json:"title"`
		Body        string          `json:"body"`
		ClickAction json.RawMessage `json:"click_action"`
	} `json:"notification"`
}

const maxTopic = 900

var (
	tokenText = regexp.MustCompile(`^[A-Za-z0-9_-]+$`)
	topicText = regexp.MustCompile(`^[A-Za-z0-9_.~%-]+$`)
	ttlText   = regexp.MustCompile(`^([0-9]+)(\.[0-9]{1,9})?[sS]?$`)
)

// parse reads a request; code and text say what is wrong with it.
func parse(body []byte) (m *message, code, text string) {
	var r request
	if err := json.Unmarshal(body, &r); err != nil || r.Message == nil {
		return nil, "80100003", "Illegal payload, message is missing or no object"
	}
	m = r.Message
	m.only = r.ValidateOnly
	targets := 0
	for _, there := range []bool{len(m.Token) > 0, m.Topic != "", m.Condition != ""} {
		if there {
			targets++
		}
	}
	switch {
	case targets != 1:
		return m, "80100003", "Illegal payload, exactly one of token, topic and condition is required"
	case len(m.Token) > maxTokens:
		return m, "80300010", ""
	case len(m.Token) > 0 && !m.anyToken():
		return m, "80300007", ""
	case m.Topic != "" && (len(m.Topic) > maxTopic || !topicText.MatchString(m.Topic)):
		return m, "80100003", "Illegal payload, the topic is wrong"
	case m.size(body) > maxMessage:
		return m, "80300008", ""
	case m.Data == "" && m.Notification == nil && m.Android == nil && m.APNS == nil && m.Webpush == nil:
		return m, "80100003", "Illegal payload, the message has nothing in it"
	}
	code, text = m.android()
	return m, code, text
}

// anyToken tells whether one of the tokens can be one.
func (m *message) anyToken() bool {
	for _, t := range m.Token {
		if len(t) >= minToken && len(t) <= maxToken && tokenText.MatchString(t) {
			return true
		}
	}
	return false
}

// android checks what is for Android.
func (m *message) android() (code, text string) {
	a := m.Android
	if a == nil {
		return "", ""
	}
	if k := a.CollapseKey; k != nil && (*k < -1 || *k > 100) {
		return "80100013", ""
	}
	if a.Urgency != "" && a.Urgency != "HIGH" && a.Urgency != "NORMAL" {
		return "80100003", "Illegal payload, android.urgency is wrong"
	}
	if a.TTL != "" {
		parts := ttlText.FindStringSubmatch(a.TTL)
		if parts == nil {
			return "80100003", "Illegal payload, android.ttl is wrong"
		}
		switch n, err := strconv.Atoi(parts[1]); {
		case err != nil || n > maxTTL:
			return "80100003", fmt.Sprintf("Illegal payload, android.ttl is more than %ds", maxTTL)
		case n == 0 && strings.Trim(parts[2], ".0") == "":
			return "80100004", ""
		}
	}
	if n := a.Notification; n != nil {
		if len(n.ClickAction) == 0 {
			return "80100003", "Illegal payload, android.notification.click_action is missing"
		}
		if with := m.Notification; (n.Title == "" || n.Body == "") && (with == nil || with.Title == "" ||
			with.Body == "") {
			return "80100003", "Illegal payload, the notification has no title or no body"
		}
	}
	return "", ""
}

// size is what counts against the bound of a message: it without its tokens.
func (m *message) size(body []byte) int {
	n := len(bytes.TrimSpace(body))
	for _, t := range m.Token {
		n -= len(t)
	}
	return n
}

// id is what tells the message apart: a member of its data, which is JSON in a text.
func (m *message) id(field string) string {
	data := m.Data
	if m.Android != nil && m.Android.Data != "" {
		data = m.Android.Data
	}
	var members map[string]any
	if json.Unmarshal([]byte(data), &members) != nil {
		return ""
	}
	text, _ := members[field].(string)
	return text
}
