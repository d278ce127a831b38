package push

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"github.com/hikyaku/hikyaku/internal/push"
)

// pushPayload is what a user is sent.
func pushPayload(user int) []byte {
	return fmt.Appendf(nil, `{"aps":{"alert":"test for %d"}}`, user)
}

// pushFields are the header fields of a push, the same ones as in the field report, signed with the key in a file.
func pushFields(signer string, user int) ([]push.Field, error) {
	token, err := providerToken(signer)
	if err != nil {
		return nil, err
	}
	return []push.Field{
		{Name: "authorization", Value: "bearer " + token},
		{Name: "apns-topic", Value: pushTopic},
		{Name: "apns-priority", Value: "10"},
		{Name: "apns-expiration", Value: "0"},
		{Name: "apns-collapse-id", Value: fmt.Sprint("user-", user)},
	}, nil
}

func providerToken(signer string) (string, error) {
	text, err := os.ReadFile(signer)
	if err != nil {
		return "", err
	}
	key, err := jwt.ParseECPrivateKeyFromPEM(text)
	if err != nil {
		return "", fmt.Errorf("key %s: %w", signer, err)
	}
	return signToken(key)
}

func signToken(key *ecdsa.PrivateKey) (string, error) {
	t := jwt.NewWithClaims(jwt.SigningMethodES256, jwt.MapClaims{"iss": pushTeam, "iat": time.Now().Unix()})
	t.Header["kid"] = pushKey
	return t.SignedString(key)
}

func trusting(ca string) (*tls.Config, error) {
	text, err := os.ReadFile(ca)
	if err != nil {
		return nil, err
	}
	roots := x509.NewCertPool()
	if !roots.AppendCertsFromPEM(text) {
		return nil, fmt.Errorf("%s has no certificate", ca)
	}
	return &tls.Config{RootCAs: roots}, nil
}

// pusher sends n pushes to one phone through one connection, as fast as it can, and tells how many failed.
type pusher interface {
	push(ctx context.Context, n int) (failed int, err error)
	Close() error
}

// inFlight is how many pushes a client is given at once: more than the far end allows, so that it never runs dry.
const inFlight = 2 * pushStreams

// enginePusher is ours.
type enginePusher struct {
	client  *push.Client
	request *push.Request
}

func newEnginePusher(addr, ca, signer string) (pusher, error) {
	secure, err := trusting(ca)
	if err != nil {
		return nil, err
	}
	fields, err := pushFields(signer, 1)
	if err != nil {
		return nil, err
	}
	fields[0].Sensitive = true
	client, err := push.New(push.Config{Address: addr, TLS: secure, MaxConnections: 1})
	if err != nil {
		return nil, err
	}
	return &enginePusher{client, &push.Request{Method: "POST", Path: "/3/device/" + deviceToken(1), Header: fields,
		Body: pushPayload(1)}}, nil
}

func (p *enginePusher) push(ctx context.Context, n int) (int, error) {
	var left, done, failed atomic.Int64
	left.Store(int64(n))
	ended := make(chan struct{})
	var answered func(r push.Result)
	send := func() {
		if left.Add(-1) >= 0 {
			p.client.Send(p.request, time.Time{}, answered)
		}
	}
	answered = func(r push.Result) {
		if r.Err != nil || r.Response.Status != 200 {
			failed.Add(1)
		}
		send()
		if done.Add(1) == int64(n) {
			close(ended)
		}
	}
	for range min(n, inFlight) {
		send()
	}
	select {
	case <-ended:
		return int(failed.Load()), nil
	case <-ctx.Done():
		return 0, ctx.Err()
	}
}

func (p *enginePusher) Close() error {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	return p.client.Close(ctx)
}

// httpPusher is Go's net/http, with a goroutine for each push in flight.
type httpPusher struct {
	client    *http.Client
	transport *http.Transport
	url       string
	header    http.Header
	body      []byte
	connected bool
}

func newHTTPPusher(addr, ca, signer string) (pusher, error) {
	secure, err := trusting(ca)
	if err != nil {
		return nil, err
	}
	fields, err := pushFields(signer, 1)
	if err != nil {
		return nil, err
	}
	t := &http.Transport{TLSClientConfig: secure, ForceAttemptHTTP2: true,
		HTTP2: &http.HTTP2Config{StrictMaxConcurrentRequests: true}}
	p := &httpPusher{client: &http.Client{Transport: t}, transport: t,
		url: "https://" + addr + "/3/device/" + deviceToken(1), header: http.Header{}, body: pushPayload(1)}
	for _, f := range fields {
		p.header.Set(f.Name, f.Value)
	}
	return p, nil
}

func (p *httpPusher) push(ctx context.Context, n int) (int, error) {
	// by one request: a thousand at once would each make a connection before they learn that one will do
	if !p.connected {
		if err := p.one(ctx); err != nil {
			return 0, err
		}
		p.connected = true
	}
	var left, failed atomic.Int64
	left.Store(int64(n))
	var workers sync.WaitGroup
	for range min(n, pushStreams) {
		workers.Go(func() {
			for left.Add(-1) >= 0 {
				if err := p.one(ctx); err != nil {
					failed.Add(1)
				}
			}
		})
	}
	workers.Wait()
	return int(failed.Load()), ctx.Err()
}

func (p *httpPusher) one(ctx context.Context) error {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, p.url, bytes.NewReader(p.body))
	if err != nil {
		return err
	}
	r.Header = p.header
	answer, err := p.client.Do(r)
	if err != nil {
		return err
	}
	_, err = io.Copy(io.Discard, answer.Body)
	if err = errors.Join(err, answer.Body.Close()); err == nil && answer.StatusCode != http.StatusOK {
		err = errors.New(answer.Status)
	}
	return err
}

func (p *httpPusher) Close() error {
	p.transport.CloseIdleConnections()
	return nil
}
