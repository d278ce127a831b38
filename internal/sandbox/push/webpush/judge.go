package webpush

import (
	"crypto/rand"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/hikyaku/hikyaku/internal/sandbox/push/farend"
)

const (
	pushPath    = "/push/"
	maxBody     = 4096 // bytes of an encrypted message that every push service has to take
	maxTopic    = 32   // characters
	mostSeconds = 28 * 24 * 3600
)

// statuses are the reasons to refuse a message.
var statuses = map[string]int{
	"BadRequest":          400,
	"Unauthorized":        401,
	"Forbidden":           403,
	"NotFound":            404,
	"MethodNotAllowed":    405,
	"Gone":                410,
	"PayloadTooLarge":     413,
	"UnsupportedEncoding": 415,
	"TooManyRequests":     429,
	"InternalServerError": 500,
	"BadGateway":          502,
	"ServiceUnavailable":  503,
}

// Reasons are the names of all reasons, in alphabetical order.
func Reasons() []string { return slices.Sorted(maps.Keys(statuses)) }

// Knows returns nil for a reason that can be asked for.
func (p *provider) Knows(reason string) error {
	if _, ok := statuses[reason]; ok {
		return nil
	}
	return fmt.Errorf("reason: %q is none of a push service's: it knows %s", reason, strings.Join(Reasons(), ", "))
}

// Refuse makes an answer a refusal.
func (p *provider) Refuse(_ *farend.Request, a *farend.Answer, reason string) {
	refuse(a, reason, reason)
}

func refuse(a *farend.Answer, reason, text string) {
	a.Fields = a.Fields[:0]
	a.Set("content-type", "text/plain; charset=utf-8")
	a.Status, a.Reason, a.Body = statuses[reason], reason, append(a.Body[:0], text...)
}

// Serve checks a request and answers it.
func (p *provider) Serve(r *farend.Request, a *farend.Answer) {
	id, ok := strings.CutPrefix(r.Path, pushPath)
	if !ok {
		refuse(a, "NotFound", "there is no such resource")
		return
	}
	a.Device = id
	p.mu.Lock()
	sub := p.subscribers[id]
	gone := sub != nil && sub.gone
	p.mu.Unlock()
	switch {
	case sub == nil:
		refuse(a, "NotFound", "there is no such subscription")
		return
	case gone:
		refuse(a, "Gone", "the subscription has ended")
		return
	case r.Method != "POST":
		refuse(a, "MethodNotAllowed", "messages are posted")
		return
	}
	if !p.anybody {
		reason, key := p.gate.check(r.Get("authorization"))
		if reason == "" && sub.sender != "" && key != sub.sender {
			reason = "Forbidden"
		}
		if reason != "" {
			a.Trust = farend.Untrusted
			refuse(a, reason, "the VAPID token is missing or not good for this subscription")
			return
		}
	}
	a.Trust = farend.Trusted
	if reason, why := headers(r); reason != "" {
		refuse(a, reason, why)
		return
	}
	text, err := Open(sub.private, sub.auth, r.Body)
	if err != nil {
		refuse(a, "BadRequest", err.Error())
		return
	}
	p.remember(text)
	a.ID, a.Status = p.id(text), 201
	a.Set("location", p.gate.audience()+"/message/"+rand.Text())
	a.Set("ttl", strconv.Itoa(seconds(r.Get("ttl"))))
}

// headers checks what comes with a message.
func headers(r *farend.Request) (reason, why string) {
	switch {
	case seconds(r.Get("ttl")) < 0:
		return "BadRequest", "TTL is missing, or no number of seconds"
	case !slices.Contains([]string{"", "very-low", "low", "normal", "high"}, r.Get("urgency")):
		return "BadRequest", "Urgency is none of very-low, low, normal and high"
	case !isTopic(r.Get("topic")):
		return "BadRequest", "Topic is not at most 32 characters of base64url"
	case len(r.Body) > maxBody:
		return "PayloadTooLarge", "the message is longer than 4096 bytes"
	case r.Get("content-encoding") != "aes128gcm":
		return "UnsupportedEncoding", "Content-Encoding is not aes128gcm"
	}
	return "", ""
}

// seconds reads a TTL, as long as a service keeps messages; -1: it is none.
func seconds(text string) int {
	n, err := strconv.ParseUint(text, 10, 31)
	if err != nil {
		return -1
	}
	return int(min(n, mostSeconds))
}

func isTopic(text string) bool {
	if len(text) > maxTopic {
		return false
	}
	for _, c := range []byte(text) {
		if !strings.ContainsRune("-_", rune(c)) && (c < '0' || c > '9') && (c < 'a' || c > 'z') &&
			(c < 'A' || c > 'Z') {
			return false
		}
	}
	return true
}
