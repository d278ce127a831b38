package wns

import (
	"fmt"
	"net/http"

	"github.com/hikyaku/hikyaku/internal/push/sender"
	"github.com/hikyaku/hikyaku/internal/push/suspect"
	"github.com/hikyaku/hikyaku/internal/push/token"
)

// app is one app: whose secret may send to its channels.
type app struct {
	sender.Account
	tokenURL string
	scope    string
	config   App
}

// open makes what an app needs, and reads its secret.
func (a *app) open(asker http.RoundTripper) (err error) {
	a.Tokens, err = token.NewSecret(token.SecretConfig{
		ID: a.config.ClientID, File: a.config.SecretFile, URL: a.tokenURL, Scopes: []string{a.scope},
		Client: sender.Client(asker),
	})
	if err != nil {
		return err
	}
	return a.Tokens.Check()
}

// mistake says what is probably wrong with an app's messages.
func (a *app) mistake(percent int, seen suspect.Seen) error {
	return fmt.Errorf("app %s rests: %d of the last %d answers say that the channel is another app's (403), so "+
		"apps.%s.client_id is probably not that of the app that made the channels; no channel is taken for gone by "+
		"it, and no message is lost: check it, and the package's name in the app's manifest, or raise "+
		"suspect_percent (%d) if so many channels are another app's", a.Name, seen.Doubts, seen.Answers, a.Name,
		percent)
}

// refused says what is probably wrong when WNS refuses messages.
func (a *app) refused(seen suspect.Seen) error {
	return fmt.Errorf("app %s rests: %d of the last %d answers refuse the message, so what the sink's payload makes, or "+
		"push_type, is probably not as WNS wants it; no message is lost: check it, or cancel the campaign; the last "+
		"one: %w", a.Name, seen.Doubts, seen.Answers, a.Last())
}
