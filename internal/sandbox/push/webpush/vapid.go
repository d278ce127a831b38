package webpush

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"encoding/base64"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/golang-jwt/jwt/v5"
)

const (
	maxTokens   = 1000
	longestLife = 24 * time.Hour
)

// gate checks VAPID tokens, each once.
type gate struct {
	audience func() string
	now      func() time.Time

	mu    sync.RWMutex
	known map[string]*verdict
}

// verdict is what is known of an authorization's text.
type verdict struct {
	reason  string // "": good until it expires
	key     string // base64url of the sender's public key
	expires time.Time
}

// check returns "" and the sender's key for a good authorization, else the reason.
func (g *gate) check(authorization string) (reason, key string) {
	if authorization == "" {
		return "Unauthorized", ""
	}
	g.mu.RLock()
	v := g.known[authorization]
	g.mu.RUnlock()
	if v == nil {
		text := strings.Clone(authorization)
		v = g.verify(text)
		g.mu.Lock()
		if len(g.known) >= maxTokens {
			clear(g.known)
		}
		g.known[text] = v
		g.mu.Unlock()
	}
	if v.reason == "" {
		if left := v.expires.Sub(g.now()); left <= 0 || left > longestLife {
			return "Forbidden", ""
		}
	}
	return v.reason, v.key
}

func (g *gate) verify(authorization string) *verdict {
	bad := &verdict{reason: "Forbidden"}
	scheme, rest, _ := strings.Cut(authorization, " ")
	if !strings.EqualFold(scheme, "vapid") {
		return &verdict{reason: "Unauthorized"}
	}
	var token, key string
	for part := range strings.SplitSeq(rest, ",") {
		name, value, _ := strings.Cut(strings.TrimSpace(part), "=")
		switch name {
		case "t":
			token = value
		case "k":
			key = value
		}
	}
	raw, err := base64.RawURLEncoding.DecodeString(key)
	if err != nil {
		return bad
	}
	public, err := ecdsa.ParseUncompressedPublicKey(elliptic.P256(), raw)
	if err != nil {
		return bad
	}
	var claims jwt.RegisteredClaims
	parser := jwt.NewParser(jwt.WithValidMethods([]string{"ES256"}), jwt.WithoutClaimsValidation())
	if _, err := parser.ParseWithClaims(token, &claims,
		func(*jwt.Token) (any, error) { return public, nil }); err != nil {
		return bad
	}
	if claims.ExpiresAt == nil || !slices.Contains(claims.Audience, g.audience()) {
		return bad
	}
	if claims.Subject != "" && !strings.HasPrefix(claims.Subject, "mailto:") &&
		!strings.HasPrefix(claims.Subject, "https://") {
		return bad
	}
	return &verdict{key: key, expires: claims.ExpiresAt.Time}
}
