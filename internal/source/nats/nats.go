// Package nats is a source that takes messages from NATS.
//
//	sources:
//	  orders: { type: nats, url: nats://127.0.0.1:4222, stream: ORDERS, consumer: hikyaku }
//	  events: { type: nats, url: nats://127.0.0.1:4222, subject: "events.>", queue_group: hikyaku }
//
// From a stream of JetStream it takes by a durable consumer, and acknowledges a message when the pipeline has settled
// it. Until then the server is told that work goes on. A message whose acknowledgement is lost comes again; a queue
// that it is put into refuses it then, since it knows each by its place in the stream.
//
// Without a stream it listens to a subject. There NATS keeps nothing: what is published while nobody listens, while the
// pipeline is full for long, or between a kill and the next start, is lost. What is dropped is counted.
package nats

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/hikyaku/hikyaku/internal/component"
	"github.com/hikyaku/hikyaku/internal/lines"
	"github.com/hikyaku/hikyaku/internal/lines/broker"
	"github.com/hikyaku/hikyaku/internal/message"
	"github.com/hikyaku/hikyaku/internal/rows/secure"
)

// Config is the source's settings. Either Stream, with Consumer, or Subject alone is set.
type Config struct {
	broker.NATS `yaml:",inline"`
	TLS         secure.TLS `yaml:"tls" doc:"Asks for TLS with a certificate that names the host, whatever the address says."`
	// Stream of JetStream to take from.
	Stream string `yaml:"stream"`
	// Consumer is the durable consumer of the stream. One that is there is used as it is; else it is made, and begins
	// with the stream's first message.
	Consumer string `yaml:"consumer"`
	// Subject to listen to; with a stream: the subjects of a consumer that has to be made. Wildcards are * and >.
	Subject string `yaml:"subject"`
	// QueueGroup shares what comes on a subject among all that listen in the group.
	QueueGroup string `yaml:"queue_group"`
	// Headers that become attributes of the same name.
	Headers []string `yaml:"headers"`
	// Max is how many messages are under way at most: from a stream of those not acknowledged, on a subject of those
	// that wait here. 0: 1,000.
	Max int `yaml:"max" min:"0" max:"100000"`
}

const (
	usualMax   = 1000
	fetchMax   = 100              // messages that are asked for at once
	fetchBytes = 8 << 20          // of them, or one that is larger
	subjectMax = 64 << 20         // bytes that wait on a subject
	ackWait    = 30 * time.Second // of consumers that are made here
	partTime   = 2 * time.Second
	rest       = time.Second // after something failed
)

// What the source counts.
const (
	dropped = "dropped" // messages on a subject that found no room
	failed  = "failed"  // requests for messages
)

// Source takes messages.
type Source struct {
	component.Tally
	Config
	name    string
	courier *lines.Courier
	conn    *nats.Conn

	mu    sync.Mutex
	held  map[jetstream.Msg]struct{} // under way
	freed chan struct{}              // holds one: something is no more
	unask context.CancelFunc         // ends a request for messages, of which a server that is gone knows nothing
}

// New checks the settings.
func New(c Config, env component.Env) (component.Source, error) {
	s := &Source{Config: c, name: "hikyaku " + env.Name, courier: lines.NewCourier(),
		held: map[jetstream.Msg]struct{}{}, freed: make(chan struct{}, 1), unask: func() {}}
	if err := errors.Join(c.NATS.Check(), c.TLS.Check()); err != nil {
		return nil, err
	}
	switch {
	case c.Stream == "" && c.Subject == "":
		return nil, component.Setting("stream", errors.New("is missing: name the stream of JetStream to take from, "+
			"or set subject, where NATS keeps nothing"))
	case c.Stream == "" && c.Consumer != "":
		return nil, component.Setting("consumer", errors.New("belongs to a stream, which is missing"))
	case c.Stream != "" && c.Consumer == "":
		return nil, component.Setting("consumer", errors.New("is missing: name the durable consumer, which remembers "+
			"what was taken"))
	case strings.ContainsAny(c.Stream, " .*>"):
		return nil, component.Setting("stream", fmt.Errorf("%q is no name of a stream", c.Stream))
	case strings.ContainsAny(c.Consumer, " .*>"):
		return nil, component.Setting("consumer", fmt.Errorf("%q is no name of a consumer", c.Consumer))
	case c.Stream != "" && c.QueueGroup != "":
		return nil, component.Setting("queue_group", errors.New("is for subjects: whoever takes from a consumer "+
			"shares it"))
	case strings.ContainsAny(c.Subject, " \t\r\n"):
		return nil, component.Setting("subject", fmt.Errorf("%q is no subject", c.Subject))
	}
	if s.Max == 0 {
		s.Max = usualMax
	}
	return s, nil
}

// Start connects. Servers that cannot be reached are waited for; one that refuses us is an error.
func (s *Source) Start(ctx context.Context) (err error) {
	lost := nats.DisconnectErrHandler(func(*nats.Conn, error) {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.unask()
	})
	told := nats.ErrorHandler(func(_ *nats.Conn, sub *nats.Subscription, err error) {
		if !errors.Is(err, nats.ErrSlowConsumer) { // which Run counts
			s.Add(failed, "the server says: "+err.Error())
		}
	})
	var secured *tls.Config
	if s.TLS.IsSet() {
		if secured, err = s.TLS.Load(""); err != nil {
			return err
		}
	}
	s.conn, err = s.Connect(ctx, s.name, secured, lost, told)
	return err
}

// Waits tells that there is no connection.
func (s *Source) Waits() error { return broker.Away(s.conn) }

// Parts implements component.Parter: what a subject has brought is nobody's to send again.
func (s *Source) Parts() time.Duration {
	if s.Stream != "" {
		return 0
	}
	return partTime + time.Second
}

// Run takes messages until ctx ends.
func (s *Source) Run(ctx context.Context, out component.Out) error {
	if s.Stream != "" {
		return s.take(ctx, out)
	}
	return s.listen(ctx, out)
}

// Close brings acknowledgements on their way and ends the connection.
func (s *Source) Close() error {
	if s.conn == nil {
		return nil
	}
	if s.conn.IsConnected() {
		_ = s.conn.FlushTimeout(partTime) // those that do not arrive make their messages come again
	}
	s.conn.Close()
	return nil
}

// message makes a message of what came.
func (s *Source) message(subject string, header nats.Header, body []byte, at time.Time) *message.Message {
	m := &message.Message{ID: message.NewID(), Time: at, Body: body}
	m.Attributes.Set("subject", message.String(subject))
	for _, name := range s.Headers {
		if v := header.Get(name); v != "" {
			m.Attributes.Set(name, message.String(v))
		}
	}
	return m
}
