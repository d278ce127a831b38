// Package nats is a sink that publishes messages to subjects of NATS.
//
//	sinks:
//	  out: { type: nats, inputs: [shape], url: nats://127.0.0.1:4222, subject: "logs.{hostname}" }
//
// With JetStream, which is what it asks for unless told otherwise, a message is delivered when a stream has kept it.
// Its id goes along as Nats-Msg-Id: a stream that has it already, within its window for duplicates, keeps it once.
//
// Without JetStream (mode: core) a message is delivered when the server has taken it: whoever does not listen at that
// moment never sees it, and nobody is told. One whose acknowledgement was lost is sent again.
package nats

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/hikyaku/hikyaku/internal/component"
	"github.com/hikyaku/hikyaku/internal/lines"
	"github.com/hikyaku/hikyaku/internal/lines/broker"
	"github.com/hikyaku/hikyaku/internal/message"
	"github.com/hikyaku/hikyaku/internal/rows/secure"
)

// Config is the sink's settings.
type Config struct {
	broker.NATS `yaml:",inline"`
	TLS         secure.TLS `yaml:"tls" doc:"Asks for TLS with a certificate that names the host, whatever the address says."`
	// Subject to publish to. {name} in it is an attribute, in which dots, spaces and wildcards become _; %Y, %m, %d and
	// the like are the message's time.
	Subject string `yaml:"subject"`
	// Mode is "jetstream" (a message is delivered when a stream has kept it) or "core" (when the server has taken it;
	// who does not listen then never sees it). "": jetstream.
	Mode string `yaml:"mode" oneof:"jetstream core"`
	// Encoding of a message. Not set: its body as it is.
	Encoding lines.Encoding `yaml:"encoding"`
}

// Headers that the sink sets beside Nats-Msg-Id.
const (
	HeaderTime = "Hikyaku-Message-Time"
	HeaderKey  = "Hikyaku-Message-Key" // percent-encoded
)

const (
	// ackTime is how long the client remembers a message whose answer does not come. Batches wait as long as the
	// pipeline says, and no longer.
	ackTime = time.Minute
	rest    = time.Second // between two looks whether there is a connection
	core    = "core"
)

// Codes of JetStream's errors, as the server's errors.json numbers them.
const (
	tooLargeForStream = 10054
	sealed            = 10109
)

// Sink publishes. It may be used by several goroutines at once.
type Sink struct {
	config  Config
	name    string
	subject *lines.Template
	encoder *lines.Encoder

	conn   *nats.Conn
	stream jetstream.JetStream
}

// New checks the settings.
func New(c Config, env component.Env) (component.Sink, error) {
	s := &Sink{config: c, name: "hikyaku " + env.Name}
	if err := errors.Join(c.NATS.Check(), c.TLS.Check()); err != nil {
		return nil, err
	}
	if c.Subject == "" {
		return nil, component.Setting("subject", errors.New("is missing: name the subject to publish to"))
	}
	var err error
	if s.subject, err = lines.NewTemplate(c.Subject); err != nil {
		return nil, component.Setting("subject", err)
	}
	if s.subject.Fixed() && !valid(c.Subject) {
		return nil, component.Setting("subject", fmt.Errorf("%q is no subject: write names with dots between them, "+
			"without spaces and wildcards", c.Subject))
	}
	if s.encoder, err = lines.NewEncoder(c.Encoding); err != nil {
		return nil, component.Setting("encoding.codec", err)
	}
	return s, nil
}

// Limits: an acknowledgement of core NATS is one for all that was sent before, so that one batch goes at a time.
func (s *Sink) Limits() component.SinkLimits {
	if s.config.Mode == core {
		return component.SinkLimits{Concurrency: 1}
	}
	return component.SinkLimits{}
}

// Start connects. Servers that cannot be reached are waited for; one that refuses us is an error.
func (s *Sink) Start(ctx context.Context) (err error) {
	var secured *tls.Config
	if s.config.TLS.IsSet() {
		if secured, err = s.config.TLS.Load(""); err != nil {
			return err
		}
	}
	// While there is no connection the client keeps nothing for later: that is the pipeline's business. What the
	// client would print of errors is in its LastError.
	if s.conn, err = s.config.Connect(ctx, s.name, secured, nats.ReconnectBufSize(-1),
		nats.ErrorHandler(func(*nats.Conn, *nats.Subscription, error) {})); err != nil {
		return err
	}
	s.stream, err = jetstream.New(s.conn, jetstream.WithPublishAsyncTimeout(ackTime))
	return err
}

// Close ends the connection.
func (s *Sink) Close() error {
	if s.conn != nil {
		s.conn.Close()
	}
	return nil
}

// Waits tells that there is no connection.
func (s *Sink) Waits() error { return broker.Away(s.conn) }

// Send publishes the batch.
func (s *Sink) Send(ctx context.Context, batch []*message.Message) ([]component.Outcome, error) {
	if away := broker.Away(s.conn); away != nil {
		return component.All(len(batch), component.Hold(rest, away)), nil
	}
	out := make([]component.Outcome, len(batch))
	msgs := make([]*nats.Msg, len(batch))
	for i, m := range batch {
		var err error
		if msgs[i], err = s.render(m); err != nil {
			out[i] = component.Reject(err)
		}
	}
	if s.config.Mode == core {
		s.sendCore(ctx, msgs, out)
	} else {
		s.sendKept(ctx, msgs, out)
	}
	return out, nil
}

// render makes what is published of a message.
func (s *Sink) render(m *message.Message) (*nats.Msg, error) {
	subject, err := s.subject.Render(m, clean)
	if err != nil {
		return nil, fmt.Errorf("subject: %w", err)
	}
	if !valid(subject) {
		return nil, fmt.Errorf("%q is no subject", message.Shorten(subject, 100))
	}
	out := nats.NewMsg(subject)
	if out.Data, err = s.encoder.Append(nil, m); err != nil {
		return nil, err
	}
	if !m.ID.IsZero() {
		out.Header.Set(nats.MsgIdHdr, m.ID.String())
	}
	if !m.Time.IsZero() {
		out.Header.Set(HeaderTime, m.Time.UTC().Format(time.RFC3339Nano))
	}
	if m.Key != "" {
		out.Header.Set(HeaderKey, url.PathEscape(m.Key))
	}
	return out, nil
}

// clean makes one part of a subject of an attribute: no more parts, and no wildcards.
func clean(text string) string {
	return strings.Map(func(r rune) rune {
		if r <= ' ' || r == 0x7f || strings.ContainsRune(".*>", r) {
			return '_'
		}
		return r
	}, text)
}

// valid tells whether one may publish to a subject. What begins with $ is the server's own.
func valid(subject string) bool {
	for part := range strings.SplitSeq(subject, ".") {
		if part == "" || clean(part) != part {
			return false
		}
	}
	return !strings.HasPrefix(subject, "$")
}
