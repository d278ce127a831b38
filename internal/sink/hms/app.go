package hms

import (
	"fmt"
	"net/http"
	"sync/atomic"
	"time"

	"github.com/hikyaku/hikyaku/internal/push"
	"github.com/hikyaku/hikyaku/internal/push/sender"
	"github.com/hikyaku/hikyaku/internal/push/suspect"
	"github.com/hikyaku/hikyaku/internal/push/token"
)

// app is one app: where its messages go, and the secret that may send them.
type app struct {
	sender.Account
	address  string
	path     string
	tokenURL string
	config   App

	// Since Start.
	client *push.Client    // shared by apps of the same far end
	asker  *http.Transport // for access tokens
	flow   atomic.Int32    // rests for flow control in a row, since a good answer
}

// mistake says what is probably wrong with an app's messages.
func (a *app) mistake(percent int, seen suspect.Seen) error {
	return fmt.Errorf("app %s rests: %d of the last %d answers say that the token is none of the app's (80300007, "+
		"80300002), so the tokens are probably those of another app, or Push Kit is not enabled for this one; no "+
		"device is taken for gone by it, and no message is lost: check apps.%s.client_id and the app in AppGallery "+
		"Connect, or raise suspect_percent (%d) if so many tokens are another app's", a.Name, seen.Doubts,
		seen.Answers, a.Name, percent)
}

// refused says what is probably wrong when Push Kit refuses messages.
func (a *app) refused(seen suspect.Seen) error {
	return fmt.Errorf("app %s rests: %d of the last %d answers refuse the message, so what the sink's message makes is "+
		"probably not as Push Kit wants it; no message is lost: check it, or cancel the campaign; the last one: %w",
		a.Name, seen.Doubts, seen.Answers, a.Last())
}

const (
	firstFlow   = time.Second // of rest after flow control
	longestFlow = time.Minute
)

// throttled lets the app rest after flow control, longer each time that a rest has not helped, or as long as is asked.
func (a *app) throttled(now time.Time, asked time.Duration, reason error) time.Duration {
	if left, _ := a.Pause.Left(now); left > 0 {
		return left // an answer to a request that was sent before
	}
	n := a.flow.Add(1)
	d := max(asked, min(firstFlow<<min(n-1, 10), longestFlow))
	a.Pause.Begin(now, d, reason)
	return d
}

// calm is told that Push Kit took a message.
func (a *app) calm() {
	if a.flow.Load() != 0 { // it is mostly 0: then no processor has to be told
		a.flow.Store(0)
	}
}

// identity tells apart what apps cannot share.
func (a *app) identity() string { return fmt.Sprintf("%q", []string{a.address, a.config.CAFile}) }

// open makes what an app needs, and reads its secret.
func (s *Sink) open(a *app) error {
	secure, err := push.Trust(a.config.CAFile)
	if err != nil {
		return fmt.Errorf("ca_file: %w", err)
	}
	if a.asker, err = sender.Asker(s.proxy, secure); err != nil {
		return err
	}
	a.Tokens, err = token.NewSecret(token.SecretConfig{
		ID: a.config.ClientID, File: a.config.SecretFile, URL: a.tokenURL,
		Client: sender.Client(a.asker),
	})
	if err != nil {
		return err
	}
	if err := a.Tokens.Check(); err != nil {
		return err
	}
	if a.client = s.clients[a.identity()]; a.client != nil {
		return nil
	}
	dial, err := push.Through(s.proxy, secure, nil)
	if err != nil {
		return err
	}
	a.client, err = push.New(push.Config{
		Address: a.address, Dial: dial, TLS: secure, MaxConnections: s.connections, MaxResponseBody: 8 << 10,
		HTTP1: true, IdleTimeout: idle,
		// A refused token says nothing against the connection.
		Accepted: func(*push.Response) bool { return true },
	})
	if err != nil {
		return err
	}
	s.clients[a.identity()] = a.client
	return nil
}

// idle is how long a connection is kept that nobody uses: less than servers of HTTP/1.1 keep theirs, as a rule.
const idle = 50 * time.Second

// close ends the fetching of access tokens: those who wait are told.
func (a *app) close() {
	if a.HangUp(); a.asker != nil {
		a.asker.CloseIdleConnections()
	}
}
