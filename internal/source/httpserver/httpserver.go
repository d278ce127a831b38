// Package httpserver is a source that makes messages of the bodies that others post to it.
//
//	sources:
//	  events: { type: http_server, listen: "127.0.0.1:8080", framing: lines, auth: { token: "${TOKEN}" } }
//
// A request is answered with 200 when everything made of it is settled: with a queue behind the source, when it is
// durable. What does not come so far in time is answered with 503 and Retry-After; some of it may have been taken then,
// and comes twice when the client posts it again. So is a request that finds no room in the account of bytes that all
// doors share.
package httpserver

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/textproto"
	"sync"
	"time"

	"golang.org/x/net/netutil"

	"github.com/hikyaku/hikyaku/internal/access"
	"github.com/hikyaku/hikyaku/internal/component"
	"github.com/hikyaku/hikyaku/internal/door"
)

// Config is the source's settings.
type Config struct {
	// Listen is where to listen, host:port. "": 127.0.0.1:8080.
	Listen string `yaml:"listen"`
	// TLS is a certificate: clients then speak TLS.
	TLS access.TLS `yaml:"tls"`
	// Auth says what clients have to show. Needed where other machines can reach Listen.
	Auth Auth `yaml:"auth"`
	// Path is the only path that is served. "": all.
	Path string `yaml:"path"`
	// Framing says what messages a body has: "body" (one), "lines" (one a line, but for empty ones) or "json" (one for
	// each item of an array, or one). "": body.
	Framing string `yaml:"framing" oneof:"body lines json"`
	// Headers of the request that become attributes of the same name.
	Headers []string `yaml:"headers"`
	// Query are the members of the query that become attributes of the same name.
	Query []string `yaml:"query"`
	// MaxBodyBytes bounds a body, also when it is unpacked. 0: 1 MiB.
	MaxBodyBytes int64 `yaml:"max_body_bytes" min:"0"`
	// MaxConnections is how many clients may be connected at once; more wait. 0: 1,000.
	MaxConnections int `yaml:"max_connections" min:"0"`
	// Timeout is how long a request may take until its messages are settled. 0: 30 s.
	Timeout time.Duration `yaml:"timeout" min:"0"`
}

// Auth is what clients have to show: a token as a bearer, or a name and a password.
type Auth struct {
	Token    access.Secret `yaml:"token"`    // of "Authorization: Bearer"
	User     string        `yaml:"user"`     // of basic authentication
	Password access.Secret `yaml:"password"` // of User
}

// DefaultListen is where the source listens unless told otherwise.
const DefaultListen = "127.0.0.1:8080"

const (
	usualBody        = 1 << 20
	usualConnections = 1000
	usualTimeout     = 30 * time.Second
	headTime         = 10 * time.Second
	idleTime         = 2 * time.Minute
	headBytes        = 64 << 10
	partTime         = 2 * time.Second // how long bodies may still come in after a stop
	closeTime        = time.Second     // how long answers may still go out when all is settled
)

var errBad = errors.New("it cannot listen")

// Source takes bodies.
type Source struct {
	component.Tally
	Config
	busy     *door.Busy
	listener net.Listener
	server   *http.Server
	out      component.Out

	reading sync.RWMutex // held for reading while a request brings in its messages
	over    bool         // under reading: no more may be brought in
	closed  chan struct{}
}

// New checks the settings.
func New(c Config, env component.Env) (component.Source, error) {
	s := &Source{Config: c, busy: env.Busy, closed: make(chan struct{})}
	if s.Listen == "" {
		s.Listen = DefaultListen
	}
	if setting, err := access.CheckAddress(s.Listen, DefaultListen, s.TLS); err != nil {
		return nil, component.Setting(setting, err)
	}
	switch a := s.Auth; {
	case a.Token != "" && a.User != "":
		return nil, component.Setting("auth", errors.New("takes a token, or user and password, but not both"))
	case (a.User == "") != (a.Password == ""):
		return nil, component.Setting("auth", errors.New("needs both user and password"))
	case a.Token == "" && a.User == "" && !access.Loopback(s.Listen):
		return nil, component.Setting("auth", fmt.Errorf("is missing: other machines can reach %s", s.Listen))
	}
	for i, name := range s.Headers {
		if s.Headers[i] = textproto.CanonicalMIMEHeaderKey(name); s.Headers[i] == "Authorization" {
			return nil, component.Setting(fmt.Sprintf("headers[%d]", i), errors.New("is a secret, and no attribute"))
		}
	}
	if s.MaxBodyBytes == 0 {
		s.MaxBodyBytes = usualBody
	}
	if s.MaxConnections == 0 {
		s.MaxConnections = usualConnections
	}
	if s.Timeout == 0 {
		s.Timeout = usualTimeout
	}
	return s, nil
}

// Start listens. What comes before Run waits.
func (s *Source) Start(ctx context.Context) error {
	secure, err := s.TLS.Open(errBad, func(err error) { s.Add("certificate", err.Error()) }, "http/1.1")
	if err != nil {
		return err
	}
	var l net.ListenConfig
	if s.listener, err = l.Listen(ctx, "tcp", s.Listen); err != nil {
		return err
	}
	s.server = &http.Server{
		Handler: s, TLSConfig: secure, MaxHeaderBytes: headBytes, IdleTimeout: idleTime,
		ReadHeaderTimeout: headTime, ReadTimeout: s.Timeout + headTime, WriteTimeout: 2*s.Timeout + headTime,
		ErrorLog: nothing(),
	}
	return nil
}

// Address is where it listens, once it was started.
func (s *Source) Address() net.Addr { return s.listener.Addr() }

// Parts implements component.Parter.
func (s *Source) Parts() time.Duration { return partTime + time.Second }

// Run serves requests until ctx ends, and lets those bring in their messages that have begun. Their answers go out when
// these are settled.
func (s *Source) Run(ctx context.Context, out component.Out) error {
	s.out = out
	bounded := netutil.LimitListener(s.listener, s.MaxConnections)
	served := make(chan error, 1)
	go func() {
		if s.server.TLSConfig != nil {
			served <- s.server.ServeTLS(bounded, "", "")
			return
		}
		served <- s.server.Serve(bounded)
	}()
	select {
	case err := <-served:
		close(s.closed)
		return err
	case <-ctx.Done():
	}
	go func() {
		defer close(s.closed)
		_ = s.server.Shutdown(context.Background()) // Close ends it
	}()
	<-served
	late := time.AfterFunc(partTime, func() { s.server.Close() })
	s.reading.Lock()
	late.Stop()
	s.over = true
	s.reading.Unlock()
	return ctx.Err()
}

// Close lets the last answers go out, and ends the connections.
func (s *Source) Close() error {
	if s.out == nil { // it never ran
		return s.listener.Close()
	}
	patience := time.NewTimer(closeTime)
	defer patience.Stop()
	select {
	case <-s.closed:
	case <-patience.C:
	}
	err := s.server.Close()
	<-s.closed
	return err
}

// known tells whether a request shows what it has to.
func (s *Source) known(r *http.Request) bool {
	switch {
	case s.Auth.Token != "":
		return same(r.Header.Get("Authorization"), "Bearer "+s.Auth.Token.Reveal())
	case s.Auth.User != "":
		user, password, _ := r.BasicAuth()
		return same(user, s.Auth.User) && same(password, s.Auth.Password.Reveal())
	}
	return true
}

// same compares in a time that tells nothing of where the texts differ.
func same(a, b string) bool {
	x, y := sha256.Sum256([]byte(a)), sha256.Sum256([]byte(b))
	return subtle.ConstantTimeCompare(x[:], y[:]) == 1
}
