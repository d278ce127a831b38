// Package syslog is a source that makes a message of each message of syslog that others send, over TCP, TLS or UDP.
//
//	sources:
//	  logs: { type: syslog, mode: tcp, listen: "127.0.0.1:5514" }
//
// It reads RFC 5424 and RFC 3164, and over TCP both framings of RFC 6587: counted octets, and lines. The text of a
// message is the body; the rest becomes attributes.
//
// Syslog has no acknowledgement. What a sender's kernel has handed to ours counts as sent for it: a crash loses what
// was not delivered yet. A clean stop loses nothing of TCP as long as senders look whether their connection has ended:
// ours is closed for writing first, and then read to its end, for at most two seconds; what is left of it after that is
// told. A pipeline that is full reads no further, which makes senders over TCP wait; datagrams that find no room are
// dropped and counted.
package syslog

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"sync"
	"time"

	"github.com/hikyaku/hikyaku/internal/access"
	"github.com/hikyaku/hikyaku/internal/component"
	"github.com/hikyaku/hikyaku/internal/lines"
	"github.com/hikyaku/hikyaku/internal/message"
)

// Config is the source's settings.
type Config struct {
	// Mode is "tcp" or "udp". "": tcp.
	Mode string `yaml:"mode" oneof:"tcp udp"`
	// Listen is where to listen, host:port. "": 127.0.0.1:5514.
	Listen string `yaml:"listen"`
	// From are the networks whose messages are taken, such as 10.0.0.0/8. Needed where other machines can reach Listen.
	// Not set: all that can reach it.
	From []string `yaml:"from"`
	// TLS is a certificate: senders over TCP then speak TLS.
	TLS access.TLS `yaml:"tls"`
	// Format is "rfc5424", "rfc3164" or "auto" (each message as it looks). "": auto.
	Format string `yaml:"format" oneof:"auto rfc5424 rfc3164"`
	// Unparsed says what becomes of what is no message of syslog: "keep" makes its text the body and puts the reason
	// into the attribute syslog_error, "refuse" counts it and lets it go. "": keep.
	Unparsed string `yaml:"unparsed" oneof:"keep refuse"`
	// MaxMessageBytes bounds a message; what is longer is cut. 0: 64 KiB.
	MaxMessageBytes int `yaml:"max_message_bytes" min:"0" max:"1048576"`
	// MaxConnections is how many senders may be connected at once; more are refused. 0: 1,000.
	MaxConnections int `yaml:"max_connections" min:"0"`
	// IdleTimeout ends connections on which nothing comes for so long. 0: 1 h.
	IdleTimeout time.Duration `yaml:"idle_timeout" min:"0"`
}

// DefaultListen is where the source listens unless told otherwise.
const DefaultListen = "127.0.0.1:5514"

const (
	usualMessage     = 64 << 10
	usualConnections = 1000
	usualIdle        = time.Hour
	handshakeTime    = 10 * time.Second
	// partTime is how long connections are read after a stop.
	partTime = 2 * time.Second
)

// What the source counts.
const (
	cut        = "cut"        // messages that were too long
	unparsed   = "unparsed"   // texts that are no messages of syslog
	torn       = "torn"       // messages whose connection ended in the middle of them
	dropped    = "dropped"    // datagrams that found no room
	refused    = "refused"    // connections and datagrams that are not wanted
	handshakes = "handshakes" // that failed
	left       = "left"       // connections of which something was taken and not delivered
	unkept     = "unkept"     // stops that may break off connections
)

var (
	errBad = errors.New("it cannot listen")
	errUDP = errors.New("is for TCP: there is no TLS over UDP here")
)

// Source takes messages of syslog.
type Source struct {
	component.Tally
	Config
	from []netip.Prefix

	secure   *tls.Config
	listener *net.TCPListener // one of the two
	packets  *net.UDPConn
	courier  *lines.Courier
}

