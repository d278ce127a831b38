package webpush

import (
	"crypto/ecdh"
	"crypto/rand"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hikyaku/hikyaku/internal/sandbox/push/farend"
)

// Config is how the far end is started.
type Config struct {
	farend.Config        // a nil Authority: one is made. HTTP1 is always set. Keep bounds Opened too
	Plain         bool   // no TLS
	IDField       string // the member of a message's JSON that tells messages apart; "": id
	Anybody       bool   // wants no VAPID token
	Now           func() time.Time
}

// Subscription is what a browser gives to a web application.
type Subscription struct {
	Endpoint string `json:"endpoint"`
	Keys     Keys   `json:"keys"`
}

// Keys are what messages for a subscription are encrypted with, in base64url.
type Keys struct {
	P256dh string `json:"p256dh"`
	Auth   string `json:"auth"`
}

// subscriber is a subscription from within.
type subscriber struct {
	private *ecdh.PrivateKey
	auth    []byte
	sender  string // the only application server that may push; "": any
	gone    bool
}

// Server is a far end that runs.
type Server struct {
	*farend.Server
	Authority *farend.Authority // that clients have to trust; nil without TLS
	provider  *provider
}

const maxSubscriptions = 1_000_000

// Start listens. Close the server.
func Start(c Config) (*Server, error) {
	if c.Now == nil {
		c.Now = time.Now
	}
	if c.IDField == "" {
		c.IDField = "id"
	}
	if err := c.Secure(c.Plain); err != nil {
		return nil, err
	}
	c.HTTP1 = true
	p := &provider{idField: c.IDField, anybody: c.Anybody, keep: c.Keep, subscribers: map[string]*subscriber{}}
	p.gate = gate{known: map[string]*verdict{}, now: c.Now, audience: func() string {
		if u := p.origin.Load(); u != nil {
			return *u
		}
		return ""
	}}
	s, err := farend.Start(c.Config, p)
	if err != nil {
		return nil, err
	}
	url := s.URL()
	p.origin.Store(&url)
	return &Server{s, c.Authority, p}, nil
}

// Subscribe makes a subscription. sender is the public key of the only application server that may push to it, in
// base64url; "" lets any.
func (s *Server) Subscribe(sender string) (Subscription, error) {
	private, err := ecdh.P256().GenerateKey(rand.Reader)
	if err != nil {
		return Subscription{}, fmt.Errorf("subscription: %w", err)
	}
	sub := &subscriber{private: private, auth: make([]byte, 16), sender: strings.TrimRight(sender, "=")}
	rand.Read(sub.auth) // never fails
	id := rand.Text()
	p := s.provider
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.subscribers) >= maxSubscriptions {
		return Subscription{}, errors.New("subscription: there are a million already")
	}
	p.subscribers[id] = sub
	b64 := base64.RawURLEncoding
	return Subscription{
		Endpoint: s.URL() + pushPath + id,
		Keys:     Keys{b64.EncodeToString(private.PublicKey().Bytes()), b64.EncodeToString(sub.auth)},
	}, nil
}

// Unsubscribe ends a subscription: pushes to its endpoint are answered 410 from now on.
func (s *Server) Unsubscribe(endpoint string) {
	p := s.provider
	p.mu.Lock()
	defer p.mu.Unlock()
	if sub := p.subscribers[Device(endpoint)]; sub != nil {
		sub.gone = true
	}
}

// Device is what rules and counts call the device of an endpoint: its last part.
func Device(endpoint string) string { return endpoint[strings.LastIndexByte(endpoint, '/')+1:] }

// Opened returns the texts of the latest messages, at most Config.Keep, oldest first.
func (s *Server) Opened() []string {
	p := s.provider
	p.mu.Lock()
	defer p.mu.Unlock()
	return append([]string(nil), p.opened...)
}

// provider answers requests.
type provider struct {
	gate    gate
	idField string
	anybody bool
	keep    int
	origin  atomic.Pointer[string]

	mu          sync.Mutex
	subscribers map[string]*subscriber
	opened      []string
}

// id tells a message apart: by a member of its JSON, else by its text.
func (p *provider) id(text []byte) string {
	var object map[string]json.RawMessage
	if json.Unmarshal(text, &object) == nil {
		if v, ok := object[p.idField]; ok {
			var s string
			if json.Unmarshal(v, &s) == nil {
				return s
			}
			return string(v)
		}
	}
	return string(text)
}

func (p *provider) remember(text []byte) {
	if p.keep <= 0 {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.opened) == p.keep {
		p.opened = append(p.opened[:0], p.opened[1:]...)
	}
	p.opened = append(p.opened, string(text))
}
