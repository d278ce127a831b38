package door

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io/fs"
	"log"
	"net"
	"net/http"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/hikyaku/hikyaku/internal/caller"
	"github.com/hikyaku/hikyaku/internal/door/line"
)

// Config says how a Web listens and whom it lets in. Durations of 0 are without a bound, but for those of Plain, which
// has its own then.
type Config struct {
	Name           string // of the door in the configuration: "sqs"
	Listen         string // address and port
	Option         string // of the command that says the same as Listen: "--listen"; "": none
	TLS            *tls.Config
	MaxConnections int          // more wait for one to end
	Handler        http.Handler // of every request, or of those that Plain does not get
	// Plain serves requests of the usual kind, as package line has it. nil: the Handler serves all.
	Plain         func(*line.Exchange)
	HeaderTimeout time.Duration // to send a header, and for the handshake of TLS
	ReadTimeout   time.Duration // to send a request
	// to take an answer: from when the request was read for the Handler's, from when it is there for Plain's
	WriteTimeout   time.Duration
	IdleTimeout    time.Duration // between two requests
	MaxHeaderBytes int
	Traffic        *Traffic // counts connections and bytes; nil: nobody does
	// Busy is what connections take, and headers, and Plain's requests, which are not small. nil: there is no bound
	Busy *Busy
	// Report is told what a person should know and no client is. It may be called from several goroutines.
	Report func(error)
}

// plainRead is the most time that a client has for the small body of a plain request.
const plainRead = time.Minute

// Web is a listener whose connections are served.
type Web struct {
	config   Config
	listener net.Listener
	standing *Busy        // what its connections take
	lines    *line.Server // nil: there is no Plain
	web      *http.Server
	parts    Parts // of web
	serving  bool
	served   sync.WaitGroup
}

// Listen opens the address; clients are served from Serve on. ctx only bounds Listen itself. An error says what to do
// about it.
func Listen(ctx context.Context, c Config) (*Web, error) {
	listener, err := c.Traffic.Open(ctx, new(net.ListenConfig), c.Listen)
	if err != nil {
		return nil, fmt.Errorf("%s door: cannot listen on %s: %w%s", c.Name, c.Listen, err, advice(err, &c))
	}
	of := c.Busy.StandingOfDoor()
	listener = c.Traffic.Listen(listener)
	w := &Web{config: c, listener: listener, standing: of}
	w.web = &http.Server{
		Handler:           c.Handler,
		ReadHeaderTimeout: c.HeaderTimeout,
		ReadTimeout:       c.ReadTimeout,
		WriteTimeout:      c.WriteTimeout,
		IdleTimeout:       c.IdleTimeout,
		MaxHeaderBytes:    c.MaxHeaderBytes,
		ConnContext:       caller.In, // a Handler finds it with caller.From
		ErrorLog:          log.New(&reporter{w.report, c.Traffic}, "", 0),
	}
	w.parts.Watch(w.web)
	if c.Plain != nil {
		w.lines = line.New(Standing(listener, of, c.TLS != nil), line.Config{
			Serve: c.Plain, TLS: c.TLS, MaxConnections: c.MaxConnections, Head: c.HeaderTimeout, Idle: c.IdleTimeout,
			Read: min(c.ReadTimeout, plainRead), Write: c.WriteTimeout, Stall: StallTime,
			Take: c.Busy.Try, Give: c.Busy.Give,
			Greeted: Greeted, Ungreeted: c.Traffic.HandshakeFailed,
			Panicked: func(v any) { w.report(fmt.Errorf("panic: %v", v)) },
		})
		return w, nil
	}
	w.listener, w.web.TLSConfig = Standing(bound(listener, c.MaxConnections), of, c.TLS != nil), c.TLS
	if c.TLS == nil {
		w.listener = Heads(w.listener, of)
	}
	w.web.HTTP2 = &http.HTTP2Config{MaxConcurrentStreams: mostStreams, MaxReceiveBufferPerConnection: streamsWindow,
		MaxReceiveBufferPerStream: streamsWindow}
	return w, nil
}

// Serve serves clients until Close, which comes after it. It is called once, and returns at once.
func (w *Web) Serve() {
	w.serving = true
	switch {
	case w.lines != nil:
		w.serve(func() error { return w.lines.Run() })
		w.serve(func() error { return w.web.Serve(Heads(Stalling(w.lines.Others()), w.standing)) })
	case w.config.TLS != nil:
		w.serve(func() error { return w.web.ServeTLS(w.listener, "", "") })
	default:
		w.serve(func() error { return w.web.Serve(w.listener) })
	}
}

// serve serves in a goroutine of its own.
func (w *Web) serve(run func() error) {
	w.served.Go(func() {
		if err := run(); err != nil && !errors.Is(err, http.ErrServerClosed) && !errors.Is(err, net.ErrClosed) {
			w.report(err)
		}
	})
}

func (w *Web) report(err error) { w.config.Report(fmt.Errorf("%s door: %w", w.config.Name, err)) }

// Addr is where it listens, with the port that was found when Config asks for port 0.
func (w *Web) Addr() net.Addr { return w.listener.Addr() }

// Close stops listening and waits for the requests under way; for those that have not come whole, PartTime. When ctx
// ends first, their connections are cut and its error is returned.
func (w *Web) Close(ctx context.Context) error {
	if !w.serving {
		return w.listener.Close()
	}
	cut := time.AfterFunc(PartTime, func() {
		if w.lines != nil {
			w.lines.Cut()
		}
		w.parts.Cut()
	})
	defer cut.Stop()
	var err error
	if w.lines != nil {
		err = w.lines.Shutdown(ctx)
	}
	if err = errors.Join(err, w.web.Shutdown(ctx)); err != nil {
		_ = w.web.Close() // Shutdown's error says what happened
	}
	w.served.Wait()
	return err
}

// advice is what can be done when a door cannot listen.
func advice(err error, c *Config) string {
	var dns *net.DNSError
	why := ""
	switch {
	case errors.Is(err, syscall.EADDRINUSE):
		why = "another program has the port: choose one"
	case errors.Is(err, syscall.EADDRNOTAVAIL), errors.As(err, &dns):
		why = "this machine does not have that address: choose one"
	case errors.Is(err, fs.ErrPermission):
		why = "ports below 1024 may need a privilege: choose another one"
	default:
		return ""
	}
	how := " with api: " + c.Name + ": listen:"
	if c.Option != "" {
		how += ", or " + c.Option
	}
	return " (" + why + how + ")"
}

// reporter is an io.Writer for a log.Logger.
type reporter struct {
	report  func(error)
	traffic *Traffic
}

func (r *reporter) Write(line []byte) (int, error) {
	if bytes.HasPrefix(line, []byte("http: TLS handshake error")) { // whoever connects could fill the log
		r.traffic.HandshakeFailed()
		return len(line), nil
	}
	r.report(errors.New(strings.TrimRight(string(line), "\n")))
	return len(line), nil
}
