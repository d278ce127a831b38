package token

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"time"

	"golang.org/x/oauth2"
	"golang.org/x/oauth2/clientcredentials"
)

// SecretConfig describes a client of OAuth 2.0 that is known by its id and a secret (the grant client_credentials).
type SecretConfig struct {
	ID     string       // the client's
	File   string       // the secret: one line of text
	Scopes []string     // what its tokens are good for
	URL    string       // of the token endpoint
	Client *http.Client // that asks for tokens; nil: http.DefaultClient
	Now    func() time.Time
}

// NewSecret makes a keeper for a client with a secret. The secret's file is read again when it has changed. Close the
// keeper.
func NewSecret(c SecretConfig) (*OAuth, error) {
	u, err := url.Parse(c.URL)
	switch {
	case c.ID == "":
		return nil, errors.New("access token: the client's id is missing")
	case c.File == "":
		return nil, fmt.Errorf("access token for %s: the secret's file is missing", c.ID)
	case err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http":
		return nil, fmt.Errorf("access token for %s: %q is no URL", c.ID, c.URL)
	}
	file := NewFile(c.File, ParseSecret, c.Now)
	o := newOAuth(c.Client, c.Now, file.Trouble)
	o.credential = func() (*credential, uint64, error) {
		secret, version, err := file.Get()
		if err != nil {
			return nil, 0, err
		}
		grant := clientcredentials.Config{ClientID: c.ID, ClientSecret: secret, TokenURL: c.URL, Scopes: c.Scopes,
			AuthStyle: oauth2.AuthStyleInParams}
		source := func(ctx context.Context) oauth2.TokenSource { return grant.TokenSource(ctx) }
		return &credential{name: c.ID, source: source}, version, nil
	}
	return o, nil
}

// Check tells whether there is a key or a secret to ask with.
func (o *OAuth) Check() error {
	_, _, err := o.credential()
	return err
}

// ParseSecret reads a client's secret: one line of text. Errors show nothing of it.
func ParseSecret(text []byte) (string, error) {
	text = bytes.TrimSpace(text)
	if len(text) == 0 {
		return "", errors.New("is empty")
	}
	for _, b := range text {
		if b <= ' ' || b >= 0x7f {
			return "", errors.New("is no secret: it has spaces, more than one line, or characters beyond ASCII")
		}
	}
	return string(text), nil
}
