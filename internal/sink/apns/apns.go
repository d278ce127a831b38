package apns

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"sync/atomic"
	"time"

	"github.com/hikyaku/hikyaku/internal/component"
	"github.com/hikyaku/hikyaku/internal/push/avoid"
	"github.com/hikyaku/hikyaku/internal/push/collapse"
	"github.com/hikyaku/hikyaku/internal/push/dead"
	"github.com/hikyaku/hikyaku/internal/push/figure"
	"github.com/hikyaku/hikyaku/internal/push/outcome"
	"github.com/hikyaku/hikyaku/internal/push/payload"
	"github.com/hikyaku/hikyaku/internal/push/rest"
	"github.com/hikyaku/hikyaku/internal/push/sender"
	"github.com/hikyaku/hikyaku/internal/push/suspect"
	"github.com/hikyaku/hikyaku/internal/queue"
)

// Sink sends pushes. It is a component.AsyncSink.
type Sink struct {
	sender.Entry
	name        string
	store       dead.Store
	apps        map[string]*app
	only        *app // the app where there is one
	payload     *payload.Program
	pushType    string
	priority    int
	ttl         time.Duration
	collapseID  string
	feedback    queue.Name
	proxy       string // as outbound.Policy.Tunnel has it
	deadFor     time.Duration
	connections int
	clock       func() time.Time

	ready   atomic.Bool // what Start makes is there
	lines   []*line
	dead    *dead.Registry
	devices rest.Devices
	failed  avoid.Failures
	newest  collapse.Memory
	backlog *collapse.Backlog
	counts  outcome.Counts
}

var (
	_ component.AsyncSink = (*Sink)(nil)
	_ component.Receipted = (*Sink)(nil)
	_ component.Counter   = (*Sink)(nil)
	_ dead.Keeper         = (*Sink)(nil)
	_ figure.Teller       = (*Sink)(nil)
)

// Waits tells why nothing is sent: no connection, or a key that the far end does not trust.
func (s *Sink) Waits() error {
	if !s.ready.Load() {
		return nil
	}
	return rest.Reasons("app", s.apps, func(a *app) error {
		return cmp.Or(a.pause.why(), a.client.Waits(), a.watches.why())
	})
}

// Limits: the far end says itself how much it takes.
func (s *Sink) Limits() component.SinkLimits {
	keys := map[string]bool{}
	for _, a := range s.apps {
		keys[a.identity()] = true
	}
	return component.SinkLimits{InFlight: streamsEach * s.connections * len(keys)}
}

// Start reads keys, certificates and the memory of dead devices. It connects to nobody: the first message does.
func (s *Sink) Start(ctx context.Context) error {
	if err := s.backlog.Start(ctx); err != nil {
		return component.Setting("backlog", err)
	}
	shared := map[string]*line{}
	for _, name := range slices.Sorted(maps.Keys(s.apps)) {
		a := s.apps[name]
		l := shared[a.identity()]
		if l == nil {
			var err error
			if l, err = a.open(s.connections, s.proxy); err != nil {
				s.hangUp()
				return fmt.Errorf("app %s: %w", name, err)
			}
			shared[a.identity()] = l
			s.lines = append(s.lines, l)
		}
		a.client, a.key, a.pause, a.outage = l.client, l.key, l.pause, l.outage
	}
	if err := s.dead.Start(ctx); err != nil {
		s.hangUp()
		return err
	}
	s.ready.Store(true)
	return nil
}

// begin begins to send a message.
func (s *Sink) begin(c sender.Call) {
	d := &delivery{Call: c, sink: s}
	if c.Receipt {
		d.Tell(d.fillReceipt)
	}
	if d.prepare(s.clock()) {
		d.watched()
	}
}

// Close gives up what is in flight, ends the connections, and keeps what was learned of dead devices.
func (s *Sink) Close() error {
	s.hangUp()
	for _, a := range s.apps {
		a.watches.each((*suspect.Watch).Close)
	}
	return s.dead.Close()
}

// DeadDevices is what the sink remembers of dead devices. It is not read before Start.
func (s *Sink) DeadDevices() *dead.Registry { return s.dead }

func (s *Sink) hangUp() {
	for _, l := range s.lines {
		l.client.HangUp()
	}
}
