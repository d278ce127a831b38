package session

import (
	"context"
	"errors"
	"net"
	"time"

	"github.com/hikyaku/hikyaku/tsurugi/internal/wire"
)

// Config says how a session is opened and kept. The zero values are good.
type Config struct {
	Label, App string
	User       string // with Password; else none
	Password   string
	Token      string        // instead of User and Password
	Sealed     string        // a user's name and password as a file of credentials has them, encrypted
	ResultSets int           // queries at a time; default 16
	InFlight   int           // other requests at a time; default 256
	Timeout    time.Duration // for the handshake, a write and an answer to a renewal; default 10 s
	KeepAlive  time.Duration // between renewals; default 1 min, less than 0: never
	MaxAnswer  int           // bytes of a frame; default 64 MiB
	Buffer     int           // bytes of a result set that was not read; default 4 MiB
	Relay      bool          // the session has to have a relay for large objects
	Dial       func(ctx context.Context, network, address string) (net.Conn, error)
}

const (
	defaultResultSets = 16
	defaultInFlight   = 256
	defaultTimeout    = 10 * time.Second
	defaultKeepAlive  = time.Minute
	defaultMaxAnswer  = 64 << 20
	defaultBuffer     = 4 << 20
	// maxSlots is the number of slots that a u16 can name, without the one for renewals.
	maxSlots = 1<<16 - 1
)

func (c Config) withDefaults() (Config, error) {
	c.ResultSets = or(c.ResultSets, defaultResultSets)
	c.InFlight = or(c.InFlight, defaultInFlight)
	c.Timeout = or(c.Timeout, defaultTimeout)
	c.KeepAlive = or(c.KeepAlive, defaultKeepAlive)
	c.MaxAnswer = or(c.MaxAnswer, defaultMaxAnswer)
	c.Buffer = or(c.Buffer, defaultBuffer)
	if c.Dial == nil {
		c.Dial = new(net.Dialer).DialContext
	}
	switch {
	case c.ResultSets < 0 || c.InFlight < 0 || c.ResultSets+c.InFlight > maxSlots:
		return c, errors.New("tsurugi: ResultSets and InFlight have to be positive and together at most 65535")
	case c.Timeout < 0 || c.MaxAnswer < 0 || c.Buffer < 0:
		return c, errors.New("tsurugi: Timeout, MaxAnswer and Buffer must not be negative")
	}
	return c, nil
}

func or[T comparable](v, otherwise T) T {
	var zero T
	if v == zero {
		return otherwise
	}
	return v
}

// A LostError tells that a session could not be opened, or has ended without an answer.
type LostError struct {
	Sent bool // the request may have reached the server; if not, it certainly did nothing
	Err  error

	opening bool // there never was one
}

func (e *LostError) Error() string {
	switch {
	case e.opening:
		return "tsurugi: there is no session: " + e.Err.Error()
	case e.Sent:
		return "tsurugi: the session was lost before the answer came: " + e.Err.Error()
	}
	return "tsurugi: the session has ended: " + e.Err.Error()
}

func (e *LostError) Unwrap() error { return e.Err }

// Reasons for which a session ends.
var (
	ErrClosed = errors.New("tsurugi: the session was closed")
	ErrSilent = errors.New("tsurugi: the server does not answer any more")
)

// A DiagnosticError is the server's word on a request that it did not give to its service.
type DiagnosticError struct{ wire.Diagnostic }

func (e *DiagnosticError) Error() string { return "tsurugi: " + e.Message }

// codes of diagnostics that this package decides by.
const (
	codeUnsupported    = 2
	codeSessionClosed  = 31
	codeSessionExpired = 32
)
