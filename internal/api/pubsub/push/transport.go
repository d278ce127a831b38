package push

import (
	"crypto/tls"
	"crypto/x509"
	"net"
	"net/http"
	"time"

	"github.com/hikyaku/hikyaku/internal/outbound"
)

// TransportOptions are the settings of a transport. The zero value reaches every address and trusts the system's
// authorities.
type TransportOptions struct {
	Outbound *outbound.Policy // which addresses may be reached; nil: all
	RootCAs  *x509.CertPool   // nil: the system's
}

// NewTransport makes what requests are sent with. It keeps connections, so one transport should serve all
// subscriptions. Certificates are verified; HTTP/2 is used where a server has it.
func NewTransport(o TransportOptions) *http.Transport {
	dialer := &net.Dialer{Timeout: 10 * time.Second, KeepAlive: 30 * time.Second}
	return &http.Transport{
		Proxy:                  o.Outbound.Proxy,
		DialContext:            o.Outbound.Dial(dialer),
		TLSClientConfig:        &tls.Config{MinVersion: tls.VersionTLS12, RootCAs: o.RootCAs},
		TLSHandshakeTimeout:    10 * time.Second,
		ForceAttemptHTTP2:      true,
		DisableCompression:     true, // bodies of answers are thrown away
		MaxIdleConns:           4096,
		MaxIdleConnsPerHost:    1024,
		IdleConnTimeout:        90 * time.Second,
		MaxResponseHeaderBytes: 64 << 10,
	}
}
