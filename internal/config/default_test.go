package config

import (
	"strings"
	"testing"

	"github.com/hikyaku/hikyaku/internal/queue"
)

// A default of queues is a constant of the store. Tags and comments cannot name it, so they are held to it here.
func TestDefaultsOfQueuesAreThoseOfTheStore(t *testing.T) {
	d := parse(t, "x.yaml", "queues: { a: {} }").Queues[0].Definition
	if d.Lease != queue.DefaultLease || d.DedupWindow != queue.DefaultDedupWindow {
		t.Errorf("a queue of a file has the lease %v and the window %v, the store's defaults are %v and %v", d.Lease,
			d.DedupWindow, queue.DefaultLease, queue.DefaultDedupWindow)
	}
	written := strings.Replace(queue.DefaultLease.String(), "s", " s", 1)
	if source := "how long a message waits after a kill. 0: " + written; !strings.Contains(Reference(), source) {
		t.Errorf("the reference does not say of the queue source %q", source)
	}
}
