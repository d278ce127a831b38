package lambda

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"time"

	"github.com/hikyaku/hikyaku/internal/access"
	"github.com/hikyaku/hikyaku/internal/access/sigv4"
	"github.com/hikyaku/hikyaku/internal/api/lambda/s3"
	"github.com/hikyaku/hikyaku/internal/deployment"
	"github.com/hikyaku/hikyaku/internal/door"
	"github.com/hikyaku/hikyaku/internal/outbound"
	"github.com/hikyaku/hikyaku/internal/queue"
)

// Options are what a Server works with. Functions has to be there.
type Options struct {
	Functions *deployment.Registry // the door does not close it
	Store     Names                // for the names of queues
	Users     *access.Users        // nil: everyone may do everything
	Busy      *door.Busy           // what requests and answers of all doors may take; nil: an account of its own
	Traffic   *door.Traffic        // counts requests, connections and bytes; nil: nobody does
	// Outbound says which addresses code may be fetched from; nil: all.
	Outbound *outbound.Policy
	// Audit is told of acts that were done, before they are answered, with what the path names or, where the door makes
	// something and names it, its id; access.WhoOf tells who asked. nil: nobody is told.
	Audit func(ctx context.Context, operation, object string, did map[string]int)
	// Report is told what a person should know and no client is. It may be called from several goroutines. nil: nobody
	// is told.
	Report func(error)
}

// Names is what the door itself needs of the house's store, for which nobody has to be asked; a queue.Service is one.
type Names interface {
	Resolve(n queue.Name) queue.Name
}

// Server is the Lambda door. Start and Close may be called from any goroutine, each any number of times.
type Server struct {
	config    Config
	functions *deployment.Registry
	store     Names
	users     *access.Users
	report    func(error)
	audit     func(ctx context.Context, operation, object string, did map[string]int)
	verifier  sigv4.Verifier
	busy      *door.Busy
	traffic   *door.Traffic
	objects   *s3.Store // that code is fetched from; nil: none
	stopping  context.Context
	stop      context.CancelFunc // ends logs that are followed

	life door.Life
	web  *door.Web
}

// What a connection may take. An invocation takes up to 15 minutes, and the start of its instance comes on top.
const (
	readTimeout    = 5 * time.Minute
	maxHeaderBytes = 64 << 10
)

// New checks the settings and makes a door that does not listen yet.
func New(c Config, o Options) (*Server, error) {
	if err := c.Check(o.Users.Any()); err != nil {
		return nil, err
	}
	if o.Functions == nil || o.Store == nil {
		return nil, fmt.Errorf("%w: there are no functions", ErrConfig)
	}
	d := &Server{config: c.withDefaults(), functions: o.Functions, store: o.Store, users: o.Users, report: o.Report,
		busy: o.Busy, traffic: o.Traffic, audit: o.Audit}
	if d.busy == nil {
		d.busy = door.NewBusy(door.DefaultBusy(0))
	}
	if d.report == nil {
		d.report = func(error) {}
	}
	var err error
	if d.objects, err = s3.Open(d.config.S3, o.Functions.Region(), o.Outbound); err != nil {
		return nil, fmt.Errorf("%w: s3: %w", ErrConfig, err)
	}
	d.verifier = d.newVerifier()
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
	tlsConfig, err := d.config.TLS.Open(ErrConfig, d.report, "http/1.1")
	if err != nil {
		return nil, err
	}
	d.web, err = door.Listen(ctx, door.Config{
		Name: "lambda", Listen: d.config.Listen, TLS: tlsConfig, MaxConnections: d.config.MaxConnections,
		Handler: http.HandlerFunc(d.serve), Plain: d.serveLine,
		HeaderTimeout: door.HeaderTime, ReadTimeout: readTimeout, IdleTimeout: door.IdleTime,
		MaxHeaderBytes: maxHeaderBytes, Busy: d.busy, Traffic: d.traffic, Report: d.report,
	})
	if err != nil {
		return nil, err
	}
	d.web.Serve()
	return d.web.Addr(), nil
}

// Addr is where the door listens; nil before Start.
func (d *Server) Addr() net.Addr { return d.life.Addr() }

// Close stops listening and waits for the requests under way. When ctx ends first, their connections are cut and its
// error is returned. A second Close returns what the first one did.
func (d *Server) Close(ctx context.Context) error {
	d.stop()
	return d.life.Close(func() error { return d.web.Close(ctx) })
}
