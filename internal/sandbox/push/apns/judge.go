package apns

import (
	"strconv"
	"strings"

	"github.com/hikyaku/hikyaku/internal/sandbox/push/farend"
)

const (
	maxPayload   = 4096
	maxVoIP      = 5120 // bytes of a payload for a call, and of a broadcast
	maxCollapse  = 64
	minToken     = 64  // hexadecimal digits of a device token: 32 bytes at present
	maxToken     = 200 // Apple reserves the right to change it: "up to 100 bytes"
	maxTopicText = 255
)

// kinds are the push types, each with what its topic has to end in.
var kinds = map[string]string{
	"alert":        "",
	"background":   "",
	"controls":     ".push-type.controls",
	"location":     ".location-query",
	"voip":         ".voip",
	"complication": ".complication",
	"fileprovider": ".pushkit.fileprovider",
	"mdm":          "",
	"liveactivity": ".push-type.liveactivity",
	"pushtotalk":   ".voip-ptt",
	"widgets":      ".push-type.widgets",
}

// judge returns "" for a push to a device as it should be, else the reason to refuse it.
func (p *provider) judge(r *farend.Request, h push, token string) string {
	switch {
	case token == "":
		return "MissingDeviceToken"
	case !isToken(token):
		return "BadDeviceToken"
	}
	if reason := headers(h); reason != "" {
		return reason
	}
	if reason := p.topic(r, h); reason != "" {
		return reason
	}
	most := maxPayload
	if h.kind == "voip" {
		most = maxVoIP
	}
	return payload(r.Body, most)
}

func payload(body []byte, most int) string {
	switch {
	case len(body) == 0:
		return "PayloadEmpty"
	case len(body) > most:
		return "PayloadTooLarge"
	case !isObject(body):
		return "BadMessage"
	}
	return ""
}

// headers checks what does not depend on the app.
func headers(h push) string {
	if h.kind != "" {
		if _, ok := kinds[h.kind]; !ok {
			return "InvalidPushType"
		}
	}
	switch h.priority {
	case "", "5", "1":
	case "10":
		if h.kind == "background" {
			return "BadPriority" // "using priority 10 is an error"
		}
	default:
		return "BadPriority"
	}
	if h.expiration != "" {
		if _, err := strconv.ParseUint(h.expiration, 10, 63); err != nil {
			return "BadExpirationDate"
		}
	}
	if len(h.collapse) > maxCollapse {
		return "BadCollapseId"
	}
	return ""
}

// topic checks the app, and that its topic is one of the push type's.
func (p *provider) topic(r *farend.Request, h push) string {
	topic, certificate := h.topic, ""
	if h.authorization == "" {
		certificate = certified(r)
	}
	if topic == "" {
		if certificate == "" {
			return "MissingTopic"
		}
		topic = certificate + kinds[h.kind]
	}
	if len(topic) > maxTopicText || strings.ContainsAny(topic, " /\\") {
		return "BadTopic"
	}
	app, ok := strings.CutSuffix(topic, kinds[h.kind])
	switch {
	case !ok:
		return "TopicDisallowed"
	case h.kind == "":
		app = bare(topic)
	}
	if certificate != "" && app != certificate || p.topics != nil && !p.topics[app] {
		return "TopicDisallowed"
	}
	return ""
}

// bare takes from a topic what a push type appends to it.
func bare(topic string) string {
	for _, end := range kinds {
		if end != "" {
			if app, ok := strings.CutSuffix(topic, end); ok {
				return app
			}
		}
	}
	return topic
}

func isToken(token string) bool {
	if len(token) < minToken || len(token) > maxToken || len(token)%2 != 0 {
		return false
	}
	for i := range len(token) {
		if !isHex(token[i]) {
			return false
		}
	}
	return true
}
