package farend

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"math/big"
	"net"
	"time"
)

// Authority is a certificate authority of its own, made anew for each far end, which clients are told to trust.
type Authority struct {
	cert *x509.Certificate
	key  crypto.Signer
	// PEM is its certificate, and KeyPEM its key.
	PEM, KeyPEM []byte
}

// Secure gives the far end an authority where it has none, or takes away the one it has where plain wants no TLS.
func (c *Config) Secure(plain bool) (err error) {
	if plain {
		c.Authority = nil
	} else if c.Authority == nil {
		c.Authority, err = NewAuthority()
	}
	return err
}

// NewAuthority makes an authority whose certificates are good for a year.
func NewAuthority() (*Authority, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, fmt.Errorf("key of the certificate authority: %w", err)
	}
	a := &Authority{key: key, cert: template("hikyaku sandbox authority")}
	a.cert.IsCA, a.cert.BasicConstraintsValid = true, true
	a.cert.KeyUsage |= x509.KeyUsageCertSign
	der, err := x509.CreateCertificate(rand.Reader, a.cert, a.cert, key.Public(), key)
	if err != nil {
		return nil, fmt.Errorf("certificate of the authority: %w", err)
	}
	if a.cert, err = x509.ParseCertificate(der); err != nil {
		return nil, fmt.Errorf("certificate of the authority: %w", err)
	}
	a.PEM = pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
	pkcs8, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return nil, fmt.Errorf("key of the certificate authority: %w", err)
	}
	a.KeyPEM = pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: pkcs8})
	return a, nil
}

// ReadAuthority takes up one that was made before, by what its PEM and KeyPEM were.
func ReadAuthority(certPEM, keyPEM []byte) (*Authority, error) {
	pair, err := tls.X509KeyPair(certPEM, keyPEM)
	if err != nil {
		return nil, fmt.Errorf("certificate authority: %w", err)
	}
	key, ok := pair.PrivateKey.(crypto.Signer)
	if !ok || !pair.Leaf.IsCA {
		return nil, errors.New("certificate authority: the certificate is none of an authority")
	}
	return &Authority{cert: pair.Leaf, key: key, PEM: certPEM, KeyPEM: keyPEM}, nil
}

func template(name string) *x509.Certificate {
	serial, _ := rand.Int(rand.Reader, big.NewInt(1<<62)) // rand.Reader never fails
	return &x509.Certificate{
		SerialNumber: serial, Subject: pkix.Name{CommonName: name},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().AddDate(1, 0, 0),
		KeyUsage: x509.KeyUsageDigitalSignature,
	}
}

// Pool holds the authority's certificate alone.
func (a *Authority) Pool() *x509.CertPool {
	p := x509.NewCertPool()
	p.AddCert(a.cert)
	return p
}

// Server makes a certificate for loopback, and for the names and addresses given.
func (a *Authority) Server(names ...string) (tls.Certificate, error) {
	c := template("hikyaku sandbox")
	c.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}
	c.DNSNames = []string{"localhost"}
	c.IPAddresses = []net.IP{net.IPv4(127, 0, 0, 1), net.IPv6loopback}
	for _, name := range names {
		if ip := net.ParseIP(name); ip != nil {
			c.IPAddresses = append(c.IPAddresses, ip)
		} else {
			c.DNSNames = append(c.DNSNames, name)
		}
	}
	cert, _, _, err := a.sign(c)
	return cert, err
}

// Client makes a client's certificate for a subject name, also as PEM files.
func (a *Authority) Client(name string) (cert tls.Certificate, certPEM, keyPEM []byte, err error) {
	c := template(name)
	c.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}
	return a.sign(c)
}

func (a *Authority) sign(c *x509.Certificate) (cert tls.Certificate, certPEM, keyPEM []byte, err error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return cert, nil, nil, fmt.Errorf("key of %s: %w", c.Subject.CommonName, err)
	}
	der, err := x509.CreateCertificate(rand.Reader, c, a.cert, key.Public(), a.key)
	if err != nil {
		return cert, nil, nil, fmt.Errorf("certificate of %s: %w", c.Subject.CommonName, err)
	}
	pkcs8, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return cert, nil, nil, fmt.Errorf("key of %s: %w", c.Subject.CommonName, err)
	}
	certPEM = pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
	keyPEM = pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: pkcs8})
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}, certPEM, keyPEM, nil
}
