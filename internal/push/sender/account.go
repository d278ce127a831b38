package sender

import (
	"cmp"
	"crypto/tls"
	"fmt"
	"net/http"
	"sync/atomic"
	"time"

	"github.com/hikyaku/hikyaku/internal/outbound"
	"github.com/hikyaku/hikyaku/internal/push/figure"
	"github.com/hikyaku/hikyaku/internal/push/rest"
	"github.com/hikyaku/hikyaku/internal/push/suspect"
	"github.com/hikyaku/hikyaku/internal/push/token"
)

// Account is an app, or what the far end calls so, and who may send to its devices.
type Account struct {
	Kind   string // "app", as errors and attributes call it
	Name   string
	Tokens *token.OAuth // since the sink's start
	Pause  rest.Pause
	Outage rest.Outage // a sink that heeds it calls Worked for each message that was taken
	// Watches are over the answers to messages for one device: whether they mean that the account is wrong, or that
	// its messages are.
	Watches suspect.Watches

	last atomic.Pointer[error] // that the watch over messages was told of
}

// Watch makes the watches. percent and answers are of suspect.Config; mistake says what is probably wrong when the far
// end takes too many devices for another account's, refused when it refuses most messages, of which Last is one.
func (a *Account) Watch(percent, answers int, clock func() time.Time, mistake func(percent int, s suspect.Seen) error,
	refused func(suspect.Seen) error) {
	percent = cmp.Or(percent, suspect.DefaultPercent)
	a.Watches = suspect.NewWatches(suspect.Config{
		Percent: percent, Answers: answers, Clock: clock,
		Mistake: func(seen suspect.Seen) error { return mistake(percent, seen) },
	}, refused)
}

// Rests is why all messages wait; nil: they do not. The watches have reasons of their own.
func (a *Account) Rests(now time.Time) error {
	if left, why := a.Pause.Left(now); left > 0 {
		return fmt.Errorf("%s %s: %w", a.Kind, a.Name, why)
	}
	return nil
}

// Last is the refusal of a message that the watch over messages was told of last.
func (a *Account) Last() error {
	if last := a.last.Load(); last != nil {
		return *last
	}
	return nil
}

// Figure is for the metrics. The sink has started.
func (a *Account) Figure(now time.Time) figure.App {
	left, _ := a.Pause.Left(now)
	return figure.App{Paused: left > 0 || a.Watches.Why() != nil, TokenAge: a.Tokens.Age()}
}

// HangUp ends the fetching of access tokens: those who wait are told.
func (a *Account) HangUp() {
	if a.Tokens != nil {
		a.Tokens.Close()
	}
}

// Asker makes what requests for access tokens go through. proxy is as outbound.Policy.Tunnel has it.
func Asker(proxy string, secure *tls.Config) (*http.Transport, error) {
	through, err := outbound.ProxyFor(proxy)
	if err != nil {
		return nil, err
	}
	return &http.Transport{
		Proxy: through, TLSClientConfig: secure.Clone(), ForceAttemptHTTP2: true,
		TLSHandshakeTimeout: 10 * time.Second, IdleConnTimeout: 30 * time.Second, MaxIdleConnsPerHost: 1,
	}, nil
}

// Client asks through an Asker, and goes nowhere else than it was told.
func Client(asker http.RoundTripper) *http.Client {
	return &http.Client{Transport: asker,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
}
