package wns

import (
	"fmt"
	"net/http"
	"sync/atomic"

	"github.com/hikyaku/hikyaku/internal/push/rest"
	"github.com/hikyaku/hikyaku/internal/push/suspect"
	"github.com/hikyaku/hikyaku/internal/push/token"
)

// app is one app: whose secret may send to its channels.
type app struct {
	name     string
	tokenURL string
	scope    string
	config   App

	tokens *token.OAuth // since Start
	pause  rest.Pause
	// Over the answers to its messages: whether they mean that the app is wrong, or that its messages are.
	watches suspect.Watches
	last    atomic.Pointer[Refusal] // that the watch over messages was told of
}

// open makes what an app needs, and reads its secret.
func (a *app) open(asker http.RoundTripper) (err error) {
	a.tokens, err = token.NewSecret(token.SecretConfig{
		ID: a.config.ClientID, File: a.config.SecretFile, URL: a.tokenURL, Scopes: []string{a.scope},
		Client: &http.Client{Transport: asker,
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }},
	})
	if err != nil {
		return err
	}
	return a.tokens.Check()
}

// mistake says what is probably wrong with an app's messages.
func (a *app) mistake(percent int, seen suspect.Seen) error {
	return fmt.Errorf("app %s rests: %d of the last %d answers say that the channel is another app's (403), so "+
		"apps.%s.client_id is probably not that of the app that made the channels; no channel is taken for gone by "+
		"it, and no message is lost: check it, and the package's name in the app's manifest, or raise "+
		"suspect_percent (%d) if so many channels are another app's", a.name, seen.Doubts, seen.Answers, a.name,
		percent)
}

// refused says what is probably wrong when WNS refuses messages.
func (a *app) refused(seen suspect.Seen) error {
	return fmt.Errorf("app %s rests: %d of the last %d answers refuse the message, so what the sink's payload makes, or "+
		"push_type, is probably not as WNS wants it; no message is lost: check it, or cancel the campaign; the last "+
		"one: %w", a.name, seen.Doubts, seen.Answers, a.last.Load())
}
