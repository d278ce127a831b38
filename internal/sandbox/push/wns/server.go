package wns

import (
	"crypto/rand"
	"encoding/json"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hikyaku/hikyaku/internal/sandbox/push/farend"
)

// Config is how the far end is started.
type Config struct {
	farend.Config       // a nil Authority: one is made. HTTP1 and OnlyHTTP1 are set by HTTP2
	HTTP2         bool  // speaks HTTP/2, too, which is not documented
	Plain         bool  // no TLS
	Apps          []App // that may send
	// NotificationStatus lets answers say what was done in X-WNS-NotificationStatus, as the real WNS was seen to do it,
	// in place of the documented X-WNS-Status.
	NotificationStatus bool
	IDField            string // the member of a body of JSON that tells notifications apart; "": id
	Anybody            bool   // wants no access token: for h2load and its like

	TokenLife time.Duration    // of an access token; 0: a day
	Now       func() time.Time // the clock for tokens; nil: the machine's
}

// App is an app: its package's security identifier, or its id in Microsoft Entra with the tenant, and its secret.
type App struct{ ID, Tenant, Secret string }

// Server is a far end that runs.
type Server struct {
	*farend.Server
	Authority *farend.Authority // that clients have to trust; nil without TLS
	provider  *provider
}

const (
	storePath  = "/accesstoken.srf"
	entraPath  = "/oauth2/v2.0/token"
	storeScope = "notify.windows.com"
	entraScope = "https://wns.windows.com/.default"
	mostOwned  = 1_000_000 // channels
)

// Start listens. Close the server.
func Start(c Config) (*Server, error) {
	if c.TokenLife == 0 {
		c.TokenLife = 24 * time.Hour
	}
	if c.Now == nil {
		c.Now = time.Now
	}
	if c.IDField == "" {
		c.IDField = "id"
	}
	if err := c.Secure(c.Plain); err != nil {
		return nil, err
	}
	c.HTTP1, c.OnlyHTTP1 = true, !c.HTTP2
	p := &provider{
		store:   &farend.Office{Clients: map[string]string{}, Life: c.TokenLife, Now: c.Now},
		tenants: map[string]*farend.Office{}, owners: map[string]string{}, idField: c.IDField, anybody: c.Anybody,
		seen: c.NotificationStatus,
	}
	for _, a := range c.Apps {
		o := p.store
		if a.Tenant != "" {
			if o = p.tenants[a.Tenant]; o == nil {
				o = &farend.Office{Clients: map[string]string{}, Life: c.TokenLife, Now: c.Now}
				p.tenants[a.Tenant] = o
			}
		}
		o.Clients[a.ID] = a.Secret
	}
	s, err := farend.Start(c.Config, p)
	if err != nil {
		return nil, err
	}
	return &Server{s, c.Authority, p}, nil
}

// TokenURL is where access tokens are to be had: those of a tenant of Microsoft Entra, or, with "", those of the Store.
func (s *Server) TokenURL(tenant string) string {
	if tenant != "" {
		return s.URL() + "/" + tenant + entraPath
	}
	return s.URL() + storePath
}

// Channel makes a channel of an app, and is its URI.
func (s *Server) Channel(app string) string {
	token := "AwYAAAB/" + rand.Text() + "+" + rand.Text() + "="
	s.provider.mu.Lock()
	defer s.provider.mu.Unlock()
	if len(s.provider.owners) < mostOwned {
		s.provider.owners[token] = app
	}
	return s.URL() + "/?token=" + url.QueryEscape(token)
}

// Revoke makes all access tokens void.
func (s *Server) Revoke() { s.provider.each((*farend.Office).Revoke) }

// RefuseGrants tells whether requests for access tokens are refused from now on.
func (s *Server) RefuseGrants(refuse bool) {
	s.provider.each(func(o *farend.Office) { o.Refuse(refuse) })
}

// Issued is how many access tokens were issued.
func (s *Server) Issued() (n int64) {
	s.provider.each(func(o *farend.Office) { n += o.Issued() })
	return n
}

// provider answers requests.
type provider struct {
	store   *farend.Office
	tenants map[string]*farend.Office
	idField string
	anybody bool
	seen    bool // says what was done in the header that WNS was seen to send
	serial  atomic.Int64

	mu     sync.RWMutex
	owners map[string]string // apps by their channels' tokens
}

func (p *provider) each(do func(*farend.Office)) {
	do(p.store)
	for _, o := range p.tenants {
		do(o)
	}
}

// Serve checks a request and answers it.
func (p *provider) Serve(r *farend.Request, a *farend.Answer) {
	path, query, _ := strings.Cut(r.Path, "?")
	if path == storePath {
		issue(p.store, r, a, storeScope)
		return
	}
	if tenant, ok := strings.CutSuffix(strings.TrimPrefix(path, "/"), entraPath); ok {
		if o := p.tenants[tenant]; o != nil {
			issue(o, r, a, entraScope)
			return
		}
	}
	p.notify(r, a, query)
}

func issue(o *farend.Office, r *farend.Request, a *farend.Answer, scope string) {
	if why := o.Issue(r, a, scope); why != "" {
		a.Body, _ = json.Marshal(map[string]string{"error": "invalid_client", "error_description": why})
	}
}

// notify checks a notification.
func (p *provider) notify(r *farend.Request, a *farend.Answer, query string) {
	if r.Method != "POST" {
		p.Refuse(r, a, "MethodNotAllowed")
		return
	}
	client, known := "", p.anybody
	if !known {
		client, known = p.sender(r)
	}
	if !known {
		a.Trust = farend.Untrusted
		p.Refuse(r, a, "Unauthorized")
		return
	}
	a.Trust = farend.Trusted
	asked, err := url.ParseQuery(query)
	token := asked.Get("token")
	if err != nil || token == "" {
		p.Refuse(r, a, "NotFound")
		return
	}
	p.mu.RLock()
	owner, owned := p.owners[token]
	p.mu.RUnlock()
	switch why := check(r); {
	case owned && owner != client && !p.anybody:
		p.Refuse(r, a, "Forbidden")
		return
	case why == tooLarge:
		p.Refuse(r, a, "RequestEntityTooLarge")
		return
	case why != "":
		p.Refuse(r, a, "BadRequest")
		describe(a, why)
		return
	}
	a.Device, a.ID = token, id(r.Body, p.idField)
	a.Status = 200
	p.trace(a, "received")
	if r.Get("x-wns-requestforstatus") == "true" {
		a.Set("x-wns-deviceconnectionstatus", "connected")
	}
}

// sender is the app whose access token a request bears.
func (p *provider) sender(r *farend.Request) (client string, known bool) {
	p.each(func(o *farend.Office) {
		if c, ok, _ := o.Knows(r); ok {
			client, known = c, true
		}
	})
	return client, known
}

// trace adds the headers that every answer has.
func (p *provider) trace(a *farend.Answer, status string) {
	if p.seen {
		a.Set("x-wns-notificationstatus", strings.Replace(status, "channelt", "channelT", 1))
	} else {
		a.Set("x-wns-status", status)
	}
	a.Set("x-wns-msg-id", strconv.FormatInt(0x1000_0000+p.serial.Add(1), 16))
	a.Set("x-wns-debug-trace", "SANDBOX")
}
