package pushtest

import (
	"crypto/tls"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/hikyaku/hikyaku/internal/component"
	"github.com/hikyaku/hikyaku/internal/message"
)

// Between stands where a sink expects its far end, as a gateway does that may refuse requests by itself.
type Between struct {
	Address string
	refuse  atomic.Pointer[string] // what the bodies have that are refused
}

// StandBetween starts one. What it does not refuse it answers with 200 and a body.
func StandBetween(t testing.TB, c tls.Certificate, body string) *Between {
	t.Helper()
	b := &Between{}
	b.Refuse("")
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		sent, err := io.ReadAll(r.Body)
		if err != nil {
			return
		}
		if strings.Contains(string(sent), *b.refuse.Load()) {
			w.WriteHeader(http.StatusForbidden) // without a word
			return
		}
		_, _ = io.WriteString(w, body)
	}))
	s.EnableHTTP2, s.TLS = true, &tls.Config{Certificates: []tls.Certificate{c}}
	s.StartTLS()
	t.Cleanup(s.Close)
	b.Address = s.Listener.Addr().String()
	return b
}

// Refuse lets it refuse what has a text in its body, with a bare 403. "": all.
func (b *Between) Refuse(text string) { b.refuse.Store(&text) }

// BareRefusals makes sure that a refusal without a word is a try of its message, until five messages in a row were
// refused so: then it is about all of them, and none is tried. Whoever was refused alone would else hold up others for
// ever. to makes a message for a device, and rest is longer than the account rests after each refusal.
func BareRefusals(t testing.TB, s component.AsyncSink, b *Between, clock *Clock, rest time.Duration,
	to func(device int) *message.Message, device func(int) string) {
	t.Helper()
	deliver := func(m *message.Message, v component.Verdict, held bool) {
		t.Helper()
		clock.Forward(rest)
		o := Deliver1(t, s, m)
		if o.Verdict != v || o.Held != held {
			t.Errorf("%+v, want %v, held: %v", o, v, held)
		}
	}
	b.Refuse(device(7))
	one := to(7)
	for range 10 {
		deliver(one, component.Retry, false)
	}
	for range 10 {
		deliver(to(1), component.Delivered, false)
		deliver(one, component.Retry, false)
	}
	deliver(to(1), component.Delivered, false)
	b.Refuse("")
	for i := range 8 {
		deliver(to(10+i), component.Retry, i >= 4)
	}
	deliver(one, component.Retry, true)
	b.Refuse(device(7))
	deliver(to(1), component.Delivered, false)
	deliver(one, component.Retry, false)
}
