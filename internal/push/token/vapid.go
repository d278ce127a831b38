package token

import (
	"crypto/ecdsa"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"sync"
	"time"
)

// A push service takes a VAPID token for a day at most (RFC 8292).
const (
	vapidLife    = 12 * time.Hour // of a token
	vapidUse     = 10 * time.Hour // after which it is made anew
	maxAudiences = 4096
)

// VAPIDConfig describes an application server.
type VAPIDConfig struct {
	File    string           // its private key: see ParseVAPID
	Subject string           // whom a push service may turn to: mailto:… or https://…
	Now     func() time.Time // nil: the machine's clock
}

// VAPID keeps the tokens of an application server, one for each push service.
type VAPID struct {
	subject string
	file    *File[*ecdsa.PrivateKey]
	now     func() time.Time

	mu      sync.RWMutex
	version uint64 // of the key that the tokens were signed by
	public  string
	tokens  map[string]vapidToken // by audience
}

type vapidToken struct {
	text   string
	issued time.Time
}

// NewVAPID checks the configuration. Nothing is read yet.
func NewVAPID(c VAPIDConfig) (*VAPID, error) {
	if c.File == "" {
		return nil, errors.New("vapid: the key file is missing")
	}
	if !strings.HasPrefix(c.Subject, "mailto:") && !strings.HasPrefix(c.Subject, "https://") {
		return nil, fmt.Errorf("vapid: the subject %q is neither mailto:… nor https://…", c.Subject)
	}
	v := &VAPID{subject: c.Subject, now: c.Now, file: NewFile(c.File, ParseVAPID, c.Now),
		tokens: map[string]vapidToken{}}
	if v.now == nil {
		v.now = time.Now
	}
	return v, nil
}

// Audience is what a token for an endpoint is for: its origin.
func Audience(endpoint *url.URL) string { return endpoint.Scheme + "://" + endpoint.Host }

// Authorization is the value of the authorization field for an audience. An error is a *KeyError: there was never a
// good key.
func (v *VAPID) Authorization(audience string) (string, error) {
	key, version, err := v.file.Get()
	if err != nil {
		return "", err
	}
	now := v.now()
	v.mu.RLock()
	t, ok := v.tokens[audience]
	ok = ok && v.version == version && t.fresh(now)
	v.mu.RUnlock()
	if ok {
		return t.text, nil
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.version != version {
		if v.public, err = publicText(key); err != nil {
			return "", err
		}
		clear(v.tokens)
		v.version = version
	}
	if t := v.tokens[audience]; t.fresh(now) {
		return t.text, nil
	}
	if len(v.tokens) >= maxAudiences {
		clear(v.tokens) // so many push services there are not
	}
	type header struct {
		Type      string `json:"typ"`
		Algorithm string `json:"alg"`
	}
	type claims struct {
		Audience string `json:"aud"`
		Expires  int64  `json:"exp"`
		Subject  string `json:"sub"`
	}
	text, err := sign(key, header{"JWT", "ES256"}, claims{audience, now.Add(vapidLife).Unix(), v.subject})
	if err != nil {
		return "", err
	}
	t = vapidToken{"vapid t=" + text + ", k=" + v.public, now}
	v.tokens[audience] = t
	return t.text, nil
}

func (t vapidToken) fresh(now time.Time) bool {
	age := now.Sub(t.issued)
	return t.text != "" && age >= 0 && age < vapidUse
}

// Refused is for an answer that a token is not good: it is made anew for the next request.
func (v *VAPID) Refused(audience, authorization string) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.tokens[audience].text == authorization {
		delete(v.tokens, audience)
	}
}

// Age is how old the present token for an audience is; 0: there is none.
func (v *VAPID) Age(audience string) time.Duration {
	v.mu.RLock()
	defer v.mu.RUnlock()
	if t, ok := v.tokens[audience]; ok {
		return max(0, v.now().Sub(t.issued))
	}
	return 0
}

// Public is the public key that subscriptions are made with, in base64url.
func (v *VAPID) Public() (string, error) {
	key, _, err := v.file.Get()
	if err != nil {
		return "", err
	}
	return publicText(key)
}

// Trouble says why the key file as it stands cannot be used; nil when it can. The last good key goes on.
func (v *VAPID) Trouble() error { return v.file.Trouble() }
