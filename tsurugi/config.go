package tsurugi

import (
	"context"
	"crypto/tls"
	"encoding/base64"
	"fmt"
	"io"
	"net"
	"net/url"
	"os"
	"strings"
	"time"

	"github.com/hikyaku/hikyaku/tsurugi/internal/session"
)

// Config says how sessions are opened and kept. The zero value is good for a server without authentication.
type Config struct {
	Credential  Credential
	Label       string // shown in the server's list of sessions; it must not begin with a colon
	Application string // likewise
	ResultSets  int    // queries at a time; others wait. Default 16
	InFlight    int    // other requests at a time; others wait. Default 256
	// for connecting, for writing a request, for the answer to a renewal of the session, and for a sign of life of the
	// relay. Default 10 s
	Timeout time.Duration
	// between renewals; the server lets a session live 300 s without one. Default 1 min, less than 0: never
	KeepAlive    time.Duration
	MaxAnswer    int // bytes that one frame may have. Default 64 MiB
	ResultBuffer int // bytes of a result set that were received and not read. Default 4 MiB
	Statements   int // that Session.Cached keeps. Default 64

	// Relay asks for the server's relay service, which Session.PutObject and Tx.OpenObject need: large objects go over
	// the network. Servers up to 1.9 have none, and those that have none refuse the session. A session with a relay
	// takes no files of the server's machine.
	Relay bool
	// host:port of the relay, if the one that the server names (grpc_server.endpoint in tsurugi.ini) is not the
	// client's way to it
	RelayEndpoint string
	RelayTLS      *tls.Config // of a secure relay; nil: the authorities of the system

	// Dial replaces the net.Dialer that connects.
	Dial func(ctx context.Context, network, address string) (net.Conn, error)
}

// A Credential is what a client shows to a server that asks for it; its zero value is none.
type Credential struct{ user, password, token, sealed string }

// UserPassword is a user's name and password, each of at most 60 bytes. They are encrypted with a key of the server's.
func UserPassword(user, password string) Credential {
	return Credential{user: user, password: password}
}

// Token is a token that the server, or its authentication service, gave out.
func Token(token string) Credential { return Credential{token: token} }

// CredentialFile reads what tgctl credentials has written: in the first line a user's name and password that were
// encrypted with the server's key, often with an end in time; the others say what it is.
func CredentialFile(path string) (Credential, error) {
	f, err := os.Open(path)
	if err != nil {
		return Credential{}, fmt.Errorf("tsurugi: the credentials: %w", err)
	}
	defer func() { _ = f.Close() }() // it was only read
	text, err := io.ReadAll(io.LimitReader(f, mostCredentialFile))
	if err != nil {
		return Credential{}, fmt.Errorf("tsurugi: the credentials: %w", err)
	}
	first, _, _ := strings.Cut(string(text), "\n")
	first = strings.TrimSpace(first)
	if _, err := base64.RawStdEncoding.DecodeString(strings.TrimRight(first, "=")); first == "" || err != nil {
		return Credential{}, fmt.Errorf("tsurugi: the first line of %s is no credential; make the file with tgctl "+
			"credentials", path)
	}
	return Credential{sealed: first}, nil
}

// mostCredentialFile bounds what is read of a file with credentials, in bytes.
const mostCredentialFile = 64 << 10

const (
	defaultPort       = "12345"
	defaultStatements = 64
)

// Connect opens a session with the server of an endpoint, tcp://host:port; the port is 12345 if none is given. The
// context bounds the connecting, as Config.Timeout does, not the session.
func Connect(ctx context.Context, endpoint string, cfg Config) (*Session, error) {
	address, err := parseEndpoint(endpoint)
	if err != nil {
		return nil, err
	}
	inner, err := session.Open(ctx, address, session.Config{
		Label: cfg.Label, App: cfg.Application,
		User: cfg.Credential.user, Password: cfg.Credential.password, Token: cfg.Credential.token,
		Sealed:     cfg.Credential.sealed,
		ResultSets: cfg.ResultSets, InFlight: cfg.InFlight, Timeout: cfg.Timeout, KeepAlive: cfg.KeepAlive,
		MaxAnswer: cfg.MaxAnswer, Buffer: cfg.ResultBuffer, Relay: cfg.Relay, Dial: cfg.Dial,
	})
	if err != nil {
		return nil, convert(err)
	}
	if cfg.Statements <= 0 {
		cfg.Statements = defaultStatements
	}
	s := &Session{inner: inner, cache: newCache(cfg.Statements)}
	if !cfg.Relay {
		return s, nil
	}
	if s.relay, err = inner.Relay(cfg.RelayEndpoint, cfg.RelayTLS); err != nil {
		_ = inner.Close(ctx) // the error that counts is there
		return nil, err
	}
	return s, nil
}

// parseEndpoint returns the host:port of an endpoint.
func parseEndpoint(endpoint string) (string, error) {
	u, err := url.Parse(endpoint)
	if err != nil {
		return "", fmt.Errorf("tsurugi: the endpoint %q: %w", endpoint, err)
	}
	if u.Scheme != "tcp" || u.Hostname() == "" || u.Path != "" && u.Path != "/" {
		return "", fmt.Errorf("tsurugi: the endpoint %q is not of the form tcp://host:port", endpoint)
	}
	port := u.Port()
	if port == "" {
		port = defaultPort
	}
	address := net.JoinHostPort(u.Hostname(), port)
	if _, _, err := net.SplitHostPort(address); err != nil { // as of tcp://], which is a URL
		return "", fmt.Errorf("tsurugi: the endpoint %q: %w", endpoint, err)
	}
	return address, nil
}
