package apns

import (
	"fmt"
	"strconv"

	"github.com/hikyaku/hikyaku/internal/push"
)

// body makes the payload and checks its size.
func (d *delivery) body() ([]byte, error) {
	body := d.Message.Body
	if p := d.sink.payload; p != nil {
		made, err := p.Make(d.Message)
		if err != nil {
			return nil, err
		}
		body = made
	}
	most := maxPayload
	if d.wish.channel != "" || d.kind() == "voip" {
		most = maxCalls
	}
	switch {
	case len(body) == 0:
		return nil, errPayloadEmpty
	case len(body) > most:
		return nil, fmt.Errorf("%w: it has %d bytes, the most are %d", errPayloadTooLarge, len(body), most)
	}
	return body, nil
}

// kind is the push type.
func (d *delivery) kind() string {
	switch {
	case d.wish.pushType != "":
		return d.wish.pushType
	case d.wish.channel != "":
		return "liveactivity"
	}
	return d.sink.pushType
}

// fill makes the request of what is known.
func (d *delivery) fill(body []byte) {
	w, kind := &d.wish, d.kind()
	fields := d.fields[:0]
	add := func(name, value string) { fields = append(fields, push.Field{Name: name, Value: value}) }
	if d.authorization != "" {
		fields = append(fields, push.Field{Name: "authorization", Value: d.authorization, Sensitive: true})
	}
	d.request = push.Request{Method: "POST", Body: body}
	id := d.Message.ID.String()
	if w.channel != "" {
		d.request.Path = "/4/broadcasts/apps/" + d.app.topic
		add("apns-request-id", id)
		add("apns-channel-id", w.channel)
	} else {
		d.request.Path = "/3/device/" + w.token
		topic := w.topic
		if topic == "" {
			topic = d.app.topicOf(kind)
		}
		add("apns-topic", topic)
		add("apns-id", id)
	}
	add("apns-push-type", kind)
	if p := d.priority(kind); p != "" {
		add("apns-priority", p)
	}
	switch {
	case !d.expires.IsZero():
		add("apns-expiration", strconv.FormatInt(d.expires.Unix(), 10))
	case w.expirationSet, w.channel != "":
		add("apns-expiration", "0")
	}
	if w.collapse != "" && w.channel == "" {
		add("apns-collapse-id", w.collapse)
	}
	d.request.Header = fields
}

// topicOf is the app's topic for a push type.
func (a *app) topicOf(kind string) string {
	if end := pushTypes[kind]; end != "" {
		return a.topic + end
	}
	return a.topic
}

func (d *delivery) priority(kind string) string {
	p := d.wish.priority
	if p == 0 {
		p = d.sink.priority
	}
	switch p {
	case 10:
		return "10"
	case 5:
		return "5"
	case 1:
		return "1"
	}
	if kind == "background" {
		return "5"
	}
	return ""
}

func isToken(text string) bool {
	if len(text) == 0 || len(text) > maxToken {
		return false
	}
	for i := range len(text) {
		switch c := text[i]; {
		case c >= '0' && c <= '9', c >= 'a' && c <= 'f', c >= 'A' && c <= 'F':
		default:
			return false
		}
	}
	return true
}
