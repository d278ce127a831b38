package push

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"strings"
	"time"
)

// A Config describes the far end and the bounds of a client. Only Address is needed.
type Config struct {
	Address    string // host:port to connect to
	ServerName string // whom the certificate must name; default: the host of Address
	Authority  string // what :authority says; default: ServerName, with the port when it is not 443

	// TLS has the roots and the certificates; it is cloned, so GetClientCertificate is the way to replace a certificate
	// while running. ALPN, the server's name and a cache of sessions are filled in. Nil means the system's roots.
	TLS *tls.Config

	// Plain speaks HTTP/2 without TLS from the first byte (h2c with prior knowledge). It is for tests on loopback.
	Plain bool

	// HTTP1 lets the far end choose HTTP/1.1 in the handshake, or speak it for want of ALPN, for far ends that document
	// no HTTP/2. A connection of that kind has one request at a time, and a request that is given up ends it.
	HTTP1 bool

	// connections that may take requests; those that only finish their last ones do not count. Default 1
	MaxConnections int
	MaxStreams     int // streams of a connection, whatever the far end allows. Default 1,000

	// InitialStreams, when it is set, bounds the streams of a new connection until the far end has accepted a request
	// on it, for far ends that let nobody in before a request with a valid token (APNs: 1). Zero: what the far end's
	// SETTINGS allow at once. While a connection is new in that way, requests that wait are no reason for another one,
	// unless it takes longer than a second (or PingAfter, if that is shorter).
	InitialStreams int

	// Accepted says whether a response means that the far end accepts us. Default: any status but 401 and 403.
	Accepted func(*Response) bool

	MaxWaiting     int           // requests in the line, beyond which Send answers ErrFull. Default 65,536
	RequestTimeout time.Duration // of a Send without a deadline, from Send to the answer. Default 30 s
	// how often one request is written at most, when the far end did not process it. Default 5
	MaxTries int

	MaxResponseBody   int // bytes of a response's body that are kept. Default 64 KiB
	MaxResponseHeader int // bytes of a response's fields, counted as HPACK does. Default 16 KiB

	DialTimeout  time.Duration // for connecting, TLS and the far end's first SETTINGS together. Default 10 s
	WriteTimeout time.Duration // how long the far end may refuse to read. Default 10 s
	// silence under a request after which the far end is asked whether it lives; idle: four times as long. Default 15 s
	PingAfter   time.Duration
	PingTimeout time.Duration // for its answer. Default 10 s
	// IdleTimeout is after how long a connection without requests is closed; zero: never. One of HTTP/1.1 is closed
	// after 50 s at the latest, for servers end theirs without a word.
	IdleTimeout time.Duration
	MaxAge      time.Duration // after which a connection is replaced by a new one (less up to a tenth); zero: never

	// BackoffMin and BackoffMax bound the rest before the next connection after n failures in a row: a random time
	// between BackoffMin and min(BackoffMax, BackoffMin·2ⁿ). A failure is a connection that comes to nothing or ends
	// before it has brought an answer. Default 100 ms and 30 s.
	BackoffMin, BackoffMax time.Duration

	// DialBurst and DialRate bound how often connections are begun, whatever happens: in any t seconds at most
	// DialBurst + t·DialRate + (responses in that time)/100. Default MaxConnections + 8, and 0.5 a second. An answer
	// with which a far end of HTTP/1.1 ends the connection pays for the next one, unless it is a 5xx or 429.
	DialBurst int
	DialRate  float64

	// Dial makes the connection below TLS. Default: net.Dialer's.
	Dial func(ctx context.Context, network, address string) (net.Conn, error)

	// OnEvent is told what happens to connections, one event at a time. It must be quick and may not call the client's
	// Close.
	OnEvent func(Event)
}

