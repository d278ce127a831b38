package webpush

import (
	"cmp"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"time"

	"github.com/hikyaku/hikyaku/internal/message"
	"github.com/hikyaku/hikyaku/internal/push/attribute"
)

// subscription is what a browser gives to a web application.
type subscription struct {
	Endpoint string `json:"endpoint"`
	Keys     struct {
		P256dh string `json:"p256dh"`
		Auth   string `json:"auth"`
	} `json:"keys"`
}

// wish is what a message's attributes say.
type wish struct {
	sub        subscription
	origin     string // https://host
	host       string // with the port where it is not 443
	name       string // the host alone
	path       string // with the query
	topic      string
	urgency    string
	expiration attribute.Expiration
	registered time.Time
}

const (
	mostEndpoint = 2048 // bytes
	authBytes    = 16
	keyBytes     = 65
	mostTopic    = 32 // characters
)

var (
	errNoEndpoint = errors.New("it has neither an attribute subscription nor endpoint")
	errEndpoint   = errors.New("its endpoint is no https URL")
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
		case "subscription":
			var s subscription
			if json.Unmarshal([]byte(text), &s) != nil {
				return errors.New("attribute subscription is no JSON of a subscription")
			}
			w.sub.Endpoint, w.sub.Keys.P256dh, w.sub.Keys.Auth = cmp.Or(w.sub.Endpoint, s.Endpoint),
				cmp.Or(w.sub.Keys.P256dh, s.Keys.P256dh), cmp.Or(w.sub.Keys.Auth, s.Keys.Auth)
		case "endpoint":
			w.sub.Endpoint = text
		case "p256dh":
			w.sub.Keys.P256dh = text
		case "auth":
			w.sub.Keys.Auth = text
		case "topic":
			w.topic = text
		case "urgency":
			if w.urgency = text; !isUrgency(text) {
				return fmt.Errorf("attribute urgency: %.100q is none of very-low, low, normal and high", text)
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
	if err := w.locate(); err != nil {
		return err
	}
	return w.checkKeys()
}

// locate takes the endpoint apart.
func (w *wish) locate() error {
	switch {
	case w.sub.Endpoint == "":
		return errNoEndpoint
	case len(w.sub.Endpoint) > mostEndpoint:
		return fmt.Errorf("its endpoint has %d bytes: it is none of a push service's", len(w.sub.Endpoint))
	}
	u, err := url.Parse(w.sub.Endpoint)
	if err != nil || u.Scheme != "https" || u.Hostname() == "" || u.User != nil || u.Opaque != "" {
		return errEndpoint
	}
	w.host, w.name = strings.ToLower(u.Host), u.Hostname()
	if u.Port() == "443" || strings.HasSuffix(w.host, ":") {
		w.host = strings.TrimSuffix(strings.TrimSuffix(w.host, "443"), ":")
	}
	w.origin, w.path = "https://"+w.host, u.RequestURI()
	return nil
}

func (w *wish) checkKeys() error {
	for _, k := range []struct {
		name, text string
		size       int
	}{{"p256dh", w.sub.Keys.P256dh, keyBytes}, {"auth", w.sub.Keys.Auth, authBytes}} {
		if k.text == "" {
			return fmt.Errorf("its subscription has no key %s: a message without one cannot be encrypted", k.name)
		}
		raw, err := base64.RawURLEncoding.DecodeString(strings.TrimRight(strings.NewReplacer("+", "-", "/",
			"_").Replace(k.text), "="))
		if err != nil || len(raw) != k.size {
			return fmt.Errorf("its subscription's key %s is not %d bytes in base64", k.name, k.size)
		}
	}
	return nil
}

// topicText is a topic in the only form that push services take: at most 32 characters of base64url. Others are hashed.
func topicText(text string) string {
	fits := len(text) <= mostTopic
	for i := 0; fits && i < len(text); i++ {
		c := text[i]
		fits = c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '-' || c == '_'
	}
	if fits {
		return text
	}
	sum := sha256.Sum256([]byte(text))
	return base64.RawURLEncoding.EncodeToString(sum[:mostTopic*3/4])
}
