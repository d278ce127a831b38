package wns

import (
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/hikyaku/hikyaku/internal/message"
	"github.com/hikyaku/hikyaku/internal/push/attribute"
)

// wish is what a message's attributes say.
type wish struct {
	channel    string
	origin     string // https://host
	host       string // with the port where it is not 443
	name       string // the host alone
	path       string // with the query
	app        string
	pushType   string
	tag, group string
	cache      string // cache, no-cache, or "": not said
	expiration attribute.Expiration
	registered time.Time
}

const (
	mostChannel = 4096 // bytes
	mostTag     = 16   // characters
)

var (
	errNoChannel = errors.New("it has no attribute channel")
	errChannel   = errors.New("its channel is no https URI")
)

// read takes the attributes. Those of other names are nobody's business here.
func (w *wish) read(m *message.Message) error {
	for i := range m.Attributes {
		a := &m.Attributes[i]
		if a.Value.IsNull() {
			continue
		}
		if err := w.take(a.Name, a.Value); err != nil {
			return fmt.Errorf("attribute %s: %w", a.Name, err)
		}
	}
	return w.locate()
}

// take takes one attribute.
func (w *wish) take(name string, v message.Value) (err error) {
	switch text := v.Text(); name {
	case "channel":
		w.channel = text
	case "app":
		w.app = text
	case "push_type":
		if w.pushType = text; !slices.Contains(types, text) {
			err = fmt.Errorf("%.100q is none of %s", text, strings.Join(types, ", "))
		}
	case "tag", "group":
		if !isTag(text) {
			err = fmt.Errorf("%.100q is not of at most %d letters and digits", text, mostTag)
		}
		if name == "tag" {
			w.tag = text
		} else {
			w.group = text
		}
	case "cache":
		switch text {
		case "true":
			w.cache = "cache"
		case "false":
			w.cache = "no-cache"
		default:
			err = fmt.Errorf("%.100q is neither true nor false", text)
		}
	case "expiration":
		err = w.expiration.Read(v)
	case "registered_at":
		w.registered, err = attribute.Instant(v)
	}
	return err
}

// isTag tells whether a text can be a tag or a group.
func isTag(text string) bool {
	for i := range len(text) {
		switch c := text[i]; {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9':
		default:
			return false
		}
	}
	return text != "" && len(text) <= mostTag
}

// locate takes the channel apart. What is in its path and query is WNS's own and goes there as it is.
func (w *wish) locate() error {
	switch {
	case w.channel == "":
		return errNoChannel
	case len(w.channel) > mostChannel:
		return fmt.Errorf("its channel has %d bytes: it is none of WNS's", len(w.channel))
	}
	u, err := url.Parse(w.channel)
	if err != nil || u.Scheme != "https" || u.Hostname() == "" || u.User != nil || u.Opaque != "" {
		return errChannel
	}
	w.host, w.name = strings.ToLower(u.Host), u.Hostname()
	if u.Port() == "443" || strings.HasSuffix(w.host, ":") {
		w.host = strings.TrimSuffix(strings.TrimSuffix(w.host, "443"), ":")
	}
	w.origin, w.path = "https://"+w.host, u.RequestURI()
	return nil
}
