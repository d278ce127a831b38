package hms

import (
	"encoding/json"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/hikyaku/hikyaku/internal/sandbox/push/farend"
)

// Config is how the far end is started.
type Config struct {
	farend.Config        // a nil Authority: one is made. HTTP1 is always set, MaxBody has its own default
	Plain         bool   // no TLS
	Apps          []App  // that may send
	IDField       string // the member of a message's data that tells messages apart; "": id
	Anybody       bool   // wants no access token: for h2load and its like

	TokenLife time.Duration    // of an access token; 0: an hour
	Now       func() time.Time // the clock for tokens; nil: the machine's
}

// App is an app and the secret of its OAuth 2.0 client.
type App struct{ ID, Secret string }

// Server is a far end that runs.
type Server struct {
	*farend.Server
	Authority *farend.Authority // that clients have to trust; nil without TLS
	provider  *provider
}

const maxBody = 512 << 10 // of a request: a thousand tokens

const tokenPath = "/oauth2/v3/token"

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
	if err := c.Secure(c.Plain); err != nil {
		return nil, err
	}
	if c.MaxBody == 0 {
		c.MaxBody = maxBody
	}
	c.HTTP1 = true
	p := &provider{
		office:  &farend.Office{Clients: map[string]string{}, Life: c.TokenLife, Now: c.Now},
		idField: c.IDField, anybody: c.Anybody,
	}
	for _, a := range c.Apps {
		p.office.Clients[a.ID] = a.Secret
	}
	s, err := farend.Start(c.Config, p)
	if err != nil {
		return nil, err
	}
	return &Server{s, c.Authority, p}, nil
}

// TokenURL is where access tokens are to be had.
func (s *Server) TokenURL() string { return s.URL() + tokenPath }

// Revoke makes all access tokens void.
func (s *Server) Revoke() { s.provider.office.Revoke() }

// RefuseGrants tells whether requests for access tokens are refused from now on.
func (s *Server) RefuseGrants(refuse bool) { s.provider.office.Refuse(refuse) }

// Issued is how many access tokens were issued.
func (s *Server) Issued() int64 { return s.provider.office.Issued() }

// provider answers requests.
type provider struct {
	office  *farend.Office
	idField string
	anybody bool
	serial  atomic.Int64
}

// Serve checks a request and answers it.
func (p *provider) Serve(r *farend.Request, a *farend.Answer) {
	path, _, _ := strings.Cut(r.Path, "?")
	if path == tokenPath {
		if why := p.office.Issue(r, a, ""); why != "" {
			a.Body = appendJSON(a.Body[:0], map[string]any{"error": 1101, "sub_error": 20001, "error_description": why})
		}
		return
	}
	a.Set("content-type", "application/json")
	rest, v1 := strings.CutPrefix(path, "/v1/")
	app, method, _ := strings.Cut(rest, "/")
	if !v1 || app == "" || method != "messages:send" || r.Method != "POST" {
		a.Status, a.Reason = 404, "no such service"
		return
	}
	if !p.anybody {
		if why := p.admits(r, app); why != "" {
			a.Trust = farend.Untrusted
			p.answer(a, why, "")
			return
		}
	}
	a.Trust = farend.Trusted
	m, why, what := parse(r.Body)
	if why != "" {
		p.answer(a, why, what)
		return
	}
	switch {
	case m.only:
	case len(m.Token) > 0:
		a.Device = m.Token[0]
	case m.Topic != "":
		a.Device = "topic " + m.Topic
	default:
		a.Device = "condition " + m.Condition
	}
	a.ID = m.id(p.idField)
	p.answer(a, success, "")
}

// admits tells whether a request's access token is good for an app: "" or the code.
func (p *provider) admits(r *farend.Request, app string) string {
	client, known, expired := p.office.Knows(r)
	switch {
	case expired:
		return "80200003"
	case !known || client != app:
		return "80200001"
	}
	return ""
}

// answer makes an answer of a code. "": the usual text.
func (p *provider) answer(a *farend.Answer, code, text string) {
	k := codes[code]
	if text == "" {
		text = k.text
	}
	id := strconv.FormatInt(1_000_000+p.serial.Add(1), 10)
	a.Status = k.status
	if code != success {
		a.Reason = code
	}
	if code == flow {
		a.Body = a.Body[:0]
		return
	}
	a.Body = appendJSON(a.Body[:0], struct {
		Code string `json:"code"`
		Text string `json:"msg"`
		ID   string `json:"requestId"`
	}{code, text, id})
}

func appendJSON(b []byte, v any) []byte {
	text, _ := json.Marshal(v) // of strings and numbers
	return append(b, text...)
}
