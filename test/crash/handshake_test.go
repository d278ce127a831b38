//go:build linux

package crash

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"maps"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// mostAtOneDoor are the places that a door has in TestHalfHandshakesHoldNoPlaceForLong, and those that are taken.
const mostAtOneDoor = 6

// TestHalfHandshakesHoldNoPlaceForLong fills every place at each door with clients that begin TLS and do not go on:
// some send half of their greeting, some a byte of the rest now and then, and some all of it, and leave the answer
// without one. They are sent away when the time of a handshake is over, and whoever shakes hands then is let in.
func TestHalfHandshakesHoldNoPlaceForLong(t *testing.T) {
	t.Parallel()
	here := t.TempDir()
	cert, key := selfSigned(t, here)
	config := fmt.Sprintf("data_dir: %s\napi:\n", filepath.Join(here, "data"))
	for door := range greetings {
		config += fmt.Sprintf("  %s: { listen: 127.0.0.1:0, max_connections: %d, tls: { cert: %s, key: %s } }\n", door,
			mostAtOneDoor, cert, key)
	}
	s := serve(t, config)
	for _, door := range slices.Sorted(maps.Keys(greetings)) {
		t.Run(door, func(t *testing.T) {
			t.Parallel()
			address := s.address(t, door)
			ctx, stop := context.WithCancel(t.Context())
			var all sync.WaitGroup
			defer all.Wait()
			defer stop()
			var sentAway atomic.Int64
			for i := range mostAtOneDoor {
				c := dialForTLS(t, door, address)
				hello := clientHello(t)
				if i%3 != 2 {
					hello = hello[:len(hello)/2]
				}
				if _, err := c.Write(hello); err != nil {
					t.Fatal(err)
				}
				all.Go(func() {
					if i%3 == 0 {
						drip(ctx, c, "")
					} else {
						context.AfterFunc(ctx, func() { c.Close() })
						_, _ = io.Copy(io.Discard, c) // it ends when the connection does, however
						c.Close()
					}
					if ctx.Err() == nil {
						sentAway.Add(1)
					}
				})
			}
			began := time.Now()
			until(t, func() string { return fmt.Sprintf("%d of %d are sent away", sentAway.Load(), mostAtOneDoor) },
				func() bool { return sentAway.Load() == mostAtOneDoor || time.Since(began) > headerPatience })
			if n := sentAway.Load(); n < mostAtOneDoor {
				t.Errorf("after %v %d of %d are sent away", headerPatience, n, mostAtOneDoor)
			}
			until(t, says("somebody is let in at the door %s", door),
				func() bool { return shakesHands(t, door, address) })
		})
	}
}

// selfSigned makes a certificate for nobody in a folder.
func selfSigned(t *testing.T, dir string) (cert, key string) {
	t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	now := time.Now()
	template := x509.Certificate{SerialNumber: big.NewInt(1), NotBefore: now.Add(-time.Hour),
		NotAfter: now.Add(24 * time.Hour), IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}}
	public, err := x509.CreateCertificate(rand.Reader, &template, &template, private.Public(), private)
	if err != nil {
		t.Fatal(err)
	}
	secret, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		t.Fatal(err)
	}
	cert, key = filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
	write(t, cert, string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: public})))
	write(t, key, string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: secret})))
	if err := os.Chmod(key, 0o600); err != nil {
		t.Fatal(err)
	}
	return cert, key
}

// clientHello is what a client begins TLS with.
func clientHello(t *testing.T) []byte {
	t.Helper()
	here, there := net.Pipe()
	defer there.Close()
	go func() { // it ends with its connection
		_ = tls.Client(here, &tls.Config{InsecureSkipVerify: true}).HandshakeContext(t.Context())
		here.Close()
	}()
	hello := make([]byte, 16<<10)
	n, err := there.Read(hello)
	if err != nil {
		t.Fatal(err)
	}
	return hello[:n]
}

// dialForTLS opens a connection on which a handshake is next.
func dialForTLS(t *testing.T, door, address string) net.Conn {
	t.Helper()
	c := dial(t, address)
	if err := askForTLS(door, c); err != nil {
		t.Fatal(err)
	}
	return c
}

// askForTLS does what comes before a handshake: at the MySQL door the server greets, and the client asks for it.
func askForTLS(door string, c net.Conn) error {
	if door != "mysql" {
		return nil
	}
	var head [4]byte
	if _, err := io.ReadFull(c, head[:]); err != nil {
		return err
	}
	greeting := make([]byte, int(head[0])|int(head[1])<<8|int(head[2])<<16)
	if _, err := io.ReadFull(c, greeting); err != nil {
		return err
	}
	if greeting[0] == 0xff {
		return errors.New("the door is full")
	}
	// CLIENT_PROTOCOL_41, CLIENT_SSL, CLIENT_SECURE_CONNECTION and CLIENT_PLUGIN_AUTH; packets of 16 MB; utf8mb4
	ask := append([]byte{32, 0, 0, 1, 0x00, 0x8a, 0x08, 0x00, 0, 0, 0, 1, 45}, make([]byte, 23)...)
	_, err := c.Write(ask)
	return err
}

// shakesHands tells whether a client that does all that it has to is let in.
func shakesHands(t *testing.T, door, address string) bool {
	t.Helper()
	c := dial(t, address)
	defer c.Close()
	if askForTLS(door, c) != nil {
		return false
	}
	secure := tls.Client(c, &tls.Config{InsecureSkipVerify: true, NextProtos: []string{"h2", "http/1.1"}})
	return secure.HandshakeContext(t.Context()) == nil
}
