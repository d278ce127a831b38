package mysql

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	driver "github.com/go-sql-driver/mysql"

	"github.com/hikyaku/hikyaku/internal/access"
)

// certificate writes a certificate for 127.0.0.1 and its key into files, and returns who trusts it.
func certificate(t *testing.T) (access.TLS, *x509.CertPool) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := x509.Certificate{SerialNumber: big.NewInt(1), IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		NotAfter: time.Now().Add(time.Hour), IsCA: true, BasicConstraintsValid: true}
	der, err := x509.CreateCertificate(rand.Reader, &template, &template, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	pkcs8, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	files := access.TLS{Cert: filepath.Join(dir, "cert.pem"), Key: filepath.Join(dir, "key.pem")}
	for path, block := range map[string]*pem.Block{files.Cert: {Type: "CERTIFICATE", Bytes: der},
		files.Key: {Type: "PRIVATE KEY", Bytes: pkcs8}} {
		if err := os.WriteFile(path, pem.EncodeToMemory(block), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	pool := x509.NewCertPool()
	cert, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	pool.AddCert(cert)
	return files, pool
}

// TestUnderTLSEverythingIsTheSame waits, takes and disappears under TLS.
func TestUnderTLSEverythingIsTheSame(t *testing.T) {
	files, pool := certificate(t)
	r := newRig(t, Config{TLS: files}, users(t))
	r.makeJobs(1)
	config := driver.NewConfig()
	config.User, config.Passwd, config.Net, config.Addr, config.DBName = "boss", "boss-secret", "tcp", r.addr, "test"
	config.TLS = &tls.Config{RootCAs: pool, ServerName: "127.0.0.1"}
	open := func() *client {
		t.Helper()
		return &client{conn: r.connectTo(config)}
	}
	a := open()
	one(t, a.conn, int64(1), "SELECT queue_wait('jobs', 5)")
	one(t, a.conn, int64(1), "SELECT v FROM jobs")
	a.hangUp()
	r.until("the row is ready again", func() bool { return r.stats().Ready == 1 })
	b := open()
	one(t, b.conn, int64(1), "SELECT queue_wait('jobs', 5)")
	one(t, b.conn, int64(1), "SELECT queue_end()")
	var id int
	if err := b.conn.QueryRowContext(t.Context(), "SELECT CONNECTION_ID()").Scan(&id); err != nil {
		t.Fatal(err)
	}
	var waiting sync.WaitGroup
	defer waiting.Wait()
	waiting.Go(func() { answer(t, b.conn, "SELECT queue_wait('jobs', 3600)", false) })
	r.until("it waits", func() bool { return r.stats().Waiters == 1 })
	exec(t, r.as("boss"), fmt.Sprintf("KILL %d", id))
	r.until("nobody waits", func() bool { return r.stats().Waiters == 0 })
}
