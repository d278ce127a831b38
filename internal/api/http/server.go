package http

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"sync/atomic"

	"github.com/hikyaku/hikyaku/internal/access"
	"github.com/hikyaku/hikyaku/internal/campaign"
	"github.com/hikyaku/hikyaku/internal/deployment"
	"github.com/hikyaku/hikyaku/internal/door"
	"github.com/hikyaku/hikyaku/internal/journal"
	"github.com/hikyaku/hikyaku/internal/journey"
	"github.com/hikyaku/hikyaku/internal/mask"
	"github.com/hikyaku/hikyaku/internal/pipeline"
	"github.com/hikyaku/hikyaku/internal/push/dead"
	"github.com/hikyaku/hikyaku/internal/queue"
)

// Options are what a Server works with.
type Options struct {
	Store   Store
	Users   *access.Users               // nil: everyone may do everything
	Metrics *Metrics                    // nil: the server makes its own
	Ready   func(context.Context) error // nil: ready from Start to Close. What it returns is shown by /readyz
	Busy    *door.Busy                  // what requests and answers of all doors may take; nil: an account of its own
	// counts requests, connections and bytes under the names of all doors; nil: nobody does
	Traffic *door.Traffic
	// Dead is what the sinks that there are remember of dead devices, by their names; nil: there are none.
	Dead func() map[string]*dead.Registry
	// Reload reads the configuration again, or only tells what that would change. nil: there is none (ErrNoReload).
	Reload func(dryRun bool) (Reloaded, error)
	// Push sends messages through the sinks that run; nil: there are none.
	Push Pusher
	// Campaigns are those of the store; nil: there are none.
	Campaigns *campaign.Registry
	// Functions are those of the store; nil: there are none.
	Functions *deployment.Registry
	// Components tells what the steps of the pipelines have done so far; nil: there are none.
	Components func() []pipeline.NodeStats
	// Describe tells what the configuration says of a step of the pipelines; nil: nothing.
	Describe func(component string) ComponentSettings
	// Doors are what is counted of all doors, by their names. It does not change any more.
	Doors map[string]*door.Traffic
	// DataDir is the folder whose disk's room users are told; "": none.
	DataDir string
	// Trace remembers where messages have been; nil: nothing does.
	Trace *journey.Store
	// Taps let users watch messages; nil: nobody may. What Secrets has at the time is blanked in what they are told;
	// nil: nothing is.
	Taps    *journey.Taps
	Secrets func() mask.Masker
	// Audit is told of acts that are not done through the store, with counts of what they did; access.WhoOf tells who
	// asked. nil: nobody is told.
	Audit func(ctx context.Context, operation, object string, did map[string]int)
	// Console makes the pages of the door, which is given to it; nil: there are none.
	Console func(operations http.Handler, readOnly bool) http.Handler
	// Report is told what a person should know and no client is: panics of handlers, connections that broke in the TLS
	// handshake, certificates that can not be read again. It may be called from several goroutines. nil: nobody is
	// told.
	Report func(error)
}

// Server is the HTTP door. Start and Close may be called from any goroutine, each any number of times.
type Server struct {
	config    Config
	store     Store
	users     *access.Users
	metrics   *Metrics
	ready     func(context.Context) error
	report    func(error)
	busy      *door.Busy
	traffic   *door.Traffic
	dead      func() map[string]*dead.Registry
	reload    func(bool) (Reloaded, error)
	pusher    Pusher
	campaigns *campaign.Registry
	trace     *journey.Store
	busiest   *busiest
	past      *past
	taps      *journey.Taps
	secrets   func() mask.Masker
	audit     func(ctx context.Context, operation, object string, did map[string]int)

	components func() []pipeline.NodeStats
	describe   func(string) ComponentSettings
	functions  *deployment.Registry
	pushing    atomic.Int64 // messages that are being pushed
	handler    http.Handler
	origins    *http.CrossOriginProtection
	failed     atomic.Bool // the store said that it is over

	stopping context.Context // done as soon as Close begins: waiting claims return
	stop     context.CancelFunc

	life door.Life
	web  *door.Web
}

