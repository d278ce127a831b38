package clients_test

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"testing"

	"github.com/hikyaku/hikyaku/test/clients/conformance"
)

const (
	user   = "worker"
	secret = "open sesame, 開けゴマ"
)

// packets are settings of the door by which a program can send a packet that is too large: one that is larger than the
// largest row of the checks.
const packets = "max_packet_bytes: 25MiB, max_busy_bytes: 512MiB"

// server is a running hikyaku.
type server struct {
	guarded    bool // it has a user and a certificate
	host, port string
	socket     string
	authority  string // the file of the certificate's authority; "" without one
}

// serve starts hikyaku and waits until its MySQL door is open.
func serve(t *testing.T, guarded bool) *server {
	t.Helper()
	dir := conformance.Folder(t)
	s := &server{guarded: guarded, socket: filepath.Join(dir, "mysqld.sock")}
	config := fmt.Sprintf("data_dir: %s\napi:\n  http: { listen: 127.0.0.1:0 }\n  pubsub: { off: true }\n  sqs: { "+
		"off: true }\n", filepath.Join(dir, "data"))
	if guarded {
		config = "shards: 3\n" + config // a client sees no difference
		var cert, key string
		s.authority, cert, key = certificate(t, dir)
		config += fmt.Sprintf("  mysql: { listen: 127.0.0.1:0, socket: %s, "+packets+", tls: { cert: %s, key: %s } }\n",
			s.socket, cert, key)
		config += fmt.Sprintf("users:\n  - { name: %s, secret: %q, grants: [ { can: [put, take, admin], on: ['*'] } "+
			"] }\n", user, secret)
	} else {
		config += fmt.Sprintf("  mysql: { listen: 127.0.0.1:0, socket: %s, "+packets+" }\n", s.socket)
	}
	var err error
	if s.host, s.port, err = net.SplitHostPort(conformance.Serve(t, built.Binary, dir, config,
		"mysql").Address); err != nil {
		t.Fatal(err)
	}
	return s
}

// environment tells a program where the server is.
func (s *server) environment(database string) []string {
	name, password := "root", ""
	if s.guarded {
		name, password = user, secret
	}
	return []string{
		"CLIENT_HOST=" + s.host, "CLIENT_PORT=" + s.port, "CLIENT_SOCKET=" + s.socket, "CLIENT_CA=" + s.authority,
		"CLIENT_USER=" + name, "CLIENT_PASSWORD=" + password, "CLIENT_DATABASE=" + database,
		"LC_ALL=C.UTF-8", "PYTHONDONTWRITEBYTECODE=1",
	}
}

func write(t *testing.T, path string, text []byte) {
	t.Helper()
	if err := os.WriteFile(path, text, 0o600); err != nil {
		t.Fatal(err)
	}
}
