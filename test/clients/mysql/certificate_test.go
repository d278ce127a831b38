package clients_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net"
	"path/filepath"
	"testing"
	"time"
)

// certificate makes an authority and a certificate of it for this machine, and returns their files.
func certificate(t *testing.T, dir string) (authority, cert, key string) {
	t.Helper()
	now := time.Now()
	parent := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "hikyaku's tests"}, NotBefore: now.Add(-time.Hour),
		NotAfter: now.Add(time.Hour),
		IsCA:     true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature,
	}
	own := &x509.Certificate{
		SerialNumber: big.NewInt(2), Subject: pkix.Name{CommonName: "127.0.0.1"}, NotBefore: parent.NotBefore,
		NotAfter: parent.NotAfter,
		KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, DNSNames: []string{"localhost"},
	}
	parentKey, ownKey := newKey(t), newKey(t)
	files := []struct{ name, kind string }{{"authority.pem", "CERTIFICATE"}, {"cert.pem", "CERTIFICATE"},
		{"key.pem", "PRIVATE KEY"}}
	bytes := [][]byte{sign(t, parent, parent, parentKey, parentKey), sign(t, own, parent, ownKey, parentKey), nil}
	var err error
	if bytes[2], err = x509.MarshalPKCS8PrivateKey(ownKey); err != nil {
		t.Fatal(err)
	}
	var paths [3]string
	for i, f := range files {
		paths[i] = filepath.Join(dir, f.name)
		write(t, paths[i], pem.EncodeToMemory(&pem.Block{Type: f.kind, Bytes: bytes[i]}))
	}
	return paths[0], paths[1], paths[2]
}

func newKey(t *testing.T) *ecdsa.PrivateKey {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return key
}

func sign(t *testing.T, cert, parent *x509.Certificate, key, parentKey *ecdsa.PrivateKey) []byte {
	t.Helper()
	der, err := x509.CreateCertificate(rand.Reader, cert, parent, &key.PublicKey, parentKey)
	if err != nil {
		t.Fatal(err)
	}
	return der
}