// New checks the settings and makes a door that does not listen yet.
func New(c Config, o Options) (*Server, error) {
	if err := c.Check(o.Users.Any()); err != nil {
		return nil, err
	}
	if o.Store == nil {
		return nil, fmt.Errorf("%w: there is no store", ErrConfig)
	}
	s := &Server{
		config: c.withDefaults(), store: o.Store, users: o.Users, metrics: o.Metrics, ready: o.Ready, report: o.Report,
		traffic: o.Traffic,
		dead:    o.Dead, reload: o.Reload, pusher: o.Push, campaigns: o.Campaigns, trace: o.Trace,
		taps: o.Taps, secrets: o.Secrets, components: o.Components,
		describe: o.Describe, functions: o.Functions, audit: o.Audit,
		origins: http.NewCrossOriginProtection(),
	}
	s.busiest = newBusiest(o)
	s.past = newPast(s.busiest)
	if s.metrics == nil {
		s.metrics = NewMetrics(0)
	}
	s.metrics.Watch(o.Store)
	if s.report == nil {
		s.report = func(error) {}
	}
	if s.secrets == nil {
		s.secrets = func() mask.Masker { return mask.Masker{} }
	}
	if s.reload == nil {
		s.reload = func(bool) (Reloaded, error) { return Reloaded{}, ErrNoReload }
	}
	if s.dead == nil {
		s.dead = func() map[string]*dead.Registry { return nil }
	}
	if o.Busy == nil {
		o.Busy = door.NewBusy(door.DefaultBusy(0))
	}
	s.busy = o.Busy.Share(s.config.MaxBusyBytes)
	s.stopping, s.stop = context.WithCancel(context.Background())
	s.handler = s.mux(o.Console)
	return s, nil
}

// Handler is the door without a listener, for tests and for servers of one's own: what Config says of connections,
// headers, idleness and TLS is then up to them.
func (s *Server) Handler() http.Handler { return s.handler }

// Metrics are the metrics that the door serves at /metrics.
func (s *Server) Metrics() *Metrics { return s.metrics }

// Start listens and returns the address, with the port that was found when Config asks for port 0. A door that is off
// returns nil, nil. Requests are served until Close; ctx only bounds the start.
func (s *Server) Start(ctx context.Context) (net.Addr, error) {
	return s.life.Start(func() (net.Addr, error) { return s.open(ctx) })
}

func (s *Server) open(ctx context.Context) (net.Addr, error) {
	if s.config.Off {
		return nil, nil
	}
	tlsConfig, err := s.config.TLS.Open(ErrConfig, s.report)
	if err != nil {
		return nil, err
	}
	s.web, err = door.Listen(ctx, door.Config{
		Name: "http", Option: "--listen", Listen: s.config.Listen, TLS: tlsConfig,
		MaxConnections: s.config.MaxConnections, Handler: s.handler,
		HeaderTimeout: s.config.HeaderTimeout, IdleTimeout: s.config.IdleTimeout,
		MaxHeaderBytes: s.config.MaxHeaderBytes, Busy: s.busy, Traffic: s.traffic, Report: s.report,
	})
	if err != nil {
		return nil, err
	}
	s.web.Serve()
	s.past.start(s.stopping)
	return s.web.Addr(), nil
}

// Addr is where the door listens; nil before Start.
func (s *Server) Addr() net.Addr { return s.life.Addr() }

// Close stops listening, lets waiting claims return without messages, and waits for the requests under way. When ctx
// ends first, their connections are cut and its error is returned. A second Close returns what the first one did.
func (s *Server) Close(ctx context.Context) error {
	s.stop()
	s.busiest.close()
	return s.life.Close(func() error {
		err := s.web.Close(ctx)
		s.past.wait()
		return err
	})
}

// note remembers that the store is over, for /readyz. One that comes back says by itself whether it is ready.
func (s *Server) note(err error) {
	if errors.Is(err, journal.ErrReopen) {
		return
	}
	if errors.Is(err, queue.ErrUnavailable) || errors.Is(err, queue.ErrClosed) {
		s.failed.Store(true)
	}
}
