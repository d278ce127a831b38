//go:build linux

package nats

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/hikyaku/hikyaku/internal/component"
	"github.com/hikyaku/hikyaku/internal/databasetest"
	"github.com/hikyaku/hikyaku/internal/lines"
	"github.com/hikyaku/hikyaku/internal/lines/broker"
	"github.com/hikyaku/hikyaku/internal/message"
	"github.com/hikyaku/hikyaku/internal/rows/secure"
	"github.com/hikyaku/hikyaku/internal/waittest"
)

func TestAStreamKeepsEachMessageOnce(t *testing.T) {
	server := start(t)
	_, js := admin(t, server)
	stream := makeStream(t, js, jetstream.StreamConfig{Name: "LOGS", Subjects: []string{"logs.>"}})
	s := open(t, Config{NATS: at(server), Subject: "logs.{host}"})
	b := batch("one", "two")
	for i, host := range []string{"a.b c", "d"} {
		b[i].Attributes.Set("host", message.String(host))
	}
	b[0].Key = "k 1"
	for range 2 { // as after an answer that was lost
		if got, err := send(t, s, b); got != "delivered delivered" {
			t.Fatal(got, err)
		}
	}
	info, err := stream.Info(t.Context())
	if err != nil || info.State.Msgs != 2 {
		t.Fatalf("%d messages, %v", info.State.Msgs, err)
	}
	m, err := stream.GetMsg(t.Context(), 1)
	if err != nil || m.Subject != "logs.a_b_c" || string(m.Data) != "one" ||
		m.Header.Get("Nats-Msg-Id") != b[0].ID.String() || m.Header.Get(HeaderKey) != "k%201" {
		t.Errorf("%+v, %v", m, err)
	}
}

func TestAMessageThatCannotBeTakenIsRefusedAloneInItsBatch(t *testing.T) {
	server := start(t, "max_payload: 1000")
	_, js := admin(t, server)
	makeStream(t, js, jetstream.StreamConfig{Name: "LOGS", Subjects: []string{"logs.>"}, MaxMsgSize: 500})
	s := open(t, Config{NATS: at(server), Subject: "logs.{host}"})
	b := batch("good", strings.Repeat("x", 2000), strings.Repeat("x", 700), "lost", "good")
	for i := range b {
		if i != 3 {
			b[i].Attributes.Set("host", message.String("a"))
		}
	}
	got, err := send(t, s, b)
	if got != "delivered rejected rejected rejected delivered" {
		t.Error(got)
	}
	for _, want := range []string{"at most 1000 bytes", "message size exceeds maximum", "attribute host is missing"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%q is not in the reasons: %v", want, err)
		}
	}
}

func TestWhatNoStreamTakesIsTriedAgain(t *testing.T) {
	s := open(t, Config{NATS: at(start(t)), Subject: "nobody"})
	if got, err := send(t, s, batch("a")); got != "retry" || !strings.Contains(err.Error(), "make a stream") {
		t.Error(got, err)
	}
}

func TestARestartOfTheServerLosesNothingAndDoublesNothing(t *testing.T) {
	server := start(t)
	_, js := admin(t, server)
	stream := makeStream(t, js, jetstream.StreamConfig{Name: "LOGS", Subjects: []string{"logs"}})
	s := open(t, Config{NATS: at(server), Subject: "logs"})
	const batches, size = 40, 50
	half := make(chan struct{})
	done := make(chan int)
	go func() {
		sends := 0
		for i := range batches {
			if i == batches/2 {
				close(half)
			}
			var bodies []string
			for j := range size {
				bodies = append(bodies, fmt.Sprintf("%d-%d", i, j))
			}
			sends += deliver(t, s, batch(bodies...))
		}
		done <- sends
	}()
	<-half
	if err := server.Kill(); err != nil {
		t.Fatal(err)
	}
	waittest.Until(t, "the sink knows that the server is away", func() bool { return s.Waits() != nil })
	if got, err := send(t, s, batch("x")); got != "held" || !strings.Contains(err.Error(), "no connection") {
		t.Error(got, err)
	}
	if err := server.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	if sends := <-done; sends <= batches {
		t.Errorf("%d sends of %d batches: nothing was tried again", sends, batches)
	}
	info, err := stream.Info(t.Context())
	if err != nil || info.State.Msgs != batches*size {
		t.Errorf("%d messages of %d, %v", info.State.Msgs, batches*size, err)
	}
}

