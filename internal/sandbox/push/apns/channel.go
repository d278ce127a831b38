package apns

import (
	"crypto/rand"
	"encoding/base64"
	"encoding/json"
	"strings"
	"sync"

	"github.com/hikyaku/hikyaku/internal/sandbox/push/farend"
)

const maxChannels = 10_000 // of an app, as Apple allows

// channels are those that were made, by app: id → the JSON that describes it.
type channels struct {
	mu    sync.Mutex
	known map[string]map[string]string
}

// broadcast takes a push to everybody who follows a channel.
func (p *provider) broadcast(r *farend.Request, a *farend.Answer, h push) {
	app := r.Path[len(broadcastPath):]
	a.Device = "channel " + h.channel
	if h.request != "" && isID(h.request) {
		a.Set("apns-request-id", h.request)
	} else {
		a.Set("apns-request-id", newID())
	}
	switch {
	case h.request != "" && !isID(h.request):
		p.refuse(a, "BadRequestId")
		return
	case r.Method != "POST":
		p.refuse(a, "MethodNotAllowed")
		return
	case h.twice:
		p.refuse(a, "DuplicateHeaders")
		return
	case !p.trusts(r, a, h):
		return
	}
	if reason := p.judgeBroadcast(r, h, app); reason != "" {
		p.refuse(a, reason)
		return
	}
	a.ID, a.Status = a.Fields[0].Value, 200
	if !p.production {
		a.Set("apns-unique-id", newID())
	}
}

func (p *provider) judgeBroadcast(r *farend.Request, h push, app string) string {
	switch {
	case app == "" || strings.Contains(app, "/"):
		return "BadPath"
	case p.topics != nil && !p.topics[app]:
		return "TopicDisallowed"
	case h.kind == "":
		return "MissingPushType"
	case h.kind != "liveactivity":
		return "InvalidPushType"
	case h.expiration == "":
		return "MissingExpirationDate"
	case h.channel == "":
		return "MissingChannelId"
	}
	if _, err := base64.StdEncoding.DecodeString(h.channel); err != nil {
		return "BadChannelId"
	}
	if reason := headers(h); reason != "" {
		return reason
	}
	p.channels.mu.Lock()
	_, ok := p.channels.known[app][h.channel]
	p.channels.mu.Unlock()
	if !ok {
		return "ChannelNotRegistered"
	}
	return payload(r.Body, maxVoIP)
}

// manage makes, shows, lists and deletes channels.
func (p *provider) manage(r *farend.Request, a *farend.Answer, h push) {
	app, what, _ := strings.Cut(r.Path[len(channelPath):], "/")
	a.Set("apns-request-id", newID())
	if app == "" || what != "channels" && what != "all-channels" {
		p.refuse(a, "BadPath")
		return
	}
	if !p.trusts(r, a, h) {
		return
	}
	if p.topics != nil && !p.topics[app] {
		p.refuse(a, "TopicDisallowed")
		return
	}
	p.channels.mu.Lock()
	defer p.channels.mu.Unlock()
	all := p.channels.known[app]
	switch r.Method + " " + what {
	case "GET all-channels":
		ids := make([]string, 0, len(all))
		for id := range all {
			ids = append(ids, id)
		}
		body, err := json.Marshal(map[string][]string{"channels": ids})
		if err != nil {
			p.refuse(a, "InternalServerError")
			return
		}
		a.Status, a.Body = 200, append(a.Body, body...)
	case "POST channels":
		p.create(r, a, app)
	case "GET channels", "DELETE channels":
		text, ok := all[h.channel]
		switch {
		case h.channel == "":
			p.refuse(a, "MissingChannelId")
		case !ok:
			p.refuse(a, "ChannelNotRegistered")
		case r.Method == "DELETE":
			delete(all, h.channel)
			a.Status = 204
		default:
			a.Status, a.Body = 200, append(a.Body, text...)
		}
	default:
		p.refuse(a, "MethodNotAllowed")
	}
}

// create makes a channel. p.channels.mu is held.
func (p *provider) create(r *farend.Request, a *farend.Answer, app string) {
	var want struct {
		Policy *int   `json:"message-storage-policy"`
		Type   string `json:"push-type"`
	}
	switch err := json.Unmarshal(r.Body, &want); {
	case err != nil:
		p.refuse(a, "BadMessage")
		return
	case !strings.EqualFold(want.Type, "LiveActivity"):
		p.refuse(a, "InvalidPushType")
		return
	case want.Policy == nil || *want.Policy < 0 || *want.Policy > 1:
		p.refuse(a, "InvalidStoragePolicy")
		return
	case len(p.channels.known[app]) >= maxChannels:
		p.refuse(a, "MaxChannelsReached")
		return
	}
	var raw [16]byte
	rand.Read(raw[:]) // never fails
	id := base64.StdEncoding.EncodeToString(raw[:])
	if p.channels.known[app] == nil {
		p.channels.known[app] = map[string]string{}
	}
	p.channels.known[app][id] = string(r.Body)
	a.Set("apns-channel-id", id)
	a.Status = 201
}
