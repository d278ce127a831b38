package fcm

import (
	"net/url"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/hikyaku/hikyaku/internal/sandbox/push/farend"
)

// Config is how the far end is started.
type Config struct {
	farend.Config            // a nil Authority: one is made. HTTP1 is always set, MaxBody has its own default
	Plain         bool       // no TLS
	Accounts      []*Account // that may send, each for its project
	IDField       string     // the member of a message's data that tells messages apart; "": id
	Anybody       bool       // wants no access token: for h2load and its like

	TokenLife time.Duration    // of an access token; 0: an hour
	Now       func() time.Time // the clock for tokens; nil: the machine's
}

// Server is a far end that runs.
type Server struct {
	*farend.Server
	Authority *farend.Authority // that clients have to trust; nil without TLS
	office    *office
	provider  *provider
}

// Start listens. Close the server.
func Start(c Config) (*Server, error) {
	if c.TokenLife == 0 {
		c.TokenLife = time.Hour
	}
	if c.Now == nil {
		c.Now = time.Now
	}
	if c.IDField == "" {
		c.IDField = "id"
	}
	if c.MaxBody == 0 {
		c.MaxBody = maxBatch
	}
	if err := c.Secure(c.Plain); err != nil {
		return nil, err
	}
	c.HTTP1 = true
	var address atomic.Pointer[string]
	o := &office{
		accounts: map[string]*Account{}, life: c.TokenLife, now: c.Now, known: map[string]pass{},
		audience: func() string {
			if u := address.Load(); u != nil {
				return *u
			}
			return ""
		},
	}
	for _, a := range c.Accounts {
		o.accounts[a.Email] = a
	}
	p := &provider{office: o, idField: c.IDField, anybody: c.Anybody}
	s, err := farend.Start(c.Config, p)
	if err != nil {
		return nil, err
	}
	server := &Server{s, c.Authority, o, p}
	tokens := server.TokenURL()
	address.Store(&tokens)
	return server, nil
}

// TokenURL is where access tokens are to be had.
func (s *Server) TokenURL() string { return s.URL() + "/token" }

// Revoke makes all access tokens void.
func (s *Server) Revoke() {
	s.office.mu.Lock()
	defer s.office.mu.Unlock()
	clear(s.office.known)
}

// RefuseGrants tells whether requests for access tokens are refused from now on.
func (s *Server) RefuseGrants(refuse bool) { s.office.refusing.Store(refuse) }

// Issued is how many access tokens were issued.
func (s *Server) Issued() int64 { return s.office.issued.Load() }

// provider answers requests.
type provider struct {
	office  *office
	idField string
	anybody bool
	serial  atomic.Int64
	members members
}

// Serve checks a request and answers it.
func (p *provider) Serve(r *farend.Request, a *farend.Answer) {
	path, query, _ := strings.Cut(r.Path, "?")
	if path == "/token" {
		p.office.issue(r, a)
		return
	}
	a.Set("content-type", "application/json; charset=UTF-8")
	switch path {
	case "/iid/v1:batchAdd", "/iid/v1:batchRemove":
		p.batch(r, a, path == "/iid/v1:batchAdd")
		return
	}
	rest, ok := strings.CutPrefix(path, "/v1/projects/")
	project, method, ok2 := strings.Cut(rest, "/")
	device, topics := strings.CutPrefix(method, "registrations/")
	if !ok || !ok2 || project == "" || !topics && (method != "messages:send" || r.Method != "POST") {
		refuse(a, notFound, "")
		return
	}
	if !p.anybody {
		if why := p.office.admits(r.Get("authorization"), project); why != "" {
			a.Trust = farend.Untrusted
			refuse(a, why, "")
			return
		}
	}
	a.Trust = farend.Trusted
	if topics {
		asked, _ := url.ParseQuery(query) // what of it can be read
		p.subscriptions(r, a, project, device, asked)
		return
	}
	req, err := parse(r.Body)
	if err != nil {
		refuse(a, invalid, err.Error())
		return
	}
	m := req.Message
	switch {
	case m.Token != "":
		a.Device = m.Token
	case m.FID != "":
		a.Device = m.FID
	case m.Topic != "":
		a.Device = "topic " + m.Topic
	default:
		a.Device = "condition " + m.Condition
	}
	if req.ValidateOnly || req.ValidateToo {
		a.Device = "" // nothing is sent
	}
	a.ID = m.Data[p.idField]
	a.Status = 200
	a.Body = append(a.Body, `{"name":"projects/`...)
	a.Body = append(a.Body, project...)
	a.Body = append(a.Body, `/messages/0:`...)
	a.Body = strconv.AppendInt(a.Body, p.serial.Add(1), 10)
	a.Body = append(a.Body, `"}`...)
}
