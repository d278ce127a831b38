package sqs

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hikyaku/hikyaku/internal/access"
	"github.com/hikyaku/hikyaku/internal/access/sigv4"
	"github.com/hikyaku/hikyaku/internal/api/sqs/wire"
	"github.com/hikyaku/hikyaku/internal/door"
	"github.com/hikyaku/hikyaku/internal/journey"
	"github.com/hikyaku/hikyaku/internal/queue"
)

// Options are what a Server works with.
type Options struct {
	Store   queue.Service
	Users   *access.Users // nil: everyone may do everything
	Traffic *door.Traffic // counts requests, connections and bytes; nil: nobody does
	Busy    *door.Busy    // what requests and answers of all doors may take; nil: an account of its own
	// Spans says whether messages keep the context of the requests that brought them; nil: they do not.
	Spans *journey.Spans
	// Report is told what a person should know and no client is. It may be called from several goroutines. nil: nobody
	// is told.
	Report func(error)
}

// Server is the SQS door. Start and Close may be called from any goroutine, each any number of times.
type Server struct {
	config   Config
	store    queue.Service
	users    *access.Users
	report   func(error)
	receipts receipts
	verifier sigv4.Verifier
	buffers  buffers
	busy     *door.Busy
	traffic  *door.Traffic
	spans    *journey.Spans
	calls    map[wire.Action]bool // those that are counted by their names
	started  time.Time
	now      func() time.Time // tests: another than time.Now

	admin    sync.Mutex    // held while queues and what is remembered of them are made, changed or deleted
	changes  atomic.Uint64 // of notes: what was read before is read again
	known    sync.Map      // queue.Name → *view
	deleted  recent
	purged   recent
	firsts   firsts
	attempts attempts
	moves    moves
	work     sync.WaitGroup // goroutines of moves

	stopping context.Context // done as soon as Close begins: long polls return
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
	d := &Server{
		config: c.withDefaults(), store: o.Store, users: o.Users, report: o.Report, now: time.Now,
		receipts: newReceipts(), started: time.Now(), busy: o.Busy, traffic: o.Traffic, spans: o.Spans,
		calls: map[wire.Action]bool{},
	}
	if d.report == nil {
		d.report = func(error) {}
	}
	for _, a := range wire.Actions() {
		d.calls[a] = true
	}
	d.verifier = d.newVerifier()
	if d.busy == nil {
		d.busy = door.NewBusy(door.DefaultBusy(0))
	}
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
	tlsConfig, err := d.config.TLS.Open(ErrConfig, d.report, "http/1.1") // as SDKs speak with SQS
	if err != nil {
		return nil, err
	}
	web, err := door.Listen(ctx, door.Config{
		Name: "sqs", Listen: d.config.Listen, TLS: tlsConfig, MaxConnections: d.config.MaxConnections,
		Handler: http.HandlerFunc(d.serve), Plain: d.serveLine,
		HeaderTimeout: door.HeaderTime, ReadTimeout: readTimeout, WriteTimeout: writeTimeout,
		IdleTimeout: door.IdleTime, MaxHeaderBytes: maxHeaderBytes, Busy: d.busy, Traffic: d.traffic,
		Report: d.report,
	})
	if err != nil {
		return nil, err
	}
	if err := d.begun(ctx); err != nil {
		return nil, errors.Join(err, web.Close(ctx))
	}
	d.web = web
	web.Serve()
	return web.Addr(), nil
}

// What a connection may take.
const (
	readTimeout    = time.Minute      // a request; longer than the longest poll, during which it goes on
	writeTimeout   = 90 * time.Second // from when a request was read: the longest poll, and the answer
	maxHeaderBytes = 64 << 10
)

// begun gets ready what needs the store: the key of the receipts, and the moves that the last process did not end.
func (d *Server) begun(ctx context.Context) error {
	for {
		key, ok, err := d.store.Note(ctx, room, receiptKey)
		if err != nil {
			return fmt.Errorf("sqs door: read the key of receipt handles: %w", err)
		}
		if ok && len(key) == keyBytes {
			d.receipts.key = [keyBytes]byte(key)
			break
		}
		_, _, err = d.store.Commit(ctx, queue.Change{
			If:    []queue.NoteIs{{Room: room, Key: receiptKey}},
			Notes: []queue.Note{{Room: room, Key: receiptKey, Value: d.receipts.key[:]}},
			// a store that is full is emptied through the door
			Needed: true,
		})
		if errors.Is(err, queue.ErrChanged) {
			continue
		}
		if errors.Is(err, queue.ErrNoRoom) {
			d.report(fmt.Errorf("sqs door: receipt handles are good until a restart only: %w", err))
			break
		}
		if err != nil {
			return fmt.Errorf("sqs door: keep the key of receipt handles: %w", err)
		}
	}
	return d.resumeMoves(ctx)
}

// Addr is where the door listens; nil before Start.
func (d *Server) Addr() net.Addr { return d.life.Addr() }

// Close stops listening, lets long polls return without messages, and waits for the requests under way. When ctx ends
// first, their connections are cut and its error is returned. What clients hold stays theirs until its visibility
// timeout ends. A second Close returns what the first one did.
func (d *Server) Close(ctx context.Context) error {
	d.moves.mu.Lock() // no move begins after this
	d.stop()
	d.moves.mu.Unlock()
	err := d.life.Close(func() error { return d.web.Close(ctx) })
	d.work.Wait()
	return err
}
