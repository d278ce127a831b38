package fcm

import (
	"errors"
	"fmt"
	"net/http"
	"sync/atomic"
	"time"

	"github.com/hikyaku/hikyaku/internal/push"
	"github.com/hikyaku/hikyaku/internal/push/sender"
	"github.com/hikyaku/hikyaku/internal/push/suspect"
	"github.com/hikyaku/hikyaku/internal/push/token"
)

// scope is what access tokens have to be good for.
const scope = "https://www.googleapis.com/auth/firebase.messaging"

// project is one Firebase project: where its messages go, and who may send them.
type project struct {
	sender.Account
	id      string
	address string
	config  Project

	// Since Start.
	path    string
	client  *push.Client    // shared by projects of the same far end
	asker   *http.Transport // for access tokens
	parties alike           // that had THIRD_PARTY_AUTH_ERROR
	row     atomic.Int64    // of these, since a good answer
}

// mistake says what is probably wrong with a project's messages.
func (p *project) mistake(percent int, seen suspect.Seen) error {
	return fmt.Errorf("project %s rests: %d of the last %d answers were SENDER_ID_MISMATCH, so the tokens are "+
		"probably those of another project's apps; no device is taken for gone by it, and no message is lost: "+
		"check projects.%s.account_file and projects.%s.id, or raise suspect_percent (%d) if so many tokens are "+
		"another project's", p.Name, seen.Doubts, seen.Answers, p.Name, p.Name, percent)
}

// refused says what is probably wrong when FCM refuses messages.
func (p *project) refused(seen suspect.Seen) error {
	return fmt.Errorf("project %s rests: %d of the last %d answers refuse the message, so what the sink's message "+
		"makes is probably not as FCM wants it; no message is lost: check it, or cancel the campaign; the last one: %w",
		p.Name, seen.Doubts, seen.Answers, p.Last())
}

// manyParties is how many times in a row THIRD_PARTY_AUTH_ERROR makes the project rest. One good answer between means
// that others than Apple's devices, or other apps, can be reached.
const manyParties = 100

// party is told that credentials for Apple or Web Push are wrong, for a device. many: several were told so.
func (p *project) party(now time.Time, device uint64, reason error) (many bool) {
	if n := p.row.Add(1); n >= manyParties {
		p.Pause.Begin(now, partyRest, fmt.Errorf("no message was taken since %d were refused for the project's "+
			"credentials for Apple or Web Push, which are probably wrong; no message is lost: check them in "+
			"Firebase's console; the last one: %w", n, reason))
	}
	return p.parties.came(now, device)
}

// calm is told that FCM took a message.
func (p *project) calm() {
	if p.row.Load() != 0 { // it is mostly 0: then no processor has to be told
		p.row.Store(0)
	}
}

// identity tells apart what projects cannot share.
func (p *project) identity() string { return fmt.Sprintf("%q", []string{p.address, p.config.CAFile}) }

// open makes what a project needs, and checks the account's key.
func (s *Sink) open(p *project) error {
	secure, err := push.Trust(p.config.CAFile)
	if err != nil {
		return fmt.Errorf("ca_file: %w", err)
	}
	if p.asker, err = sender.Asker(s.proxy, secure); err != nil {
		return err
	}
	p.Tokens, err = token.NewOAuth(token.OAuthConfig{
		File: p.config.AccountFile, Scopes: []string{scope}, URL: p.config.TokenURL,
		Client: sender.Client(p.asker),
	})
	if err != nil {
		return err
	}
	id, err := p.Tokens.Project()
	if err != nil {
		return err
	}
	if p.id == "" {
		p.id = id
	}
	if !isID(p.id) {
		return &token.KeyError{File: p.config.AccountFile, Err: errors.New("has no project_id: set the project's id")}
	}
	p.path = "/v1/projects/" + p.id + "/messages:send"
	if p.client = s.clients[p.identity()]; p.client != nil {
		return nil
	}
	dial, err := push.Through(s.proxy, secure, nil)
	if err != nil {
		return err
	}
	p.client, err = push.New(push.Config{
		Address: p.address, Dial: dial, TLS: secure, MaxConnections: s.connections, MaxResponseBody: 8 << 10,
		// A refused token says nothing against the connection.
		Accepted: func(*push.Response) bool { return true },
	})
	if err != nil {
		return err
	}
	s.clients[p.identity()] = p.client
	return nil
}

// close ends the fetching of access tokens: those who wait are told.
func (p *project) close() {
	if p.HangUp(); p.asker != nil {
		p.asker.CloseIdleConnections()
	}
}
