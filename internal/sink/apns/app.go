package apns

import (
	"crypto/tls"
	"fmt"

	"github.com/hikyaku/hikyaku/internal/push"
	"github.com/hikyaku/hikyaku/internal/push/rest"
	"github.com/hikyaku/hikyaku/internal/push/token"
)

// app is one app: where its pushes go, and how they prove who sends them.
type app struct {
	name    string
	topic   string
	address string
	config  App
	watches watches

	// Since Start. Apps of the same key and far end share both.
	client *push.Client
	key    *token.Apple // nil: the connection's certificate says who we are
	pause  *pause
	outage *rest.Outage
}

// line is what apps with the same key and far end share.
type line struct {
	client *push.Client
	key    *token.Apple
	pause  *pause
	outage *rest.Outage
}

// secure makes the TLS settings of an app.
func (a *app) secure() (*tls.Config, error) {
	c, err := push.Trust(a.config.CAFile)
	if err != nil {
		return nil, fmt.Errorf("ca_file: %w", err)
	}
	if a.config.CertFile != "" {
		pair := token.NewFile(a.config.CertFile,
			func(text []byte) (*tls.Certificate, error) { return certificate(text, &a.config) }, nil)
		if _, _, err := pair.Get(); err != nil {
			return nil, err
		}
		c.GetClientCertificate = func(*tls.CertificateRequestInfo) (*tls.Certificate, error) {
			cert, _, err := pair.Get()
			return cert, err
		}
	}
	return c, nil
}

// open makes the client and the keeper of tokens of an app, and checks its key.
func (a *app) open(connections int, proxy string) (*line, error) {
	secure, err := a.secure()
	if err != nil {
		return nil, err
	}
	l := &line{pause: &pause{}, outage: &rest.Outage{}}
	first := 1
	if a.config.CertFile != "" {
		first = 0 // a certificate has proved who we are before the first request
	} else {
		if l.key, err = token.NewApple(token.AppleConfig{Team: a.config.Team, Key: a.config.KeyID,
			File: a.config.KeyFile}); err != nil {
			return nil, err
		}
		if _, err := l.key.Authorization(); err != nil {
			return nil, err
		}
	}
	dial, err := push.Through(proxy, secure, nil)
	if err != nil {
		return nil, err
	}
	l.client, err = push.New(push.Config{
		Address: a.address, Dial: dial, TLS: secure, MaxConnections: connections, MaxStreams: streamsEach,
		InitialStreams:  first,
		MaxResponseBody: 4 << 10,
	})
	return l, err
}

// identity tells apart what apps cannot share.
func (a *app) identity() string {
	c := a.config
	return fmt.Sprintf("%q", []string{a.address, c.CAFile, c.Team, c.KeyID, c.KeyFile, c.CertFile, c.CertKeyFile,
		c.CertPassword})
}
