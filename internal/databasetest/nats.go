//go:build linux

package databasetest

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// StartNATS starts a server of NATS with JetStream, whose streams lie in its folder. settings are further lines of
// its configuration.
func StartNATS(ctx context.Context, settings ...string) (*Server, error) {
	bin, err := installed("nats/nats-server")
	if err != nil {
		return nil, err
	}
	s := &Server{name: "NATS", ending: syscall.SIGTERM, greets: natsGreets, said: &tail{}}
	if err := s.place(""); err != nil {
		return nil, err
	}
	if err := s.certify(); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	lines := append([]string{"listen: " + s.Address(), "jetstream { store_dir: " + s.dir + " }"}, settings...)
	config := filepath.Join(s.dir, "nats.conf")
	if err := os.WriteFile(config, []byte(strings.Join(lines, "\n")+"\n"), 0o600); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	s.args = []string{bin, "-c", config}
	if err := s.Start(ctx); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

// NATSWithTLS is a line of its configuration that asks clients for TLS, with the certificate of CAFile.
const NATSWithTLS = `tls { cert_file: "` + certFile + `", key_file: "` + keyFile + `" }`

// natsGreets reads the greeting, with which the server speaks first.
func natsGreets(c net.Conn) error {
	line, err := bufio.NewReader(c).ReadString('\n')
	if err != nil || !strings.HasPrefix(line, "INFO ") {
		return fmt.Errorf("no greeting: %q, %w", line, err)
	}
	return nil
}

// installed is a program that scripts/need-clients has put into .cache/clients.
func installed(name string) (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for {
		path := filepath.Join(dir, ".cache", "clients", name)
		if _, err := os.Stat(path); err == nil {
			return path, nil
		}
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil || dir == filepath.Dir(dir) {
			return "", fmt.Errorf("%s is not installed: scripts/need-clients does it", path)
		}
		dir = filepath.Dir(dir)
	}
}
