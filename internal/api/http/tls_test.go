package http_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/hikyaku/hikyaku/internal/access"
	door "github.com/hikyaku/hikyaku/internal/api/http"
	"github.com/hikyaku/hikyaku/internal/queue"
)

// certify writes a fresh self-signed certificate for 127.0.0.1 and returns a pool that trusts it.
func certify(t *testing.T, files access.TLS, serial int64) *x509.CertPool {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(serial), NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, IsCA: true, BasicConstraintsValid: true,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	keyDER, err := x509.MarshalECPrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	certPEM := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
	for path, data := range map[string][]byte{files.Cert: certPEM,
		files.Key: pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: keyDER})} {
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(certPEM)
	return pool
}

func TestTheDoorSpeaksTLSAndFollowsItsCertificate(t *testing.T) {
	files := access.TLS{Cert: filepath.Join(t.TempDir(), "cert.pem"), Key: filepath.Join(t.TempDir(), "key.pem")}
	first := certify(t, files, 1)
	r := start(t, settings{config: door.Config{TLS: files}, users: team})
	url := strings.Replace(r.url, "http:", "https:", 1)
	client := func(pool *x509.CertPool) *door.Client {
		c, err := door.NewClient(door.ClientConfig{URL: url, Secret: access.Secret("boss-secret"),
			TLS: &tls.Config{RootCAs: pool}})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(c.Close)
		return c
	}
	q := queue.Name{Namespace: "default", Name: "q"}
	if _, err := client(first).CreateQueue(t.Context(), q, door.Definition{}); err != nil {
		t.Fatal(err)
	}
	if sum, err := client(first).PutStream(t.Context(), q, messages("a", "b"), nil); err != nil || sum.Put != 2 {
		t.Errorf("%+v, %v", sum, err)
	}

	// Files that do not fit leave the old certificate in use, and somebody is told.
	if err := os.WriteFile(files.Cert, []byte("half writ"), 0o600); err != nil {
		t.Fatal(err)
	}
	waitFor(t, func() bool {
		if _, err := client(first).Stats(t.Context(), q); err != nil {
			t.Fatal(err)
		}
		return strings.Contains(r.reports.text(), "stays")
	})
	second := certify(t, files, 2)
	waitFor(t, func() bool {
		_, err := client(second).Stats(t.Context(), q)
		return err == nil
	})
	if _, err := client(first).Stats(t.Context(), q); err == nil {
		t.Error("the old certificate is still shown")
	}
}

func TestACertificateThatCannotBeReadStopsTheStart(t *testing.T) {
	files := access.TLS{Cert: filepath.Join(t.TempDir(), "cert.pem"), Key: filepath.Join(t.TempDir(), "key.pem")}
	s, err := door.New(door.Config{Listen: "127.0.0.1:0", TLS: files},
		door.Options{Store: openStore(t, queue.Options{})})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Start(t.Context()); err == nil || !strings.Contains(err.Error(), "cert.pem") {
		t.Errorf("%v", err)
	}
	certify(t, files, 1)
	certify(t, access.TLS{Cert: files.Cert, Key: filepath.Join(t.TempDir(), "other.pem")}, 2)
	if _, err := s.Start(t.Context()); err == nil || !strings.Contains(err.Error(), "no certificate with its key") {
		t.Errorf("%v", err)
	}
	if err := s.Close(t.Context()); err != nil {
		t.Error(err)
	}
}
