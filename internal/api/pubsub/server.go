package pubsub

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"google.golang.org/grpc"

	"github.com/hikyaku/hikyaku/batch"
	"github.com/hikyaku/hikyaku/internal/access"
	"github.com/hikyaku/hikyaku/internal/api/pubsub/push"
	"github.com/hikyaku/hikyaku/internal/door"
	"github.com/hikyaku/hikyaku/internal/javascript"
	"github.com/hikyaku/hikyaku/internal/journey"
	"github.com/hikyaku/hikyaku/internal/outbound"
	"github.com/hikyaku/hikyaku/internal/queue"
)

// Options are what a Server works with.
type Options struct {
	Store queue.Service
	Users *access.Users // nil: everyone may do everything
	Busy  *door.Busy    // what requests and answers of all doors may take; nil: an account of its own
	// Outbound says where endpoints may be that messages are pushed to. nil: anywhere while there are no users, with
	// users at public addresses alone.
	Outbound *outbound.Policy
	// JavaScript lets topics and subscriptions have message transforms. The program has to call javascript.Child first
	// in main.
	JavaScript bool
	Traffic    *door.Traffic // counts requests, connections and bytes; nil: nobody does
	// Spans says whether messages keep the context of the requests that brought them; nil: they do not.
	Spans *journey.Spans
	// Report is told what a person should know and no client is. It may be called from several goroutines. nil: nobody
	// is told.
	Report func(error)
}

// Server is the Pub/Sub door. Start and Close may be called from any goroutine, each any number of times.
type Server struct {
	config Config
	store  queue.Service
	users  *access.Users
	report func(error)
	// outbound says where messages may be pushed to; nil: anywhere.
	outbound *outbound.Policy

	traffic *door.Traffic
	spans   *journey.Spans
	busy    *door.Busy
	answers *door.Busy   // half of busy: a client may leave its streams unread for as long as it likes
	waiting atomic.Int64 // calls whose messages wait for room

	// admin is held while topics, subscriptions, snapshots and schemas are made, changed or deleted. What takes long is
	// done before: schemas are compiled and functions are looked at without it.
	admin   sync.Mutex
	changes atomic.Uint64 // of notes: what was read before is read again
	known   remembered    // *subscription by queue.Name, *topic by topicKey
	schemas remembered    // *schema.Schema by compiledKey
	// functions runs message transforms; nil: they are not served.
	functions *javascript.Pool
	acked     acked // claims that were acknowledged a short while ago
	pushers   pushers
	usage     usage
	now       func() time.Time // tests: another than time.Now

	streams    sync.Map // stream numbers → *stream
	lastStream atomic.Uint32
	settles    *batch.Grouper[*settling]
	work       sync.WaitGroup // goroutines of streams and those below

	stopping context.Context // done as soon as Close begins: pulls return
	stop     context.CancelFunc

	life   door.Life
	grpc   *grpc.Server
	calls  *framedListener // of grpc
	parts  door.Parts      // of rest
	rest   *http.Server
	split  *split
	served sync.WaitGroup
}

// New checks the settings and makes a door that does not listen yet.
func New(c Config, o Options) (*Server, error) {
	if err := c.Check(o.Users.Any()); err != nil {
		return nil, err
	}
	if o.Store == nil {
		return nil, fmt.Errorf("%w: there is no store", ErrConfig)
	}
	d := &Server{config: c.withDefaults(), store: o.Store, users: o.Users, report: o.Report, now: time.Now,
		busy: o.Busy, traffic: o.Traffic, spans: o.Spans,
		known: remembered{most: maxKnown}, schemas: remembered{most: maxCompiled}}
	if d.busy == nil {
		d.busy = door.NewBusy(door.DefaultBusy(0))
	}
	if o.JavaScript {
		d.functions = javascript.New(javascript.Options{})
	}
	d.answers = d.busy.Share(d.busy.Limit() / 2)
	if d.report == nil {
		d.report = func(error) {}
	}
	if d.outbound = o.Outbound; d.outbound == nil && o.Users.Any() {
		var err error
		if d.outbound, err = outbound.New(nil); err != nil {
			return nil, err
		}
	}
	d.pushers.changed, d.pushers.transport = make(chan struct{}, 1),
		push.NewTransport(push.TransportOptions{Outbound: d.outbound})
	d.lastStream.Store(rand.Uint32()) // ack ids of an earlier process meet no stream of this one
	d.stopping, d.stop = context.WithCancel(context.Background())
	return d, nil
}

