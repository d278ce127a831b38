//go:build linux

package databasetest

import (
	"context"
	"errors"
	"fmt"
	"net"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
)

// StartPostgres makes a new cluster and starts a server over it. Its superuser is postgres, who needs no password.
// settings are further ones, as "name=value".
func StartPostgres(ctx context.Context, settings ...string) (*Server, error) {
	found, err := filepath.Glob("/usr/lib/postgresql/*/bin/initdb")
	if err != nil || len(found) == 0 {
		return nil, errors.New("PostgreSQL is not installed: scripts/need-clients does it")
	}
	bin := filepath.Dir(found[len(found)-1])
	s := &Server{name: "PostgreSQL", ending: syscall.SIGINT, greets: postgresGreets, said: &tail{}}
	if err := s.place("postgres"); err != nil {
		return nil, err
	}
	if err := s.prepare(ctx, filepath.Join(bin, "initdb"), "--pgdata="+s.dir, "--username=postgres", "--auth=trust",
		"--no-sync", "--encoding=UTF8", "--locale=C"); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	if err := s.certify(); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	s.args = []string{filepath.Join(bin, "postgres"), "-D", s.dir, "-p", strconv.Itoa(s.port), "-k", s.dir, "-h",
		"127.0.0.1",
		"-c", "ssl=on", "-c", "ssl_cert_file=" + certFile, "-c", "ssl_key_file=" + keyFile}
	for _, setting := range settings {
		s.args = append(s.args, "-c", setting)
	}
	if err := s.Start(ctx); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

// PostgresURL is how a client reaches a database of it, without TLS.
func (s *Server) PostgresURL(database string) string {
	return "postgres://postgres@" + s.Address() + "/" + database + "?sslmode=disable"
}

// postgresGreets begins a session, and looks whether it is refused because the server is starting.
func postgresGreets(c net.Conn) error {
	text := "\x00\x03\x00\x00user\x00postgres\x00database\x00postgres\x00\x00"
	if _, err := c.Write(append([]byte{0, 0, 0, byte(len(text) + 4)}, text...)); err != nil {
		return err
	}
	answer := make([]byte, 1<<10)
	n, err := c.Read(answer)
	if answer = answer[:n]; n == 0 {
		return fmt.Errorf("no answer: %w", err)
	}
	if answer[0] == 'E' && strings.Contains(string(answer), "C57P03") {
		return errors.New("it is starting")
	}
	return nil
}
