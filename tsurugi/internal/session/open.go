package session

import (
	"context"
	"errors"
	"fmt"
	"net"
	"time"

	"github.com/hikyaku/hikyaku/tsurugi/internal/message"
	"github.com/hikyaku/hikyaku/tsurugi/internal/wire"
)

// Open connects to an address, host:port, and shakes hands. The context and Config.Timeout bound that; the session's
// life they do not.
func Open(ctx context.Context, address string, cfg Config) (*Session, error) {
	cfg, err := cfg.withDefaults()
	if err != nil {
		return nil, err
	}
	if len(cfg.User) > maxName || len(cfg.Password) > maxName {
		return nil, fmt.Errorf("tsurugi: a user's name and password have at most %d bytes", maxName)
	}
	ctx, cancel := context.WithTimeout(ctx, cfg.Timeout)
	defer cancel()
	conn, err := cfg.Dial(ctx, "tcp", address)
	if err != nil {
		return nil, &LostError{opening: true, Err: fmt.Errorf("connecting to %s: %w", address, err)}
	}
	stop := context.AfterFunc(ctx, func() { _ = conn.SetDeadline(time.Unix(1, 0)) })
	h := &handshake{cfg: cfg, conn: conn, reader: wire.NewReader(conn, cfg.MaxAnswer)}
	answer, err := h.shake()
	if !stop() && err == nil {
		err = ctx.Err()
	}
	if err != nil {
		_ = conn.Close() // the error that counts is the first
		if ctx.Err() != nil {
			err = fmt.Errorf("%w (%w)", ctx.Err(), err)
		}
		return nil, &LostError{opening: true, Err: fmt.Errorf("the handshake with %s: %w", address, err)}
	}
	return start(cfg, conn, h.reader, answer), nil
}

// A handshake is the beginning of a session, one request at a time.
type handshake struct {
	cfg    Config
	conn   net.Conn
	reader *wire.Reader
}

func (h *handshake) shake() (answer message.EndpointAnswer, err error) {
	hello := message.Handshake{Label: h.cfg.Label, App: h.cfg.App, Token: h.cfg.Token, Encrypted: h.cfg.Sealed,
		ResultSets: uint64(h.cfg.ResultSets)}
	if h.cfg.User != "" && h.cfg.Token == "" && h.cfg.Sealed == "" {
		if hello.Encrypted, err = h.credentials(); err != nil {
			return answer, err
		}
	}
	version := wire.EndpointVersion
	if h.cfg.Relay {
		version, hello.Media = wire.RelayVersion, []message.Medium{message.RelayMedium}
	}
	answer, err = h.ask(message.EndpointRequest{Version: version, Handshake: &hello})
	if err == nil && h.cfg.Relay && answer.Relay == nil {
		err = errors.New("the server gives no relay for large objects")
	}
	return answer, err
}

// credentials asks for the key and encrypts with it. A server that needs no credentials has none.
func (h *handshake) credentials() (string, error) {
	answer, err := h.ask(message.EndpointRequest{Version: wire.EndpointVersion, EncryptionKey: true})
	if e, ok := err.(*DiagnosticError); ok && e.Code == codeUnsupported {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	return seal(answer.Key, h.cfg.User, h.cfg.Password)
}

// ask sends a request and reads the answer.
func (h *handshake) ask(r message.EndpointRequest) (message.EndpointAnswer, error) {
	b := wire.BeginRequest(nil, wire.RequestPayload, 0)
	b = wire.AppendRequestHeader(b, wire.RequestHeader{Version: wire.FrameworkVersion, Service: wire.Endpoint,
		Session: wire.NoSession})
	b = wire.Delimited(b, r.Append)
	wire.EndRequest(b, 0)
	if _, err := h.conn.Write(b); err != nil {
		return message.EndpointAnswer{}, err
	}
	frame, err := h.reader.Response()
	if err != nil {
		return message.EndpointAnswer{}, err
	}
	if frame.Info != wire.ResponsePayload {
		return message.EndpointAnswer{}, fmt.Errorf("%w: a frame of kind %d in the handshake", wire.ErrMalformed,
			frame.Info)
	}
	a, err := wire.ParseAnswer(frame.Payload)
	if err != nil {
		return message.EndpointAnswer{}, err
	}
	if a.Diagnostic != nil {
		return message.EndpointAnswer{}, &DiagnosticError{*a.Diagnostic}
	}
	answer, err := message.ParseEndpointAnswer(a.Message)
	if err == nil && answer.Error != nil {
		err = &DiagnosticError{*answer.Error}
	}
	return answer, err
}
