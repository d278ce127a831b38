//go:build linux

package nats

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"go.uber.org/goleak"

	"github.com/hikyaku/hikyaku/internal/component"
	"github.com/hikyaku/hikyaku/internal/databasetest"
	"github.com/hikyaku/hikyaku/internal/lines/broker"
	"github.com/hikyaku/hikyaku/internal/message"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// start starts a server.
func start(t *testing.T, settings ...string) *databasetest.Server {
	t.Helper()
	s, err := databasetest.StartNATS(context.Background(), settings...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// admin is the test's own connection.
func admin(t *testing.T, s *databasetest.Server) (*nats.Conn, jetstream.JetStream) {
	t.Helper()
	c, err := nats.Connect("nats://"+s.Address(), nats.MaxReconnects(-1), nats.ReconnectWait(10*time.Millisecond))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	js, err := jetstream.New(c)
	if err != nil {
		t.Fatal(err)
	}
	return c, js
}

// makeStream makes a stream.
func makeStream(t *testing.T, js jetstream.JetStream, c jetstream.StreamConfig) jetstream.Stream {
	t.Helper()
	stream, err := js.CreateStream(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	return stream
}

// open starts a sink.
func open(t *testing.T, c Config) *Sink {
	t.Helper()
	made, err := New(c, component.Env{Name: "out"})
	if err != nil {
		t.Fatal(err)
	}
	s := made.(*Sink)
	if err := s.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

func at(s *databasetest.Server) broker.NATS { return broker.NATS{URL: "nats://" + s.Address()} }

func batch(bodies ...string) (all []*message.Message) {
	for _, b := range bodies {
		all = append(all, &message.Message{ID: message.NewID(), Body: []byte(b), Time: time.Now()})
	}
	return all
}

// send sends a batch, and tells the verdicts and the reasons.
func send(t *testing.T, s *Sink, b []*message.Message) (verdicts string, reasons error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	out, err := s.Send(ctx, b)
	if err != nil {
		t.Fatal(err)
	}
	var words []string
	for _, o := range out {
		word := o.Verdict.String()
		if o.Held {
			word = "held"
		}
		words = append(words, word)
		reasons = errors.Join(reasons, o.Reason)
	}
	return strings.Join(words, " "), reasons
}

// deliver sends again what is to be sent again until all is delivered. It tells how many sends that took.
func deliver(t *testing.T, s *Sink, b []*message.Message) (sends int) {
	t.Helper()
	for len(b) > 0 {
		sends++
		out, err := s.Send(t.Context(), b)
		if err != nil {
			t.Fatal(err)
		}
		var again []*message.Message
		for i, o := range out {
			switch o.Verdict {
			case component.Retry:
				again = append(again, b[i])
			case component.Rejected:
				t.Fatal(o.Reason)
			}
		}
		b = again
	}
	return sends
}
