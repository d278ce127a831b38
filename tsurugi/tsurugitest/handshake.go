package tsurugitest

import (
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha1"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"time"

	"github.com/hikyaku/hikyaku/tsurugi/internal/message"
	"github.com/hikyaku/hikyaku/tsurugi/internal/wire"
)

// versions that are accepted.
func (s *Server) framework() wire.Version {
	return s.version(wire.Version{Major: 1}, wire.Version{Major: 2, Minor: 1})
}
func (s *Server) endpoint() wire.Version {
	return s.version(wire.Version{Minor: 1}, wire.Version{Minor: 2})
}
func (s *Server) sqlVersion() wire.Version {
	return s.version(wire.Version{Major: 2}, wire.Version{Major: 2, Minor: 1})
}

func (s *Server) version(now, newest wire.Version) wire.Version {
	if s.cfg.Newest {
		return newest
	}
	return now
}

// handshake lets a client in, or not.
func (c *session) handshake(full bool) error {
	for {
		if err := c.flush(true); err != nil {
			return err
		}
		r, err := c.reader.Request()
		if err != nil {
			return err
		}
		if r.Info == wire.RequestGoodbye {
			c.frame(wire.Response{Info: wire.ResponseGoodbyeOK})
			return errGone
		}
		h, body, err := wire.CutRequestHeader(r.Payload)
		if err != nil || h.Version.Above(c.server.framework()) {
			return errGone
		}
		refuse := func(code uint64, text string) error {
			c.endpoint(r.Slot, message.EndpointAnswer{Error: &wire.Diagnostic{Code: code, Message: text}})
			return errGone
		}
		if h.Service != wire.Endpoint {
			return refuse(diagIllegalState, "handshake operation is required to establish sessions")
		}
		request, err := message.ParseEndpointRequest(body)
		switch {
		case err != nil:
			return refuse(diagInvalidRequest, "request parse error")
		case request.Version.Above(c.server.endpoint()):
			return refuse(diagInvalidRequest, "unsupported service message version")
		case full:
			return refuse(diagResourceLimit, "the number of sessions has reached its limit")
		case request.EncryptionKey && c.server.key == nil:
			c.endpoint(r.Slot, message.EndpointAnswer{Error: &wire.Diagnostic{Code: diagUnsupported,
				Message: "authentication is off"}})
			continue
		case request.EncryptionKey:
			c.endpoint(r.Slot, message.EndpointAnswer{Key: c.server.pem})
			continue
		case request.Handshake == nil || !request.Handshake.Stream:
			return refuse(diagInvalidRequest, "bad request (handshake in endpoint)")
		case len(request.Handshake.Label) > 0 && request.Handshake.Label[0] == ':':
			return refuse(diagInvalidRequest, "invalid connection label")
		}
		switch a := c.server.ask(Request{Kind: Handshake, Session: c.id}); a.does {
		case drop, doAndDrop, hang:
			return errGone
		case fail:
			return refuse(a.code, a.detail)
		}
		user, ok := c.server.authenticate(request.Handshake)
		if !ok {
			return refuse(diagAuthentication, "user or password is incorrect")
		}
		relay, ok := c.medium(request.Handshake.Media)
		if !ok {
			return refuse(diagUnsupported, "the requested blob transfer method is unavailable")
		}
		c.slots = max(minSlots, int(min(request.Handshake.ResultSets, 1<<16)))
		c.endpoint(r.Slot, message.EndpointAnswer{Session: c.id, User: user, Relay: relay})
		return c.flush(true)
	}
}

// medium takes the first way for large objects that there is. A client that names none has the server open files.
func (c *session) medium(wanted []message.Medium) (relay *message.Relay, ok bool) {
	for _, m := range wanted {
		if m != message.RelayMedium {
			return nil, true
		}
		if c.server.relay != nil {
			relay = c.server.relay.begin(c.id)
			c.relay = relay.Session
			return relay, true
		}
	}
	return nil, len(wanted) == 0
}

func (c *session) endpoint(slot uint16, a message.EndpointAnswer) {
	c.answer(slot, wire.Answer{Message: a.Append(nil)})
}

// authenticate tells who a client is, and whether it may come in.
func (s *Server) authenticate(h *message.Handshake) (string, bool) {
	if s.key == nil {
		return "", true
	}
	if h.Token != "" {
		user, ok := s.cfg.Tokens[h.Token]
		return user, ok
	}
	sealed, err := base64.RawStdEncoding.DecodeString(h.Encrypted)
	if err != nil {
		return "", false
	}
	text, err := rsa.DecryptOAEP(sha1.New(), nil, s.key, sealed, nil)
	if err != nil {
		return "", false
	}
	var credential struct {
		Version        int       `json:"format_version"`
		User, Password string    `json:",omitempty"`
		Expires        time.Time `json:"expiration_date"`
	}
	if json.Unmarshal(text, &credential) != nil || credential.Version != 1 {
		return "", false
	}
	if !credential.Expires.IsZero() && credential.Expires.Before(time.Now()) {
		return "", false
	}
	password, ok := s.cfg.Users[credential.User]
	return credential.User, ok && password == credential.Password
}

// Seal encrypts a user's name and password with the server's key, as the first line of a file that tgctl credentials
// writes has them. A zero time is no end. The server must have Users or Tokens.
func (s *Server) Seal(user, password string, expires time.Time) (string, error) {
	credential := map[string]any{"format_version": 1, "user": user, "password": password}
	if !expires.IsZero() {
		credential["expiration_date"] = expires.UTC()
	}
	text, err := json.Marshal(credential)
	if err != nil {
		return "", fmt.Errorf("tsurugitest: %w", err)
	}
	sealed, err := rsa.EncryptOAEP(sha1.New(), rand.Reader, &s.key.PublicKey, text, nil)
	if err != nil {
		return "", fmt.Errorf("tsurugitest: %w", err)
	}
	return base64.RawStdEncoding.EncodeToString(sealed), nil
}
