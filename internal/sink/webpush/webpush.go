package webpush

import (
	"cmp"
	"context"
	"hash/maphash"
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
	"github.com/hikyaku/hikyaku/internal/push/token"
	"github.com/hikyaku/hikyaku/internal/queue"
)

// Sink sends messages. It is a component.AsyncSink.
type Sink struct {
	sender.Entry
	name        string
	store       dead.Store
	tokens      *token.VAPID
	program     *payload.Program
	urgency     string
	topic       string
	ttl         time.Duration
	services    []string
	caFile      string
	feedback    queue.Name
	proxy       string // as outbound.Policy.Tunnel has it
	deadFor     time.Duration
	connections int
	most        int
	clock       func() time.Time
	reach       *outbound.Policy

	ready   atomic.Bool // what Start makes is there
	sealer  *sealer
	pool    *pool.Pool
	dead    *dead.Registry
	devices rest.Devices
	failed  avoid.Failures
	newest  collapse.Memory
	backlog *collapse.Backlog
	counts  outcome.Counts
	watches watches
	seed    maphash.Seed // of the hashes that tell subscriptions apart
}

var (
	_ component.AsyncSink = (*Sink)(nil)
	_ component.Receipted = (*Sink)(nil)
	_ dead.Keeper         = (*Sink)(nil)
	_ figure.Teller       = (*Sink)(nil)
)

// Waits tells why nothing is sent to one of the push services.
func (s *Sink) Waits() error { return cmp.Or(s.watches.reason(), s.pool.Waits(s.clock())) }

// Limits: the far ends say themselves how much they take.
func (s *Sink) Limits() component.SinkLimits {
	return component.SinkLimits{InFlight: streamsEach * s.connections * len(usual)}
}

// Start reads the key, and the memory of dead subscriptions. It connects to nobody: the first message does.
func (s *Sink) Start(ctx context.Context) error {
	if err := s.backlog.Start(ctx); err != nil {
		return component.Setting("backlog", err)
	}
	if _, err := s.tokens.Public(); err != nil {
		return err
	}
	secure, err := push.Trust(s.caFile)
	if err != nil {
		return component.Setting("ca_file", err)
	}
	if s.sealer, err = newSealer(); err != nil {
		return err
	}
	if err := s.dead.Start(ctx); err != nil {
		return err
	}
	dial, err := push.Through(s.proxy, secure, s.reach)
	if err != nil {
		return err
	}
	s.pool = pool.New(secure, s.connections, s.most, dial)
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

// Close gives up what is in flight, ends the connections, and keeps what was learned of dead subscriptions.
func (s *Sink) Close() error {
	if s.pool != nil {
		s.pool.Close()
	}
	s.watches.close()
	return s.dead.Close()
}

// DeadDevices is what the sink remembers of dead subscriptions. It is not read before Start.
func (s *Sink) DeadDevices() *dead.Registry { return s.dead }
