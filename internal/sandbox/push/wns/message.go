package wns

import (
	"encoding/json"
	"slices"
	"strconv"

	"github.com/hikyaku/hikyaku/internal/sandbox/push/farend"
)

const (
	maxPayload = 5000 // bytes
	maxTag     = 16   // characters
	tooLarge   = "too large"
)

// contentTypes are what each type of notification wants.
var contentTypes = map[string]string{
	"wns/toast": "text/xml", "wns/tile": "text/xml", "wns/badge": "text/xml", "wns/raw": "application/octet-stream",
}

// check says what is wrong with a notification; "": nothing is.
func check(r *farend.Request) string {
	kind := r.Get("x-wns-type")
	content, known := contentTypes[kind]
	cache, ttl := r.Get("x-wns-cache-policy"), r.Get("x-wns-ttl")
	switch {
	case len(r.Body) > maxPayload:
		return tooLarge
	case !known:
		return "X-WNS-Type is none of wns/toast, wns/tile, wns/badge and wns/raw"
	case r.Get("content-type") != content:
		return "Content-Type of " + kind + " has to be " + content
	case r.Get("content-length") != "" && r.Get("content-length") != strconv.Itoa(len(r.Body)):
		return "Content-Length is wrong"
	case !slices.Contains([]string{"", "cache", "no-cache"}, cache):
		return "X-WNS-Cache-Policy is neither cache nor no-cache"
	case cache != "" && kind == "wns/toast":
		return "X-WNS-Cache-Policy is not for toasts"
	case !isTag(r.Get("x-wns-tag")) || !isTag(r.Get("x-wns-group")):
		return "X-WNS-Tag and X-WNS-Group have at most 16 letters and digits"
	case r.Get("x-wns-suppresspopup") != "":
		return "X-WNS-SuppressPopup is for Windows Phone"
	}
	if ttl != "" {
		if n, err := strconv.ParseUint(ttl, 10, 31); err != nil || n == 0 {
			return "X-WNS-TTL is no number of seconds"
		}
	}
	return ""
}

// isTag tells whether a text may be a tag or a group.
func isTag(text string) bool {
	for i := range len(text) {
		switch c := text[i]; {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9':
		default:
			return false
		}
	}
	return len(text) <= maxTag
}

// id is what tells a notification apart: a member of a body of JSON.
func id(body []byte, field string) string {
	var members map[string]any
	if json.Unmarshal(body, &members) != nil {
		return ""
	}
	text, _ := members[field].(string)
	return text
}
