package apns

import (
	"crypto/tls"
	"crypto/x509"
	"strings"
	"testing"

	"software.sslmate.com/src/go-pkcs12"

	"github.com/hikyaku/hikyaku/internal/component"
	"github.com/hikyaku/hikyaku/internal/push/pushtest"
)

// TestACertificateMayBeInPKCS12 has it as Keychain exports it (RC2 and triple DES), as OpenSSL does today (AES), and
// without a password.
func TestACertificateMayBeInPKCS12(t *testing.T) {
	f := newFar(t, nil)
	_, cert, key, err := f.Authority.Client(bundle)
	if err != nil {
		t.Fatal(err)
	}
	pair, err := tls.X509KeyPair(cert, key)
	if err != nil {
		t.Fatal(err)
	}
	both := func(e *pkcs12.Encoder, password string) []byte {
		t.Helper()
		text, err := e.Encode(pair.PrivateKey, pair.Leaf, []*x509.Certificate{pair.Leaf}, password)
		if err != nil {
			t.Fatal(err)
		}
		return text
	}
	for name, c := range map[string]struct {
		text     []byte
		password string
	}{
		"Keychain": {both(pkcs12.LegacyRC2, "s3cret"), "s3cret"}, "OpenSSL": {both(pkcs12.Modern, "s3cret"), "s3cret"},
		"no password": {both(pkcs12.LegacyDES, ""), ""},
	} {
		pushtest.Write(t, f.dir+"/cert.p12", c.text)
		f.app = App{Endpoint: f.Addr().String(), CAFile: f.ca, CertFile: f.dir + "/cert.p12", CertPassword: c.password}
		if o := pushtest.Deliver1(t, newSink(t, f, nil), to(device(1))); o.Verdict != component.Delivered {
			t.Errorf("%s: %v", name, o)
		}
	}
	for want, c := range map[string]struct {
		text     []byte
		password string
	}{
		"is not opened by cert_password":    {both(pkcs12.Modern, "s3cret"), "s3cre"},
		"has a password: set cert_password": {both(pkcs12.LegacyRC2, "s3cret"), ""},
		"is neither PEM nor PKCS #12":       {cert[:10], ""}, "leave it out": {cert, "s3cret"},
	} {
		got, err := certificate(c.text, &App{CertPassword: c.password})
		if got != nil || err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "s3cre") {
			t.Errorf("%v, which does not say %q", err, want)
		}
	}
}
