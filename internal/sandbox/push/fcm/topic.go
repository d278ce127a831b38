package fcm

import (
	"encoding/json"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/hikyaku/hikyaku/internal/sandbox/push/farend"
)

const (
	mostMembers  = 1_000_000 // of all topics
	mostTopics   = 2000      // of a device
	mostImported = 1000      // of a request of the older API
	exhausted    = "RESOURCE_EXHAUSTED"
	exists       = "ALREADY_EXISTS"
)

// members are the topics of devices.
type members struct {
	mu sync.Mutex
	n  int
	by map[string]map[string]time.Time // topics by project and device
}

// add makes a device a member: "", or the code of the error.
func (m *members) add(project, device, topic string, now time.Time) string {
	m.mu.Lock()
	defer m.mu.Unlock()
	key := project + "/" + device
	switch topics := m.by[key]; {
	case !topics[topic].IsZero():
		return exists
	case m.n >= mostMembers || len(topics) >= mostTopics:
		return exhausted
	case topics == nil:
		if m.by == nil {
			m.by = map[string]map[string]time.Time{}
		}
		m.by[key] = map[string]time.Time{topic: now}
	default:
		topics[topic] = now
	}
	m.n++
	return ""
}

// remove tells whether a device was a member.
func (m *members) remove(project, device, topic string) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	key := project + "/" + device
	if m.by[key][topic].IsZero() {
		return false
	}
	delete(m.by[key], topic)
	if len(m.by[key]) == 0 {
		delete(m.by, key)
	}
	m.n--
	return true
}

// of are the topics of a device, with since when.
func (m *members) of(project, device string) (topics []string, since map[string]time.Time) {
	m.mu.Lock()
	defer m.mu.Unlock()
	since = map[string]time.Time{}
	for topic, at := range m.by[project+"/"+device] {
		topics = append(topics, topic)
		since[topic] = at
	}
	slices.Sort(topics)
	return topics, since
}

// Topics are those that a device of a project is a member of, in alphabetical order.
func (s *Server) Topics(project, device string) []string {
	topics, _ := s.provider.members.of(project, device)
	return topics
}

// subscription is a device's membership as the API shows it.
type subscription struct {
	Name    string    `json:"name"`
	Topic   string    `json:"topic_name"`
	Created time.Time `json:"create_time"`
}

// subscriptions answers for registrations/DEVICE/topicSubscriptions of a project, and what is below.
func (p *provider) subscriptions(r *farend.Request, a *farend.Answer, project, path string, query url.Values) {
	device, rest, ok := strings.Cut(path, "/topicSubscriptions")
	device, err := url.PathUnescape(device)
	if !ok || err != nil || rest != "" && rest[0] != '/' {
		refuse(a, notFound, "")
		return
	}
	if !isDevice(device) {
		refuse(a, invalid, "the registration is neither a token nor an installation id")
		return
	}
	topic, err := url.PathUnescape(strings.TrimPrefix(rest, "/"))
	if r.Method == "POST" {
		topic = query.Get("topic_name")
	}
	switch {
	case err != nil || r.Method != "GET" && !topicText.MatchString(topic):
		refuse(a, invalid, "invalid topic name")
	case r.Method == "POST" && rest == "":
		now := p.office.now().UTC()
		if code := p.members.add(project, device, topic, now); code != "" {
			refuse(a, code, "")
			return
		}
		a.Status, a.Body = 200, appendJSON(a.Body, shown(project, device, topic, now))
	case r.Method == "DELETE":
		if !p.members.remove(project, device, topic) && query.Get("allow_missing") != "true" {
			refuse(a, notFound, "")
			return
		}
		a.Status, a.Body = 200, append(a.Body, "{}"...)
	case r.Method == "GET" && rest == "":
		var list struct {
			All []subscription `json:"topic_subscriptions,omitempty"`
		}
		topics, since := p.members.of(project, device)
		for _, topic := range topics {
			list.All = append(list.All, shown(project, device, topic, since[topic]))
		}
		a.Status, a.Body = 200, appendJSON(a.Body, list)
	default:
		refuse(a, notFound, "")
	}
}

func shown(project, device, topic string, at time.Time) subscription {
	return subscription{"projects/" + project + "/registrations/" + device + "/topicSubscriptions/" + topic, topic, at}
}

func isDevice(text string) bool {
	return fidText.MatchString(text) || len(text) >= minToken && len(text) <= maxToken && tokenText.MatchString(text)
}

// batch answers for the older API: /iid/v1:batchAdd and batchRemove.
func (p *provider) batch(r *farend.Request, a *farend.Answer, add bool) {
	project, known := p.office.projectOf(r.Get("authorization"))
	var asked struct {
		To     string   `json:"to"`
		Tokens []string `json:"registration_tokens"`
	}
	says := func(status int, word string) {
		a.Status, a.Reason, a.Body = status, word, appendJSON(a.Body[:0], map[string]string{"error": word})
	}
	topic, ok := "", false
	if json.Unmarshal(r.Body, &asked) == nil {
		topic, ok = strings.CutPrefix(asked.To, "/topics/")
	}
	switch {
	case r.Get("access_token_auth") != "true" || !known && !p.anybody:
		a.Trust = farend.Untrusted
		says(401, "Unauthenticated")
		return
	case !ok || !topicText.MatchString(topic) || len(asked.Tokens) == 0 || r.Method != "POST":
		says(400, "InvalidParameters")
		return
	case len(asked.Tokens) > mostImported:
		says(400, "TooManyTokens")
		return
	}
	a.Trust = farend.Trusted
	results := make([]map[string]string, len(asked.Tokens))
	for i, device := range asked.Tokens {
		results[i] = map[string]string{}
		code := ""
		switch {
		case !isDevice(device):
			code = invalid
		case add:
			code = p.members.add(project, device, topic, p.office.now().UTC())
		default:
			p.members.remove(project, device, topic)
		}
		if code == exhausted {
			code = "TOO_MANY_TOPICS"
		}
		if code != "" && code != exists {
			results[i]["error"] = code
		}
	}
	a.Status, a.Body = 200, appendJSON(a.Body, map[string]any{"results": results})
}
