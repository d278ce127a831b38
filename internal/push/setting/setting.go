// Package setting checks the settings that all sinks that push have: how long something is, the queue for feedback, the
// backlog. What is wrong is a component.SettingError, so that the user is shown the line.
//
//	err := setting.Durations(c.TTL, c.DeadFor)
//	feedback, err := setting.Queue("feedback", c.Feedback)
//	backlog, err := setting.Backlog(c.Backlog, env.Store, "token", "collapse_id", "app")
//
// What is one sink's own (topics, keys, the far end's bounds) is checked there.
package setting

import (
	"fmt"
	"net"
	"strings"
	"time"

	"github.com/hikyaku/hikyaku/internal/component"
	"github.com/hikyaku/hikyaku/internal/outbound"
	"github.com/hikyaku/hikyaku/internal/push/collapse"
	"github.com/hikyaku/hikyaku/internal/queue"
)

// Durations refuses ttl and deadFor, the settings ttl and dead_for, where they are negative.
func Durations(ttl, deadFor time.Duration) error {
	switch {
	case ttl < 0:
		return component.Setting("ttl", fmt.Errorf("%v is negative", ttl))
	case deadFor < 0:
		return component.Setting("dead_for", fmt.Errorf("%v is negative", deadFor))
	}
	return nil
}

// Queue is the queue or topic that a setting names; the zero Name where it names none.
func Queue(name, text string) (queue.Name, error) {
	if text == "" {
		return queue.Name{}, nil
	}
	n, err := queue.ParseName(text)
	if err != nil {
		return queue.Name{}, component.Setting(name, err)
	}
	return n, nil
}

// Backlog looks for newer pushes in the queue that the setting backlog names: those whose attributes, of these names,
// are the same. It is nil where the setting names none, and where there is no store, because only the settings are
// checked.
func Backlog(text string, store queue.Service, attributes ...string) (*collapse.Backlog, error) {
	n, err := Queue("backlog", text)
	if err != nil || text == "" || store == nil {
		return nil, err
	}
	return collapse.NewBacklog(store, n, attributes...), nil
}

// Proxy checks the setting of a proxy outwards.
func Proxy(text string) error {
	if err := outbound.CheckProxy(text); err != nil {
		return component.Setting("proxy", err)
	}
	return nil
}

// Hosts checks names of hosts: as push.example.com, push.example.com:8443, *.example.com, or * alone.
func Hosts(name string, hosts []string) error {
	for i, host := range hosts {
		if host == "" || strings.ContainsAny(host, "/ ") || strings.Contains(strings.TrimPrefix(host, "*."), "*") &&
			host != "*" {
			return component.Setting(fmt.Sprintf("%s[%d]", name, i),
				fmt.Errorf("%q is no host, as push.example.com or *.example.com", host))
		}
	}
	return nil
}

// Address is where a far end is by a setting of this name, host:port with or without https:// before it; what is usual
// where it says nothing.
func Address(name, text, usual string) (string, error) {
	if text == "" {
		return usual, nil
	}
	address := strings.TrimSuffix(strings.TrimPrefix(text, "https://"), "/")
	if _, _, err := net.SplitHostPort(address); err != nil || strings.Contains(address, "/") {
		return "", component.Setting(name, fmt.Errorf("%q is not of the form host:port", text))
	}
	return address, nil
}

// MayPost tells whether a host, with its port where it is not 443, is one of those.
func MayPost(hosts []string, host string) bool {
	for _, s := range hosts {
		if s == "*" || strings.EqualFold(s, host) {
			return true
		}
		if below, ok := strings.CutPrefix(s, "*"); ok && len(host) > len(below) &&
			strings.EqualFold(host[len(host)-len(below):], below) {
			return true
		}
	}
	return false
}
