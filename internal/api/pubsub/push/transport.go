package push

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"syscall"
	"time"
)

// TransportOptions are the settings of a transport. The zero value reaches every address and trusts the system's authorities.
type TransportOptions struct {
	LoopbackOnly bool           // connections go to this machine and nowhere else, whatever a name stands for
	RootCAs      *x509.CertPool // nil: the system's
}

// NewTransport makes what requests are sent with. It keeps connections, so one transport should serve all subscriptions. Certificates are
// verified; HTTP/2 is used where a server has it.
func NewTransport(o TransportOptions) *http.Transport {
	dialer := &net.Dialer{Timeout: 10 * time.Second, KeepAlive: 30 * time.Second}
	t := &http.Transport{
		Proxy:                  http.ProxyFromEnvironment,
		DialContext:            dialer.DialContext,
		TLSClientConfig:        &tls.Config{MinVersion: tls.VersionTLS12, RootCAs: o.RootCAs},
		TLSHandshakeTimeout:    10 * time.Second,
		ForceAttemptHTTP2:      true,
		DisableCompression:     true, // bodies of answers are thrown away
		MaxIdleConns:           4096,
		MaxIdleConnsPerHost:    1024,
		IdleConnTimeout:        90 * time.Second,
		MaxResponseHeaderBytes: 64 << 10,
	}
	if o.LoopbackOnly {
		t.Proxy = nil
		dialer.Control = loopbackOnly
	}
	return t
}

// loopbackOnly looks at the address that a name was resolved to.
func loopbackOnly(_, address string, _ syscall.RawConn) error {
	if to, err := netip.ParseAddrPort(address); err != nil || !to.Addr().IsLoopback() {
		return fmt.Errorf("%w: %s is not this machine, and no other is allowed", ErrEndpoint, address)
	}
	return nil
}
