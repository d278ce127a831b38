package wns

import (
	"cmp"
	"context"
	"fmt"
	"hash/maphash"
	"maps"
	"net/http"
	"slices"
	"sync/atomic"
	"time"

	"github.com/hikyaku/hikyaku/internal/component"
	"github.com/hikyaku/hikyaku/internal/outbound"
	"github.com/hikyaku/hikyaku/internal/push"
	"github.com/hikyaku/hikyaku/internal/push/avoid"
	"github.com/hikyaku/hikyaku/internal/push/collapse"
	"github.com/hikyaku/hikyaku/internal/push/dead"
	"github.com/hikyaku/hikyaku/internal/push/figure"
	"github.com/hikyaku/hikyaku/internal/push/outcome"
	"github.com/hikyaku/hikyaku/internal/push/payload"
	"github.com/hikyaku/hikyaku/internal/push/pool"
	"github.com/hikyaku/hikyaku/internal/push/rest"
	"github.com/hikyaku/hikyaku/internal/push/sender"
	"github.com/hikyaku/hikyaku/internal/queue"
)

// Sink sends messages. It is a component.AsyncSink.
type Sink struct {
	sender.Entry
	name        string
	store       dead.Store
	apps        map[string]*app
	only        *app // where there is one
	program     *payload.Program
	pushType    string
	ttl         time.Duration
	hosts       []string
	caFile      string
	feedback    queue.Name
	proxy       string // as outbound.Policy.Tunnel has it
	deadFor     time.Duration
	connections int
	most        int
	clock       func() time.Time
	sender      *sender.Sender
	reach       *outbound.Policy

	ready   atomic.Bool     // what Start makes is there
	asker   *http.Transport // for access tokens
	pool    *pool.Pool
	dead    *dead.Registry
	devices rest.Devices
	failed  avoid.Failures
	newest  collapse.Memory
	counts  outcome.Counts
	seed    maphash.Seed // of the hashes that tell channels apart
}

var (
	_ component.AsyncSink = (*Sink)(nil)
	_ component.Receipted = (*Sink)(nil)
	_ dead.Keeper         = (*Sink)(nil)
	_ figure.Teller       = (*Sink)(nil)
)

// Waits tells why nothing is sent: no connection, or an app whose secret is refused, or that rests.
func (s *Sink) Waits() error {
	now := s.clock()
	resting := rest.Reasons("app", s.apps, func(a *app) error { return cmp.Or(a.Rests(now), a.Watches.Why()) })
	return cmp.Or(resting, s.pool.Waits(now))
}

// Limits: the far end says itself how much it takes.
func (s *Sink) Limits() component.SinkLimits { return component.SinkLimits{InFlight: inFlight} }

// Start reads the secrets of the apps, and the memory of dead channels. It connects to nobody: the first message does.
func (s *Sink) Start(ctx context.Context) error {
	if err := s.sender.Backlog.Start(ctx); err != nil {
		return component.Setting("backlog", err)
	}
	secure, err := push.Trust(s.caFile)
	if err != nil {
		return component.Setting("ca_file", err)
	}
	if s.asker, err = sender.Asker(s.proxy, secure); err != nil {
		return err
	}
	dial, err := push.Through(s.proxy, secure, s.reach)
	if err != nil {
		return err
	}
	for _, name := range slices.Sorted(maps.Keys(s.apps)) {
		if err := s.apps[name].open(s.asker); err != nil {
			s.hangUp()
			return fmt.Errorf("app %s: %w", name, err)
		}
	}
	if err := s.dead.Start(ctx); err != nil {
		s.hangUp()
		return err
	}
	s.pool = pool.New(secure, s.connections, s.most, dial)
	s.ready.Store(true)
	return nil
}

// begin begins to send a message.
func (s *Sink) begin(c sender.Call) {
	d := &delivery{sink: s, Delivery: sender.Delivery{Call: c, Sender: s.sender}}
	d.Way = d
	if c.Receipt {
		d.Tell(d.Fill)
	}
	if d.prepare(s.clock()) {
		d.Enter()
	}
}

// Close gives up what is in flight, ends the connections, and keeps what was learned of dead channels.
func (s *Sink) Close() error {
	s.hangUp()
	for _, a := range s.apps {
		a.Watches.Close()
	}
	return s.dead.Close()
}

// DeadDevices is what the sink remembers of dead channels. It is not read before Start.
func (s *Sink) DeadDevices() *dead.Registry { return s.dead }

func (s *Sink) hangUp() {
	for _, a := range s.apps {
		a.HangUp()
	}
	if s.pool != nil {
		s.pool.Close()
	}
	if s.asker != nil {
		s.asker.CloseIdleConnections()
	}
}