// New checks the settings.
func New(c Config, _ component.Env) (component.Source, error) {
	s := &Source{Config: c, courier: lines.NewCourier()}
	if s.Listen == "" {
		s.Listen = DefaultListen
	}
	if setting, err := access.CheckAddress(s.Listen, DefaultListen, s.TLS); err != nil {
		return nil, component.Setting(setting, err)
	}
	if s.Mode == "udp" && s.TLS.On() {
		return nil, component.Setting("tls", errUDP)
	}
	for i, text := range s.From {
		p, err := netip.ParsePrefix(text)
		if err != nil {
			return nil, component.Setting(fmt.Sprintf("from[%d]", i),
				fmt.Errorf("%q is no network such as 10.0.0.0/8", text))
		}
		s.from = append(s.from, p.Masked())
	}
	if len(s.from) == 0 && !access.Loopback(s.Listen) {
		return nil, component.Setting("from", fmt.Errorf("is missing: other machines can reach %s, and syslog does "+
			"not tell who they are; name the networks to take messages from", s.Listen))
	}
	if s.MaxMessageBytes == 0 {
		s.MaxMessageBytes = usualMessage
	}
	if s.MaxConnections == 0 {
		s.MaxConnections = usualConnections
	}
	if s.IdleTimeout == 0 {
		s.IdleTimeout = usualIdle
	}
	return s, nil
}

// Start listens. What comes before Run waits.
func (s *Source) Start(ctx context.Context) (err error) {
	s.secure, err = s.TLS.Open(errBad, func(err error) { s.Add("certificate", err.Error()) })
	if err != nil {
		return err
	}
	if s.secure != nil {
		// A ticket that a sender never reads would hide from it that the connection has ended.
		s.secure.SessionTicketsDisabled = true
	}
	var l net.ListenConfig
	if s.Mode == "udp" {
		p, err := l.ListenPacket(ctx, "udp", s.Listen)
		if err != nil {
			return err
		}
		s.packets = p.(*net.UDPConn)
		_ = s.packets.SetReadBuffer(kernelRoom) // less is no failure
		return nil
	}
	l.SetMultipathTCP(false) // whose sockets take no filter, which openNoMore needs
	listener, err := l.Listen(ctx, "tcp", s.Listen)
	if err != nil {
		return err
	}
	s.listener = listener.(*net.TCPListener)
	return nil
}

// Address is where it listens, once it was started.
func (s *Source) Address() net.Addr {
	if s.packets != nil {
		return s.packets.LocalAddr()
	}
	return s.listener.Addr()
}

// Parts implements component.Parter.
func (s *Source) Parts() time.Duration { return partTime + time.Second }

// Run takes messages until ctx ends, and then those that connections hold.
func (s *Source) Run(ctx context.Context, out component.Out) error {
	live, end := context.WithCancel(context.WithoutCancel(ctx))
	defer end()
	defer context.AfterFunc(ctx, func() { time.AfterFunc(partTime, end) })()
	var serving sync.WaitGroup
	defer serving.Wait()
	defer end()
	serving.Go(func() { _ = s.courier.Serve(live) }) // it fails when the pipeline stops
	var err error
	if s.packets != nil {
		err = s.receive(ctx, live, out)
	} else {
		err = s.accept(ctx, live, out)
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return err
}

// Close ends the listening.
func (s *Source) Close() error {
	if s.packets != nil {
		s.packets.Close() // Run may have closed it
	}
	if s.listener != nil {
		s.listener.Close()
	}
	return nil
}

// send sends one message of syslog. What the pipeline gives back is sent again.
func (s *Source) send(ctx context.Context, p *parser, text []byte, long bool, from netip.Addr,
	out component.Out) error {
	if long {
		s.Add(cut, fmt.Sprintf("a message was longer than max_message_bytes: %d, and was cut", s.MaxMessageBytes))
	}
	m, err := p.parse(text, time.Now())
	if err != nil {
		s.Add(unparsed, "a text was no message of syslog: "+err.Error())
		if s.Unparsed == "refuse" {
			return nil
		}
	}
	m.Attributes.Set("source_ip", message.String(from.String()))
	return s.courier.Deliver(ctx, out, m)
}

// takes tells whether messages from an address are wanted.
func (s *Source) takes(from netip.Addr) bool {
	for _, p := range s.from {
		if p.Contains(from) {
			return true
		}
	}
	return len(s.from) == 0
}
