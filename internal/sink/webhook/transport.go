package webhook

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"time"

	"github.com/hikyaku/hikyaku/internal/component"
	"github.com/hikyaku/hikyaku/internal/outbound"
)

// newTransport makes a pool of connections. How long a request may take as a whole is the pipeline's business; the
// bounds here are for connections that come to nothing.
func newTransport(c TLS, connections int, reach *outbound.Policy) (*http.Transport, error) {
	secure, err := c.config()
	if err != nil {
		return nil, err
	}
	dialer := &net.Dialer{Timeout: 10 * time.Second, KeepAlive: 15 * time.Second}
	return &http.Transport{
		Proxy:                  reach.Proxy,
		DialContext:            reach.Dial(dialer),
		TLSClientConfig:        secure,
		TLSHandshakeTimeout:    10 * time.Second,
		MaxIdleConns:           connections,
		MaxIdleConnsPerHost:    connections,
		IdleConnTimeout:        90 * time.Second,
		MaxResponseHeaderBytes: 64 << 10,
		ForceAttemptHTTP2:      true, // a configuration of our own would switch it off
		HTTP2: &http.HTTP2Config{
			SendPingTimeout: 15 * time.Second, // finds out that a quiet connection is dead
			PingTimeout:     10 * time.Second,
		},
	}, nil
}

func (c TLS) config() (*tls.Config, error) {
	t := &tls.Config{MinVersion: tls.VersionTLS12, ServerName: c.ServerName}
	if c.CAFile != "" {
		pem, err := os.ReadFile(c.CAFile)
		if err != nil {
			return nil, component.Setting("tls.ca_file", err)
		}
		t.RootCAs = x509.NewCertPool()
		if !t.RootCAs.AppendCertsFromPEM(pem) {
			return nil, component.Setting("tls.ca_file", fmt.Errorf("%s holds no certificate", c.CAFile))
		}
	}
	if c.CertFile != "" {
		ours, err := tls.LoadX509KeyPair(c.CertFile, c.KeyFile)
		if err != nil {
			return nil, component.Setting("tls.cert_file", errors.Join(fmt.Errorf("%s and %s", c.CertFile, c.KeyFile),
				err))
		}
		t.Certificates = []tls.Certificate{ours}
	}
	return t, nil
}