// Start listens and returns the address, with the port that was found when Config asks for port 0. A door that is off
// returns nil, nil. Requests are served until Close; ctx only bounds the start.
func (d *Server) Start(ctx context.Context) (net.Addr, error) {
	return d.life.Start(func() (net.Addr, error) { return d.open(ctx) })
}

func (d *Server) open(ctx context.Context) (net.Addr, error) {
	if d.config.Off {
		return nil, nil
	}
	tlsConfig, err := d.tls()
	if err != nil {
		return nil, err
	}
	calls := d.newGRPC()
	web, err := d.newREST()
	if err != nil {
		return nil, err
	}
	listener, err := d.traffic.Open(ctx, new(net.ListenConfig), d.config.Listen)
	if err != nil {
		return nil, fmt.Errorf("pubsub door: cannot listen on %s: %w", d.config.Listen, err)
	}
	d.grpc, d.rest = calls, web
	d.parts.Watch(d.rest)
	d.settles = batch.New(batch.Config[*settling]{MaxCount: 64, Handlers: 2, Handle: d.settleAll})
	standing := d.busy.StandingOfDoor()
	d.split = newSplit(door.Standing(d.traffic.Listen(listener), standing, tlsConfig != nil), tlsConfig,
		d.config.MaxConnections, d.traffic)
	d.served.Go(d.split.run)
	d.served.Go(d.keepHouse)
	d.served.Go(d.push)
	plain := door.Heads(door.Stalling(d.split.rest), standing)
	d.calls = framed(door.Stalling(d.split.grpc), standing)
	d.served.Go(func() {
		if err := d.grpc.Serve(knowing{d.calls}); err != nil &&
			!errors.Is(err, grpc.ErrServerStopped) && !errors.Is(err, net.ErrClosed) {
			d.report(fmt.Errorf("pubsub door: gRPC: %w", err))
		}
	})
	d.served.Go(func() {
		if err := d.rest.Serve(plain); err != nil && !errors.Is(err, http.ErrServerClosed) &&
			!errors.Is(err, net.ErrClosed) {
			d.report(fmt.Errorf("pubsub door: REST: %w", err))
		}
	})
	return listener.Addr(), nil
}

// Addr is where the door listens; nil before Start.
func (d *Server) Addr() net.Addr { return d.life.Addr() }

// Close stops listening, ends streams and waiting pulls, and waits for the calls under way. When ctx ends first, their
// connections are cut. What clients hold stays theirs until its deadline. A second Close returns what the first one
// did.
func (d *Server) Close(ctx context.Context) error {
	d.stop()
	if d.functions != nil {
		defer d.functions.Close()
	}
	return d.life.Close(func() error { return d.end(ctx) })
}

// cutIdle cuts clients that do nothing until all are gone. The first of them is a client to which a stop has been told
// for PartTime; one whose call got its answer only then follows.
func (d *Server) cutIdle(gone <-chan struct{}) {
	again := time.NewTicker(door.PartTime)
	defer again.Stop()
	for {
		select {
		case <-gone:
			return
		case <-again.C:
			d.calls.cut()
		}
	}
}

func (d *Server) end(ctx context.Context) error {
	d.split.close()
	cut := time.AfterFunc(door.PartTime, d.parts.Cut)
	defer cut.Stop()
	patient := make(chan struct{})
	go func() {
		defer close(patient)
		d.grpc.GracefulStop()
	}()
	d.served.Go(func() { d.cutIdle(patient) })
	ended := d.rest.Shutdown(ctx)
	select {
	case <-patient:
	case <-ctx.Done():
		ended = errors.Join(ended, ctx.Err())
		d.grpc.Stop() // lets GracefulStop return
		<-patient
	}
	if ended != nil {
		_ = d.rest.Close() // Shutdown's error says what happened
	}
	d.served.Wait()
	_ = d.settles.Close() // it returns none
	d.work.Wait()
	return ended
}
