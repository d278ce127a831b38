package mysql

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"io"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	driver "github.com/go-sql-driver/mysql"

	"github.com/hikyaku/hikyaku/internal/access"
	"github.com/hikyaku/hikyaku/internal/metricstest"
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

// TestHandshakesOfTLSThatFailAreCounted: no log says anything of them, for anybody can make as many as he likes.
func TestHandshakesOfTLSThatFailAreCounted(t *testing.T) {
	files, pool := certificate(t)
	r := newRig(t, Config{TLS: files}, users(t))
	for _, text := range []string{"", "\x16\x03\x01\x02\x00\x01", "something else entirely"} {
		c, err := net.Dial("tcp", r.addr)
		if err != nil {
			t.Fatal(err)
		}
		greeting := make([]byte, 4)
		if _, err := io.ReadFull(c, greeting); err != nil {
			t.Fatal(err)
		}
		if _, err := io.CopyN(io.Discard, c, int64(greeting[0])); err != nil {
			t.Fatal(err)
		}
		// what asks for TLS: the capabilities of 4.1 with SSL, the largest packet, a character set
		ask := append([]byte{32, 0, 0, 1, 0x00, 0x8a, 0x08, 0x00, 0, 0, 0, 1, 45}, make([]byte, 23)...)
		if _, err := c.Write(append(ask, text...)); err != nil {
			t.Fatal(err)
		}
		if err := c.(*net.TCPConn).CloseWrite(); err != nil {
			t.Fatal(err)
		}
		_, _ = io.Copy(io.Discard, c) // until it is closed
		_ = c.Close()
	}
	config := driver.NewConfig()
	config.User, config.Passwd, config.Net, config.Addr, config.DBName = "boss", "boss-secret", "tcp", r.addr, "test"
	config.TLS = &tls.Config{RootCAs: pool, ServerName: "127.0.0.1"}
	one(t, r.connectTo(config), int64(1), "SELECT 1")
	r.until("three are counted", func() bool {
		return metricstest.Of(t, r.door.traffic.of)["hikyaku_door_tls_handshakes_failed_total mysql"] == 3
	})
}
