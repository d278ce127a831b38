package http

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"net"
	"net/http"
	"strings"
	"syscall"
)

// advice is what a person may try who could not reach a server, as the end of an error's text; "" when nothing better
// is known than the error itself.
func (c *Client) advice(err error) string {
	var (
		dns      *net.DNSError
		unknown  x509.UnknownAuthorityError
		otherFor x509.HostnameError
		invalid  x509.CertificateInvalidError
		notTLS   tls.RecordHeaderError
		timeout  net.Error
	)
	switch {
	case errors.Is(err, syscall.ECONNREFUSED):
		return " (is `hikyaku serve` running there?)"
	case errors.As(err, &dns):
		return " (is the name of the host right?)"
	case errors.As(err, &unknown):
		return " (nobody whom this machine trusts has signed the certificate)"
	case errors.As(err, &otherFor):
		return " (the certificate is for another name: use that name in the address)"
	case errors.As(err, &invalid):
		return " (the server needs another certificate)"
	case errors.Is(err, http.ErrSchemeMismatch), errors.As(err, &notTLS):
		return " (the server does not speak TLS: try " + strings.Replace(c.base, "https://", "http://", 1) + ")"
	case strings.Contains(err.Error(), "malformed HTTP"):
		return " (what listens there does not speak HTTP: is it the port of the http door?)"
	case errors.As(err, &timeout) && timeout.Timeout():
		return " (nothing answers there: are the host and the port right?)"
	}
	return ""
}
