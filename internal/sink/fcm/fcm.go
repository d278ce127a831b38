package fcm

import (
	"cmp"
	"context"
	"fmt"
	"hash/maphash"
	"maps"
	"slices"
	"sync/atomic"
	"time"

	"github.com/hikyaku/hikyaku/internal/component"
	"github.com/hikyaku/hikyaku/internal/push"
	"github.com/hikyaku/hikyaku/internal/push/avoid"
	"github.com/hikyaku/hikyaku/internal/push/collapse"
	"github.com/hikyaku/hikyaku/internal/push/dead"
	"github.com/hikyaku/hikyaku/internal/push/figure"
	"github.com/hikyaku/hikyaku/internal/push/outcome"
	"github.com/hikyaku/hikyaku/internal/push/payload"
	"github.com/hikyaku/hikyaku/internal/push/rest"
	"github.com/hikyaku/hikyaku/internal/push/sender"
	"github.com/hikyaku/hikyaku/internal/queue"
)

// Sink sends messages. It is a component.AsyncSink.
type Sink struct {
	sender.Entry
	name        string
	store       dead.Store
	projects    map[string]*project
	only        *project // where there is one
	program     *payload.Program
	priority    string // HIGH, NORMAL, or "": not said
	collapseKey string
	ttl         time.Duration
	feedback    queue.Name
	proxy       string // as outbound.Policy.Tunnel has it
	deadFor     time.Duration
	connections int
	clock       func() time.Time
	sender      *sender.Sender

	ready   atomic.Bool             // what Start makes is there
	clients map[string]*push.Client // by address and certificates
	dead    *dead.Registry
	devices rest.Devices
	failed  avoid.Failures
	newest  collapse.Memory
	counts  outcome.Counts
	seed    maphash.Seed // of the hashes that tell devices apart
}

var (
	_ component.AsyncSink = (*Sink)(nil)
	_ component.Receipted = (*Sink)(nil)
	_ dead.Keeper         = (*Sink)(nil)
	_ figure.Teller       = (*Sink)(nil)
)

// Waits tells why nothing is sent: no connection, or a project whose account may not send, or wants a rest.
func (s *Sink) Waits() error {
	now := s.clock()
	return rest.Reasons("project", s.projects, func(p *project) error {
		return cmp.Or(p.Rests(now), p.client.Waits(), p.Watches.Why())
	})
}

// Limits: the far end says itself how much it takes.
func (s *Sink) Limits() component.SinkLimits {
	ends := map[string]bool{}
	for _, p := range s.projects {
		ends[p.identity()] = true
	}
	return component.SinkLimits{InFlight: streamsEach * s.connections * len(ends)}
}

// Start reads the keys of the accounts, and the memory of dead devices. It connects to nobody: the first message does.
func (s *Sink) Start(ctx context.Context) error {
	if err := s.sender.Backlog.Start(ctx); err != nil {
		return component.Setting("backlog", err)
	}
	s.clients = map[string]*push.Client{}
	for _, name := range slices.Sorted(maps.Keys(s.projects)) {
		if err := s.open(s.projects[name]); err != nil {
			s.hangUp()
			return fmt.Errorf("project %s: %w", name, err)
		}
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
	d := &delivery{sink: s, message: c.Message, Delivery: sender.Delivery{Call: c, Sender: s.sender}}
	d.Way = d
	if c.Receipt {
		d.Tell(d.Fill)
	}
	if d.prepare(s.clock()) {
		d.Enter()
	}
}

// Close gives up what is in flight, ends the connections, and keeps what was learned of dead devices.
func (s *Sink) Close() error {
	s.hangUp()
	for _, p := range s.projects {
		p.Watches.Close()
	}
	return s.dead.Close()
}

// DeadDevices is what the sink remembers of dead devices. It is not read before Start.
func (s *Sink) DeadDevices() *dead.Registry { return s.dead }

func (s *Sink) hangUp() {
	for _, p := range s.projects {
		p.close()
	}
	for _, c := range s.clients {
		c.HangUp()
	}
}
