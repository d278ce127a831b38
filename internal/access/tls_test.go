package access

import (
	"crypto/x509"
	"encoding/pem"
	"errors"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"
	"time"
)

func TestACertificateThatCannotBeUsedIsToldOnceAndTheOldOneStays(t *testing.T) {
	known := httptest.NewTLSServer(nil)
	known.Close()
	key, err := x509.MarshalPKCS8PrivateKey(known.TLS.Certificates[0].PrivateKey)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	files := TLS{Cert: filepath.Join(dir, "cert.pem"), Key: filepath.Join(dir, "key.pem")}
	good := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: known.Certificate().Raw})
	write := func(path string, text []byte) {
		t.Helper()
		if err := os.WriteFile(path, text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write(files.Cert, good)
	write(files.Key, pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: key}))
	var told []error
	c := &certificate{files: files, bad: errors.New("door"), report: func(err error) { told = append(told, err) }}
	if c.stamp, err = c.look(); err == nil {
		c.current, err = c.load()
	}
	if err != nil {
		t.Fatal(err)
	}
	first := c.current
	handshakes := func(want int) {
		t.Helper()
		for range 3 {
			c.looked = time.Time{} // more than a second ago
			if got, err := c.get(nil); err != nil || len(got.Certificate) == 0 {
				t.Fatalf("%v, %v", got, err)
			}
		}
		if len(told) != want {
			t.Errorf("told %d times, want %d: %v", len(told), want, told)
		}
	}
	write(files.Cert, []byte("broken"))
	handshakes(1)
	if c.current != first {
		t.Error("another certificate is in use")
	}
	if err := os.Remove(files.Cert); err != nil {
		t.Fatal(err)
	}
	handshakes(2)
	write(files.Cert, append(good, '\n'))
	handshakes(2)
	if c.current == first {
		t.Error("the new certificate is not in use")
	}
	write(files.Cert, []byte("broken"))
	handshakes(3)
}
