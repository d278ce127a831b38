package link_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/hikyaku/hikyaku/internal/api/mysql/link"
)

// patience bounds the wait for what has to happen at once.
const patience = time.Minute

// socketPath is a path that is short enough for a socket, whatever the test is called.
func socketPath(t testing.TB) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "link")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	return filepath.Join(dir, "mysql.sock")
}

func listen(t testing.TB, c link.Config) *link.Listener {
	t.Helper()
	l, err := link.Listen(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := l.Close(); err != nil {
			t.Error(err)
		}
	})
	return l
}

// pair is both ends of a connection by the listener's n-th address. The server's end is ready.
func pair(t testing.TB, l *link.Listener, n int) (client net.Conn, server *link.Conn) {
	t.Helper()
	addr := l.Addrs()[n]
	client, err := net.Dial(addr.Network(), addr.String())
	if err != nil {
		t.Fatal(err)
	}
	accepted, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		client.Close()
		accepted.Close()
	})
	server, ok := link.Of(accepted)
	if !ok {
		t.Fatalf("accepted a %T", accepted)
	}
	server.Ready()
	return client, server
}

// ways runs a test over TCP and over a socket.
func ways(t *testing.T, test func(t *testing.T, client net.Conn, server *link.Conn)) {
	t.Helper()
	for n, way := range []string{"tcp", "unix"} {
		t.Run(way, func(t *testing.T) {
			l := listen(t, link.Config{TCP: "127.0.0.1:0", Socket: socketPath(t)})
			client, server := pair(t, l, n)
			test(t, client, server)
		})
	}
}

// encrypted puts TLS on both ends and shakes hands.
func encrypted(t *testing.T, client net.Conn, server *link.Conn) (*tls.Conn, *tls.Conn) {
	t.Helper()
	above := tls.Server(server, &tls.Config{Certificates: []tls.Certificate{certificate(t)}})
	below := tls.Client(client, &tls.Config{InsecureSkipVerify: true}) // the name does not matter here
	shaken := make(chan error, 1)
	go func() { shaken <- below.Handshake() }()
	if err := above.Handshake(); err != nil {
		t.Fatal(err)
	}
	if err := <-shaken; err != nil {
		t.Fatal(err)
	}
	return below, above
}

func certificate(t *testing.T) tls.Certificate {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := x509.Certificate{SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(time.Hour)}
	der, err := x509.CreateCertificate(rand.Reader, &template, &template, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}
}

// soon waits for what has to happen at once.
func soon[T any](t *testing.T, what string, c <-chan T) (v T) {
	t.Helper()
	select {
	case v = <-c:
	case <-time.After(patience):
		t.Fatalf("%s: nothing after %s", what, patience)
	}
	return v
}
