package apns

import (
	"fmt"
	"slices"
	"sync"

	"github.com/hikyaku/hikyaku/internal/push"
)

// mostNotices bounds what is kept for the log: the first ones tell what is wrong.
const mostNotices = 100

// notices is what a person should know of: why nothing is sent. The zero value is ready.
type notices struct {
	mu   sync.Mutex
	list []string
	down map[string]string // by address: why the last connection came to nothing
}

func (n *notices) add(text string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if len(n.list) < mostNotices {
		n.list = append(n.list, text)
	}
}

// connection notes when connections cannot be made, once for each cause, and when they can again.
func (n *notices) connection(address string, e push.Event) {
	switch e.Kind {
	case push.DialFailed:
		text := e.Err.Error()
		n.mu.Lock()
		was := n.down[address]
		if n.down == nil {
			n.down = map[string]string{}
		}
		n.down[address] = text
		n.mu.Unlock()
		if was != text {
			n.add(fmt.Sprintf("no connection to %s, messages wait: %s", address, text))
		}
	case push.Connected:
		n.mu.Lock()
		was := n.down[address]
		delete(n.down, address)
		n.mu.Unlock()
		if was != "" {
			n.add("connected to " + address + " again")
		}
	}
}

// Notices are for the log: why nothing is sent to a far end, and why nothing is sent with a key. The list only grows, and is bounded.
func (s *Sink) Notices() []string {
	s.notices.mu.Lock()
	defer s.notices.mu.Unlock()
	return slices.Clone(s.notices.list)
}
