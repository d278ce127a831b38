package apns

import (
	"encoding/asn1"
	"encoding/base64"
	"math/big"
	"strings"
	"sync"
	"time"

	"github.com/golang-jwt/jwt/v5"
)

const (
	maxTokens = 1000 // provider tokens whose checks are remembered
	clockSkew = time.Minute
)

// gatekeeper checks provider tokens. A token is checked once, and then known by its text; only its age is looked at
// each time.
type gatekeeper struct {
	keys    map[string]*Key // by id
	age     time.Duration   // that a token may reach
	updates time.Duration   // between two tokens of a key; 0: any
	now     func() time.Time

	mu     sync.RWMutex
	known  map[string]*verdict
	latest map[string]update // by key
}

// verdict is what is known of a token's text.
type verdict struct {
	text   string
	reason string // "": good, while it is not too old
	key    string
	issued time.Time
}

// update is the token that a key was last seen with.
type update struct {
	issued time.Time
	seen   time.Time
}

func newGatekeeper(c Config) *gatekeeper {
	g := &gatekeeper{
		keys: map[string]*Key{}, age: c.TokenAge, updates: c.TokenUpdates, now: c.Now,
		known: map[string]*verdict{}, latest: map[string]update{},
	}
	for _, k := range c.Keys {
		g.keys[k.ID] = k
	}
	return g
}

// check returns "" for a good authorization, else the reason.
func (g *gatekeeper) check(authorization string, last *verdict) (string, *verdict) {
	if authorization == "" {
		return "MissingProviderToken", last
	}
	v := last
	if v == nil || v.text != authorization {
		v = g.verdict(authorization)
	}
	if v.reason != "" {
		return v.reason, v
	}
	now := g.now()
	switch age := now.Sub(v.issued); {
	case age > g.age:
		return "ExpiredProviderToken", v
	case age < -clockSkew:
		return "InvalidProviderToken", v
	}
	if g.updates > 0 && !g.current(v, now) {
		return "TooManyProviderTokenUpdates", v
	}
	return "", v
}

// verdict looks a token up, or checks its signature.
func (g *gatekeeper) verdict(authorization string) *verdict {
	g.mu.RLock()
	v := g.known[authorization]
	g.mu.RUnlock()
	if v != nil {
		return v
	}
	v = g.verify(strings.Clone(authorization))
	g.mu.Lock()
	defer g.mu.Unlock()
	if len(g.known) >= maxTokens {
		clear(g.known)
	}
	g.known[v.text] = v
	return v
}

func (g *gatekeeper) verify(authorization string) *verdict {
	v := &verdict{text: authorization, reason: "InvalidProviderToken"}
	scheme, text, _ := strings.Cut(authorization, " ")
	if !strings.EqualFold(scheme, "bearer") {
		return v
	}
	var claims jwt.RegisteredClaims
	parser := jwt.NewParser(jwt.WithValidMethods([]string{"ES256"}), jwt.WithoutClaimsValidation())
	_, err := parser.ParseWithClaims(plainSignature(text), &claims, func(t *jwt.Token) (any, error) {
		id, _ := t.Header["kid"].(string)
		key := g.keys[id]
		if key == nil || claims.Issuer != key.Team {
			return nil, jwt.ErrTokenUnverifiable
		}
		v.key = id
		return key.Public, nil
	})
	if err != nil || claims.IssuedAt == nil {
		return v
	}
	v.reason, v.issued = "", claims.IssuedAt.Time
	return v
}

// plainSignature puts a token's signature into the form of JWS, two numbers of 32 bytes, where it is in ASN.1: pushy,
// of Java, signs so, and Apple takes it.
func plainSignature(text string) string {
	end := strings.LastIndexByte(text, '.') + 1
	der, err := base64.RawURLEncoding.DecodeString(text[end:])
	if err != nil || len(der) == 64 {
		return text
	}
	var point struct{ R, S *big.Int }
	if rest, err := asn1.Unmarshal(der, &point); err != nil || len(rest) > 0 {
		return text
	}
	if point.R.Sign() <= 0 || point.S.Sign() <= 0 || point.R.BitLen() > 256 || point.S.BitLen() > 256 {
		return text
	}
	var raw [64]byte
	point.R.FillBytes(raw[:32])
	point.S.FillBytes(raw[32:])
	return text[:end] + base64.RawURLEncoding.EncodeToString(raw[:])
}

// current tells whether a token is its key's present one, or may become it: a newer one comes too often when the one
// before was issued, and first seen, less than updates ago.
func (g *gatekeeper) current(v *verdict, now time.Time) bool {
	g.mu.RLock()
	u, ok := g.latest[v.key]
	g.mu.RUnlock()
	if ok && u.issued.Equal(v.issued) {
		return true
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	u, ok = g.latest[v.key]
	switch {
	case !ok, v.issued.Sub(u.issued) >= g.updates, now.Sub(u.seen) >= g.updates && v.issued.After(u.issued):
		g.latest[v.key] = update{v.issued, now}
		return true
	}
	return u.issued.Equal(v.issued)
}
