package farend

import (
	"crypto/rand"
	"encoding/json"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

const maxTokens = 10_000

// Office issues access tokens to clients that are known by an id and a secret (OAuth 2.0, client_credentials), and
// knows them again. Its fields are set before its use.
type Office struct {
	Clients map[string]string // secrets by id
	Life    time.Duration     // of a token
	Now     func() time.Time

	refusing atomic.Bool
	issued   atomic.Int64

	mu    sync.RWMutex
	known map[string]pass // by token
}

// pass is what an access token is good for.
type pass struct {
	client string
	ends   time.Time
}

// Issue answers a request for an access token with a scope. "": none is needed. why says what is wrong with it, if
// something is: then the body is for the caller to make.
func (o *Office) Issue(r *Request, a *Answer, scope string) (why string) {
	a.Set("content-type", "application/json")
	form, err := url.ParseQuery(string(r.Body))
	id := form.Get("client_id")
	secret, known := o.Clients[id]
	switch {
	case r.Method != "POST" || err != nil || form.Get("grant_type") != "client_credentials":
		why = "a form with the grant_type client_credentials has to be posted"
	case !known || form.Get("client_secret") != secret || o.refusing.Load():
		why = "the client's id or its secret is wrong"
	case scope != "" && strings.TrimSuffix(form.Get("scope"), "/") != scope:
		why = "the scope has to be " + scope
	}
	if why != "" {
		a.Status = 400
		return why
	}
	token := rand.Text() + "/" + rand.Text() + "+=="
	o.mu.Lock()
	if o.known == nil {
		o.known = map[string]pass{}
	}
	if len(o.known) >= maxTokens {
		clear(o.known)
	}
	o.known[token] = pass{id, o.Now().Add(o.Life)}
	o.mu.Unlock()
	o.issued.Add(1)
	a.Status = 200
	text, _ := json.Marshal(map[string]any{"access_token": token, "token_type": "Bearer",
		"expires_in": int(o.Life / time.Second)}) // of strings and numbers
	a.Body = append(a.Body, text...)
	return ""
}

// Knows is the client whose access token a request bears. expired: it was one.
func (o *Office) Knows(r *Request) (client string, known, expired bool) {
	scheme, token, _ := strings.Cut(r.Get("authorization"), " ")
	o.mu.RLock()
	p, ok := o.known[token]
	o.mu.RUnlock()
	if !ok || !strings.EqualFold(scheme, "bearer") {
		return "", false, false
	}
	expired = !o.Now().Before(p.ends)
	return p.client, !expired, expired
}

// Revoke makes all access tokens void.
func (o *Office) Revoke() {
	o.mu.Lock()
	defer o.mu.Unlock()
	clear(o.known)
}

// Refuse tells whether requests for access tokens are refused from now on.
func (o *Office) Refuse(refuse bool) { o.refusing.Store(refuse) }

// Issued is how many access tokens were issued.
func (o *Office) Issued() int64 { return o.issued.Load() }
