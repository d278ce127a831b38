package mysql

import (
	"context"
	"errors"
	"fmt"
	"net"
	"sync"
	"time"

	engine "github.com/dolthub/go-mysql-server"
	"github.com/dolthub/go-mysql-server/server"
	gms "github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/analyzer"
	vmysql "github.com/dolthub/vitess/go/mysql"

	"github.com/hikyaku/hikyaku/internal/access"
	"github.com/hikyaku/hikyaku/internal/api/mysql/auth"
	"github.com/hikyaku/hikyaku/internal/api/mysql/settings"
	"github.com/hikyaku/hikyaku/internal/door"
	"github.com/hikyaku/hikyaku/internal/journal"
	"github.com/hikyaku/hikyaku/internal/queue"
)

// Config is the settings of the door.
type Config = settings.Config

// Store is what the door uses: a store, and what SHOW ENGINE … STATUS says of its journal. A *queue.Store is one.
type Store interface {
	queue.Service
	JournalStats() journal.Stats
}

// Options are what a Server works with.
type Options struct {
	Store   Store
	Users   *access.Users // nil: everyone may do everything
	Busy    *door.Busy    // what requests and answers of all doors may take; nil: an account of its own
	Traffic *door.Traffic // counts statements, connections and bytes; nil: nobody does
	// Report is told what a person should know and no client is. It may be called from several goroutines. nil: nobody
	// is told.
	Report func(error)
}

// Server is the MySQL door. Start and Close may be called from any goroutine, each any number of times.
type Server struct {
	config     Config
	store      Store
	users      *access.Users
	report     func(error)
	traffic    traffic
	functions  map[string]gms.Function
	conditions remembered
	shapes     shapes
	marks      keyed
	naming     sync.RWMutex // held to read while rows are put under a mark, to write while a table's name goes
	maxRows    int          // of one INSERT
	noShort    bool         // tests: every statement goes the long way

	// how long a client may send nothing of a statement that it has begun, as net_read_timeout of MySQL
	packetStall time.Duration

	defaultSocket string // tests: another than settings.DefaultSocket

	auth      *auth.Server
	since     time.Time // when it was opened
	counts    counts
	budget    *door.Busy // bytes of all statements and of what they read
	standing  *door.Busy // bytes of connections
	keeping   *door.Busy // of it, bytes of what they keep
	logins    *door.Busy // bytes of logins
	locks     locks
	life      door.Life
	listener  *vmysql.Listener
	limit     *limited
	sessions  *server.SessionManager
	processes gms.ProcessList
	engine    *engine.Engine
	served    chan struct{}
}

// leastPacket is the least that max_allowed_packet is.
const leastPacket = 64 << 10

// New checks the settings and makes a door that does not listen yet.
func New(c Config, o Options) (*Server, error) {
	if err := c.Check(o.Users.Any()); err != nil {
		return nil, err
	}
	if o.Store == nil {
		return nil, fmt.Errorf("%w: there is no store", settings.ErrConfig)
	}
	d := &Server{config: c.WithDefaults(), store: o.Store, users: o.Users, report: o.Report,
		traffic: traffic{of: o.Traffic}, functions: map[string]gms.Function{}, maxRows: 10_000,
		packetStall: 30 * time.Second, defaultSocket: settings.DefaultSocket}
	if o.Busy == nil {
		o.Busy = door.NewBusy(d.config.MaxBusyBytes)
	}
	d.budget = o.Busy.Share(d.config.MaxBusyBytes)
	d.standing = o.Busy.StandingOfDoor()
	d.logins = o.Busy.Share(max(o.Busy.Limit()/loginShare, largestLogin*4))
	d.keeping = d.standing.Share(d.standing.Limit() / keepingShare)
	d.config.MaxPacketBytes = min(d.config.MaxPacketBytes, max(d.budget.Limit()/settings.Copies, leastPacket))
	if d.report == nil {
		d.report = func(error) {}
	}
	for _, f := range sqlFunctions() {
		d.functions[f.FunctionName()] = f
	}
	return d, nil
}

