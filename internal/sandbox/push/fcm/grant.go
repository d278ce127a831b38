package fcm

import (
	"crypto/rand"
	"encoding/json"
	"net/url"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"github.com/hikyaku/hikyaku/internal/sandbox/push/farend"
)

// Scopes that a token may have to be of use for messages.
const (
	ScopeMessaging = "https://www.googleapis.com/auth/firebase.messaging"
	ScopePlatform  = "https://www.googleapis.com/auth/cloud-platform"
)

// googles are the audiences that Google's own clients ask for, wherever they send their requests.
var googles = []string{
	"https://oauth2.googleapis.com/token", "https://www.googleapis.com/oauth2/v4/token",
	"https://accounts.google.com/o/oauth2/token", "https://accounts.google.com/o/oauth2/v2/auth",
}

const (
	grantType = "urn:ietf:params:oauth:grant-type:jwt-bearer"
	maxTokens = 10_000
)

// office issues access tokens and knows them again.
type office struct {
	accounts map[string]*Account // by email
	life     time.Duration
	now      func() time.Time
	audience func() string
	refusing atomic.Bool
	issued   atomic.Int64

	mu    sync.RWMutex
	known map[string]pass // by token
}

// pass is what an access token is good for.
type pass struct {
	project string
	ends    time.Time
	scoped  bool
}

// issue answers a request for an access token.
func (o *office) issue(r *farend.Request, a *farend.Answer) {
	a.Set("content-type", "application/json; charset=utf-8")
	account, scope, why := o.examine(r)
	if why != "" {
		a.Status = 400
		a.Body = appendJSON(a.Body, map[string]string{"error": "invalid_grant", "error_description": why})
		return
	}
	token := "ya29." + rand.Text() + rand.Text()
	scopes := strings.Fields(scope)
	o.mu.Lock()
	if len(o.known) >= maxTokens {
		clear(o.known)
	}
	o.known[token] = pass{account.Project, o.now().Add(o.life), slices.Contains(scopes, ScopeMessaging) ||
		slices.Contains(scopes, ScopePlatform)}
	o.mu.Unlock()
	o.issued.Add(1)
	a.Status = 200
	a.Body = appendJSON(a.Body, map[string]any{"access_token": token, "token_type": "Bearer",
		"expires_in": int(o.life / time.Second)})
}

// examine checks a signed grant; why it is not good, "" when it is.
func (o *office) examine(r *farend.Request) (account *Account, scope, why string) {
	form, err := url.ParseQuery(string(r.Body))
	switch {
	case r.Method != "POST" || err != nil:
		return nil, "", "a form has to be posted"
	case form.Get("grant_type") != grantType:
		return nil, "", "Unsupported grant type"
	case o.refusing.Load():
		return nil, "", "Invalid grant: account not found"
	}
	var claims struct {
		jwt.RegisteredClaims
		Scope string `json:"scope"`
	}
	parser := jwt.NewParser(jwt.WithValidMethods([]string{"RS256"}), jwt.WithoutClaimsValidation())
	_, err = parser.ParseWithClaims(form.Get("assertion"), &claims, func(*jwt.Token) (any, error) {
		if account = o.accounts[claims.Issuer]; account == nil {
			return nil, jwt.ErrTokenUnverifiable
		}
		return account.Public, nil
	})
	now := o.now()
	switch {
	case err != nil:
		return nil, "", "Invalid JWT Signature."
	case !slices.ContainsFunc(claims.Audience,
		func(a string) bool { return a == o.audience() || slices.Contains(googles, a) }):
		return nil, "", "Invalid JWT: the audience is neither " + o.audience() + " nor one of Google's"
	case claims.IssuedAt == nil || claims.ExpiresAt == nil || claims.ExpiresAt.Sub(claims.IssuedAt.Time) > time.Hour ||
		now.Before(claims.IssuedAt.Add(-5*time.Minute)) || now.After(claims.ExpiresAt.Time):
		return nil, "", "Invalid JWT: Token must be a short-lived token (60 minutes) and in a reasonable timeframe."
	case claims.Scope == "":
		return nil, "", "Invalid OAuth scope or ID token audience provided."
	}
	return account, claims.Scope, ""
}

// admits tells whether an authorization is good for a project: "" or the error's status.
func (o *office) admits(authorization, project string) string {
	scheme, token, _ := strings.Cut(authorization, " ")
	if !strings.EqualFold(scheme, "bearer") {
		return unauthenticated
	}
	o.mu.RLock()
	p, ok := o.known[token]
	o.mu.RUnlock()
	switch {
	case !ok || !o.now().Before(p.ends):
		return unauthenticated
	case p.project != project || !p.scoped:
		return permissionDenied
	}
	return ""
}

// projectOf is the project that an authorization is good for.
func (o *office) projectOf(authorization string) (project string, known bool) {
	scheme, token, _ := strings.Cut(authorization, " ")
	o.mu.RLock()
	defer o.mu.RUnlock()
	p, ok := o.known[token]
	return p.project, ok && strings.EqualFold(scheme, "bearer") && o.now().Before(p.ends) && p.scoped
}

func appendJSON(b []byte, v any) []byte {
	text, _ := json.Marshal(v) // of strings and numbers
	return append(b, text...)
}