// complete checks a configuration and fills in what it leaves open.
func (c Config) complete() (Config, error) {
	host, port, err := net.SplitHostPort(c.Address)
	if err != nil || host == "" || port == "" {
		return c, fmt.Errorf("push: address %q is not of the form host:port", c.Address)
	}
	if c.ServerName == "" {
		c.ServerName = host
	}
	if c.Authority == "" {
		c.Authority = c.ServerName
		if strings.Contains(c.Authority, ":") {
			c.Authority = "[" + c.Authority + "]"
		}
		if port != "443" || c.Plain {
			c.Authority += ":" + port
		}
	}
	if c.Plain && (c.TLS != nil || c.HTTP1) {
		return c, errors.New("push: Plain excludes TLS and HTTP1")
	}
	if c.Accepted == nil {
		c.Accepted = func(r *Response) bool { return r.Status != 401 && r.Status != 403 }
	}
	if c.Dial == nil {
		c.Dial = dialer().DialContext
	}
	c.defaults()
	for name, bad := range map[string]bool{
		"MaxConnections":    c.MaxConnections < 1,
		"MaxStreams":        c.MaxStreams < 1,
		"InitialStreams":    c.InitialStreams < 0,
		"MaxWaiting":        c.MaxWaiting < 1,
		"MaxTries":          c.MaxTries < 1,
		"MaxResponseBody":   c.MaxResponseBody < 1 || c.MaxResponseBody > 16<<20,
		"MaxResponseHeader": c.MaxResponseHeader < 1 || c.MaxResponseHeader > 1<<20,
		"DialBurst":         c.DialBurst < 1,
		"DialRate":          c.DialRate <= 0,
		"BackoffMax":        c.BackoffMin <= 0 || c.BackoffMax < c.BackoffMin,
	} {
		if bad {
			return c, fmt.Errorf("push: %s is out of its bounds", name)
		}
	}
	for name, d := range map[string]time.Duration{
		"RequestTimeout": c.RequestTimeout, "DialTimeout": c.DialTimeout, "WriteTimeout": c.WriteTimeout,
		"PingAfter": c.PingAfter, "PingTimeout": c.PingTimeout, "IdleTimeout": c.IdleTimeout, "MaxAge": c.MaxAge,
	} {
		if d < 0 {
			return c, fmt.Errorf("push: %s may not be negative, is %v", name, d)
		}
	}
	return c, nil
}

func (c *Config) defaults() {
	for _, d := range []struct {
		at   *time.Duration
		unit time.Duration
	}{
		{&c.RequestTimeout, 30 * time.Second}, {&c.DialTimeout, 10 * time.Second}, {&c.WriteTimeout, 10 * time.Second},
		{&c.PingAfter, 15 * time.Second}, {&c.PingTimeout, 10 * time.Second},
		{&c.BackoffMin, 100 * time.Millisecond}, {&c.BackoffMax, 30 * time.Second},
	} {
		if *d.at == 0 {
			*d.at = d.unit
		}
	}
	if c.MaxConnections == 0 {
		c.MaxConnections = 1
	}
	for _, n := range []struct {
		at   *int
		unit int
	}{
		{&c.MaxStreams, 1000}, {&c.MaxWaiting, 65536}, {&c.MaxTries, 5},
		{&c.MaxResponseBody, 64 << 10}, {&c.MaxResponseHeader, 16 << 10}, {&c.DialBurst, c.MaxConnections + 8},
	} {
		if *n.at == 0 {
			*n.at = n.unit
		}
	}
	if c.DialRate == 0 {
		c.DialRate = 0.5
	}
}

// trial is how long a new connection may take to its first answer, or to its greeting, before another is made as if it
// were not there.
func (c *Config) trial() time.Duration { return min(c.PingAfter, time.Second) }

// security is the TLS configuration of a client's connections.
func (c Config) security() *tls.Config {
	if c.Plain {
		return nil
	}
	t := &tls.Config{MinVersion: tls.VersionTLS12}
	if c.TLS != nil {
		t = c.TLS.Clone()
	}
	t.NextProtos = []string{"h2"}
	if c.HTTP1 {
		t.NextProtos = append(t.NextProtos, "http/1.1")
	}
	if t.ServerName == "" {
		t.ServerName = c.ServerName
	}
	if t.MinVersion < tls.VersionTLS12 {
		t.MinVersion = tls.VersionTLS12
	}
	if t.ClientSessionCache == nil {
		t.ClientSessionCache = tls.NewLRUClientSessionCache(8)
	}
	t.DynamicRecordSizingDisabled = true // each write is one record: it arrives whole or not at all
	return t
}