// Start listens and returns the address, with the port that was found when Config asks for port 0. A door that is off
// returns nil, nil. Connections are served until Close; ctx only bounds the start.
func (d *Server) Start(ctx context.Context) (net.Addr, error) {
	return d.life.Start(func() (net.Addr, error) { return d.open(ctx) })
}

func (d *Server) open(ctx context.Context) (net.Addr, error) {
	if d.config.Off {
		return nil, nil
	}
	tlsConfig, err := d.config.TLS.Open(settings.ErrConfig, d.report)
	if err != nil {
		return nil, err
	}
	socket, err := d.listen(ctx)
	if err != nil {
		return nil, fmt.Errorf("mysql door: %w", err)
	}
	quiet()
	variables()
	bounding(d.config)
	pro := &provider{door: d}
	everySelectIsLimited()
	groupingLooksIntoSubqueries()
	e := newEngine(analyzer.NewBuilder(pro).AddPreAnalyzeRule(boundPatternsID, boundPatterns).Build())
	e.Analyzer.ExecBuilder.PriorityBuilder = walking{e.Analyzer.ExecBuilder}
	d.showEngines(e)
	handler := &handler{door: d}
	d.auth, d.since = auth.New(d.users), time.Now()
	_, err = server.NewServerWithHandler(
		server.Config{
			Listener:  socket,
			Version:   version,
			TLSConfig: tlsConfig,
			ProtocolListenerFactory: func(_ server.Config, lc vmysql.ListenerConfig,
				_ server.ServerEventListener) (server.ProtocolListener, error) {
				lc.AuthServer = d.auth
				lc.ConnReadBufferSize = 64 // for the handshake; behind it the gate has a buffer
				l, err := vmysql.NewListenerWithConfig(lc)
				if err == nil {
					l.ServerVersion = version
					l.TLSConfig = tlsConfig
					d.listener = l
				}
				return l, err
			},
			Options: []server.Option{handler.wrap()},
		}, e, newContext, d.session, nil, func(h vmysql.Handler) (vmysql.Handler, error) { return h, nil })
	if err != nil {
		return nil, errors.Join(fmt.Errorf("mysql door: %w", err), socket.Close(), e.Close())
	}
	d.engine, d.processes, d.limit = e, e.ProcessList, socket
	d.served = make(chan struct{})
	go func() {
		defer close(d.served)
		d.listener.Accept()
	}()
	return socket.Addr(), nil
}

// version is what the server calls itself: clients read the number before the dash to decide what they may say.
const version = "8.0.33-hikyaku"

// session makes the session of a connection that has shown who it is.
func (d *Server) session(ctx context.Context, conn *vmysql.Conn, addr string) (gms.Session, error) {
	base, err := gms.BaseSessionFromConnection(ctx, conn, addr)
	if err != nil {
		return nil, err
	}
	host := addrHost(conn.RemoteAddr())
	base.SetClient(gms.Client{User: conn.User, Address: host, Capabilities: conn.Capabilities})
	// A connection that begins anew hands on what it takes: else there might be no room for two.
	old := known(conn)
	again := old != nil && old.stands
	if !again && !d.standing.Try(sessionBytes) {
		return nil, sqlError(erTooManyConnections, "08004", "Too many connections")
	}
	s, err := newSession(ctx, d, conn, base, auth.UserOf(conn))
	switch {
	case err != nil && !again:
		d.standing.Give(sessionBytes)
	case err == nil:
		if s.stands = true; again {
			old.stands = false
		}
	}
	return s, err
}

// newContext makes the context of a statement. What go-mysql-server keeps for it is counted.
func newContext(ctx context.Context, options ...gms.ContextOption) *gms.Context {
	c := gms.NewContext(ctx, options...)
	if s := sessionOf(c); s != nil && s.meter != nil {
		c.Memory = gms.NewMemoryManager(s.meter)
	}
	return c
}
