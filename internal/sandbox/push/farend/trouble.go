package farend

import (
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"sync"
	"time"

	"golang.org/x/net/http2"
)

// Why connections broke, as Counts.BrokenBy has it. Each has a hint for the developer.
const (
	brokenPlain     = "no TLS"
	brokenDistrust  = "certificate not trusted"
	brokenClient    = "client certificate not trusted"
	brokenALPN      = "no common protocol"
	brokenHTTP1     = "HTTP/1"
	brokenPreface   = "not HTTP/2"
	brokenHungUp    = "hung up in the handshake"
	brokenSilent    = "no handshake in time"
	brokenHandshake = "handshake failed"
	brokenRules     = "breach of HTTP/2" // with the code behind it
)

var brokenHints = map[string]string{
	brokenPlain: "it speaks without TLS, and this far end wants TLS: use an address with https, or start the sandbox " +
		"with --plain",
	brokenDistrust: "the client does not trust the sandbox's certificate: let it trust authority.pem of the sandbox's " +
		"folder (ca_file), and name it localhost or by its address",
	brokenClient: "the client's certificate is none that the sandbox's authority has signed: use the one in the " +
		"sandbox's folder",
	brokenALPN: "the client asks in its handshake (ALPN) for protocols of which this far end speaks none: let it ask " +
		"for h2",
	brokenHTTP1: "the client speaks HTTP/1, and this far end speaks HTTP/2 alone, as the real one: let it ask for h2 " +
		"in the handshake (ALPN), or speak HTTP/2 at once",
	brokenPreface: "what came first is not how HTTP/2 begins: is another kind of client connected, or a proxy " +
		"between?",
	brokenHungUp: "the client ended the connection in the middle of the handshake: many do so without a word when " +
		"they do not trust the certificate (authority.pem), or miss a protocol (ALPN)",
	brokenSilent: "the client connected and said nothing for ten seconds",
}

// whyHandshake sorts the error of a handshake.
func whyHandshake(err error) (reason, hint string) {
	var record tls.RecordHeaderError
	var client *tls.CertificateVerificationError
	var timeout net.Error
	said := err.Error()
	switch {
	case errors.As(err, &record):
		reason = brokenPlain
	case errors.As(err, &client):
		reason = brokenClient
	case strings.Contains(said, "unsupported application protocol"):
		reason = brokenALPN
	case strings.Contains(said, "remote error") && strings.Contains(said, "certificate"):
		reason = brokenDistrust
	case errors.As(err, &timeout) && timeout.Timeout():
		reason = brokenSilent
	case errors.Is(err, io.EOF), strings.Contains(said, "connection reset"), strings.Contains(said, "broken pipe"):
		reason = brokenHungUp
	default:
		return brokenHandshake, said
	}
	return reason, brokenHints[reason]
}

// broke counts a connection that failed, and tells why.
func (c *conn) broke(reason, hint string) {
	c.s.ledger.breaks(reason)
	c.s.trouble.tell(reason, fmt.Sprintf("refused a connection from %s: %s: %s", c.from, reason, hint))
}

// breach is broke of a connection that does not keep the rules of HTTP/2.
func (c *conn) breach(code http2.ErrCode) {
	c.broke(brokenRules+": "+code.String(), "the client does not keep the rules of HTTP/2 (RFC 9113)")
}

// Hinter is met by services whose answers do not say what is wrong.
type Hinter interface {
	// Hint returns "" where there is nothing to say.
	Hint(reason string) string
}

// tellRefusal tells that a service has refused a request by itself, not because it was told to.
func (s *Server) tellRefusal(a *Answer) {
	if a.Reason == "" || s.trouble.to == nil {
		return
	}
	text := fmt.Sprintf("refused a request: %d %s", a.Status, a.Reason)
	hint := string(a.Body[:min(len(a.Body), mostHint)])
	if h, ok := s.service.(Hinter); ok {
		hint = h.Hint(a.Reason)
	}
	if hint != "" {
		text += ": " + hint
	}
	s.trouble.tell("request "+a.Reason, text)
}

const (
	// troubleEvery is how often a line about the same trouble is told.
	troubleEvery = 10 * time.Second
	// mostTroubles bounds what is told apart.
	mostTroubles = 100
	mostHint     = 500 // bytes of an answer
)

// trouble tells the developer what goes wrong: each kind at once, and then at most once in troubleEvery.
type trouble struct {
	to func(line string) // nil: nobody

	mu    sync.Mutex
	kinds map[string]*told
}

type told struct {
	next   time.Time
	untold int
}

func (t *trouble) tell(kind, line string) {
	if t.to == nil {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	one := t.kinds[kind]
	if one == nil {
		if len(t.kinds) >= mostTroubles {
			return
		}
		if t.kinds == nil {
			t.kinds = map[string]*told{}
		}
		one = new(told)
		t.kinds[kind] = one
	}
	now := time.Now()
	if now.Before(one.next) {
		one.untold++
		return
	}
	if one.untold > 0 {
		line += fmt.Sprintf(" (%d more since the last line)", one.untold)
	}
	one.next, one.untold = now.Add(troubleEvery), 0
	t.to(line)
}
