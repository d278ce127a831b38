package apns

import (
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"math/rand/v2"
	"strconv"
	"strings"

	"golang.org/x/net/http2/hpack"

	"github.com/hikyaku/hikyaku/internal/sandbox/push/farend"
)

// provider answers requests.
type provider struct {
	gate       *gatekeeper
	topics     map[string]bool // nil: all
	anybody    bool
	production bool
	channels   channels
}

func newProvider(c Config) *provider {
	p := &provider{gate: newGatekeeper(c), anybody: c.Anybody, production: c.Production}
	if c.Topics != nil {
		p.topics = map[string]bool{}
		for _, t := range c.Topics {
			p.topics[t] = true
		}
	}
	p.channels.known = map[string]map[string]string{}
	return p
}

// push is what the headers of a request say.
type push struct {
	authorization, topic, kind, id, priority, expiration, collapse, channel, request string
	twice                                                                            bool
}

// read sorts the headers that APNs knows; the others are nobody's business.
func read(fields []hpack.HeaderField) (h push) {
	for i := range fields {
		var to *string
		switch fields[i].Name {
		case "authorization":
			to = &h.authorization
		case "apns-topic":
			to = &h.topic
		case "apns-push-type":
			to = &h.kind
		case "apns-id":
			to = &h.id
		case "apns-priority":
			to = &h.priority
		case "apns-expiration":
			to = &h.expiration
		case "apns-collapse-id":
			to = &h.collapse
		case "apns-channel-id":
			to = &h.channel
		case "apns-request-id":
			to = &h.request
		default:
			continue
		}
		if *to != "" {
			h.twice = true
		}
		*to = fields[i].Value
	}
	return h
}

const (
	devicePath    = "/3/device/"
	broadcastPath = "/4/broadcasts/apps/"
	channelPath   = "/1/apps/"
)

// Serve checks a request and answers it.
func (p *provider) Serve(r *farend.Request, a *farend.Answer) {
	h := read(r.Fields)
	var token string
	switch {
	case strings.HasPrefix(r.Path, devicePath):
		token = r.Path[len(devicePath):]
	case strings.HasPrefix(r.Path, broadcastPath):
		p.broadcast(r, a, h)
		return
	case strings.HasPrefix(r.Path, channelPath):
		p.manage(r, a, h)
		return
	default:
		p.refuse(a, "BadPath")
		return
	}
	a.Device = token
	if !p.admit(r, a, h) {
		return
	}
	if reason := p.judge(r, h, token); reason != "" {
		p.refuse(a, reason)
		return
	}
	a.ID = a.Fields[0].Value
	a.Status = 200
	if !p.production {
		a.Set("apns-unique-id", newID())
	}
}

// admit checks what every request for a device or a channel has in common: method, id and who sends it.
func (p *provider) admit(r *farend.Request, a *farend.Answer, h push) bool {
	switch {
	case h.id == "":
		a.Set("apns-id", newID())
	case isID(h.id):
		a.Set("apns-id", h.id)
	default:
		a.Set("apns-id", newID())
		p.refuse(a, "BadMessageId")
		return false
	}
	switch {
	case h.twice:
		p.refuse(a, "DuplicateHeaders")
		return false
	case r.Method != "POST":
		p.refuse(a, "MethodNotAllowed")
		return false
	}
	return p.trusts(r, a, h)
}

// trusts checks the provider token, or that there is a certificate.
func (p *provider) trusts(r *farend.Request, a *farend.Answer, h push) bool {
	if p.anybody || certified(r) != "" && h.authorization == "" {
		a.Trust = farend.Trusted
		return true
	}
	last, _ := r.Memory.Value.(*verdict)
	reason, v := p.gate.check(h.authorization, last)
	if v != last {
		r.Memory.Value = v
	}
	if reason == "" {
		a.Trust = farend.Trusted
		return true
	}
	if reason != "TooManyProviderTokenUpdates" {
		a.Trust = farend.Untrusted
	}
	p.refuse(a, reason)
	return false
}

// certified is the topic of a client's certificate, "" without one.
func certified(r *farend.Request) string {
	if r.TLS == nil || len(r.TLS.PeerCertificates) == 0 {
		return ""
	}
	return r.TLS.PeerCertificates[0].Subject.CommonName
}

func (p *provider) refuse(a *farend.Answer, reason string) { p.Refuse(nil, a, reason) }

// Refuse makes an answer a refusal. The apns-id stays.
func (p *provider) Refuse(_ *farend.Request, a *farend.Answer, reason string) {
	a.Status, a.Reason = reasons[reason], reason
	a.Body = append(a.Body[:0], `{"reason":"`...)
	a.Body = append(a.Body, reason...)
	a.Body = append(a.Body, '"')
	if a.Status == 410 {
		a.Body = append(a.Body, `,"timestamp":`...)
		a.Body = strconv.AppendInt(a.Body, p.gate.now().UnixMilli(), 10)
	}
	a.Body = append(a.Body, '}')
}

// newID makes a UUID in the form that Apple uses.
func newID() string {
	var raw [16]byte
	binary.LittleEndian.PutUint64(raw[:], rand.Uint64())
	binary.LittleEndian.PutUint64(raw[8:], rand.Uint64())
	raw[6], raw[8] = raw[6]&0x0f|0x40, raw[8]&0x3f|0x80
	var b [36]byte
	hex.Encode(b[:8], raw[:4])
	hex.Encode(b[9:13], raw[4:6])
	hex.Encode(b[14:18], raw[6:8])
	hex.Encode(b[19:23], raw[8:10])
	hex.Encode(b[24:], raw[10:])
	b[8], b[13], b[18], b[23] = '-', '-', '-', '-'
	return string(b[:])
}

// isID tells whether text is 32 lowercase hexadecimal digits in five groups of 8-4-4-4-12. Capitals are known to be
// taken.
func isID(text string) bool {
	if len(text) != 36 {
		return false
	}
	for i := range len(text) {
		switch i {
		case 8, 13, 18, 23:
			if text[i] != '-' {
				return false
			}
		default:
			if !isHex(text[i]) {
				return false
			}
		}
	}
	return true
}

func isHex(c byte) bool { return c >= '0' && c <= '9' || c >= 'a' && c <= 'f' || c >= 'A' && c <= 'F' }

// isObject tells whether a payload is a JSON object.
func isObject(body []byte) bool {
	for _, c := range body {
		switch c {
		case ' ', '\t', '\r', '\n':
			continue
		case '{':
			return json.Valid(body)
		}
		return false
	}
	return false
}