func TestWithoutAStreamTheServersAcknowledgementCounts(t *testing.T) {
	server := start(t, `authorization { users = [ { user: a, password: p,
		permissions: { publish: { deny: [ "secret", "other" ] } } } ] }`)
	c := at(server)
	c.User, c.Password = "a", "p"
	s := open(t, Config{NATS: c, Subject: "{to}", Mode: "core"})
	listening, err := s.conn.SubscribeSync("open")
	if err != nil {
		t.Fatal(err)
	}
	if s.Limits().Concurrency != 1 {
		t.Error("several batches go at once")
	}
	b := batch("one", "two", "no subject", "three", "four")
	for i, to := range []string{"open", "secret", "", "other", "open"} {
		b[i].Attributes.Set("to", message.String(to))
	}
	got, reasons := send(t, s, b)
	if got != "delivered rejected rejected rejected delivered" || !strings.Contains(reasons.Error(), `Publish to "other"`) {
		t.Error(got, reasons)
	}
	for _, want := range []string{"one", "four"} {
		m, err := listening.NextMsg(time.Minute)
		if err != nil || string(m.Data) != want {
			t.Fatalf("%v, %v", m, err)
		}
	}
}

func TestWhoIsRefusedIsToldAtTheStartWithoutThePassword(t *testing.T) {
	server := start(t, `authorization { user: a, password: right }`)
	for _, c := range []broker.NATS{{User: "a", Password: "wrong-one"}, {Token: "wrong-one"}, {}} {
		c.URL = at(server).URL
		made, err := New(Config{NATS: c, Subject: "s"}, component.Env{})
		if err != nil {
			t.Fatal(err)
		}
		err = made.(component.Starter).Start(t.Context())
		if err == nil || !strings.Contains(err.Error(), "refuses us") || strings.Contains(err.Error(), "wrong-one") {
			t.Errorf("it starts, or tells the wrong thing: %v", err)
		}
	}
}

func TestOverTLSTheCertificateIsLookedAt(t *testing.T) {
	server := start(t, databasetest.NATSWithTLS)
	trusting := Config{NATS: at(server), Subject: "logs", Mode: "core", TLS: secure.TLS{CAFile: server.CAFile()}}
	if got, err := send(t, open(t, trusting), batch("a")); got != "delivered" {
		t.Error(got, err)
	}
	made, err := New(Config{NATS: at(server), Subject: "logs"}, component.Env{})
	if err != nil {
		t.Fatal(err)
	}
	if err := made.(component.Starter).Start(t.Context()); err == nil || !strings.Contains(err.Error(), "certificate") {
		t.Errorf("a stranger's certificate is taken: %v", err)
	}
}

func TestAServerThatIsAwayAtTheStartIsWaitedFor(t *testing.T) {
	server := start(t)
	if err := server.Stop(); err != nil {
		t.Fatal(err)
	}
	s := open(t, Config{NATS: at(server), Subject: "logs", Mode: "core"})
	if got, err := send(t, s, batch("a")); got != "held" || s.Waits() == nil {
		t.Error(got, err)
	}
	if err := server.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	waittest.Until(t, "the sink finds the server", func() bool { return s.Waits() == nil })
	if got, err := send(t, s, batch("a")); got != "delivered" {
		t.Error(got, err)
	}
}

func TestWhatCannotWorkIsRefusedWithItsSetting(t *testing.T) {
	url := broker.NATS{URL: "nats://h"}
	for setting, c := range map[string]Config{
		"url":            {Subject: "s"},
		"user":           {NATS: broker.NATS{URL: "nats://h", User: "u", Token: "t"}, Subject: "s"},
		"password":       {NATS: broker.NATS{URL: "nats://h", Password: "p"}, Subject: "s"},
		"tls":            {NATS: url, Subject: "s", TLS: secure.TLS{CertFile: "c"}},
		"subject":        {NATS: url, Subject: "a.*"},
		"encoding.codec": {NATS: url, Subject: "s.{a}", Encoding: lines.Encoding{Codec: "xml"}},
	} {
		_, err := New(c, component.Env{})
		if e := (*component.SettingError)(nil); !errors.As(err, &e) || e.Setting != setting {
			t.Errorf("%s: %v", setting, err)
		}
	}
	for _, c := range []Config{{NATS: broker.NATS{URL: "nats://u:hidden@h"}, Subject: "s"}, {NATS: url},
		{NATS: url, Subject: "{"}, {NATS: url, Subject: "$JS.API.STREAM.PURGE.X"}} {
		if _, err := New(c, component.Env{}); err == nil || strings.Contains(err.Error(), "hidden") {
			t.Errorf("%+v: %v", c, err)
		}
	}
}
