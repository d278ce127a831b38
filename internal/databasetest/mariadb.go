//go:build linux

package databasetest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os/user"
	"path/filepath"
	"strconv"
	"syscall"
)

// StartMariaDB makes a new server and starts it. Its superuser is root, who needs no password. settings are further
// ones, as "name=value".
func StartMariaDB(ctx context.Context, settings ...string) (*Server, error) {
	me, err := user.Current()
	if err != nil {
		return nil, err
	}
	s := &Server{name: "MariaDB", ending: syscall.SIGTERM, greets: mariaDBGreets, said: &tail{}}
	if err := s.place(""); err != nil {
		return nil, err
	}
	if err := s.prepare(ctx, "mariadb-install-db", "--no-defaults", "--datadir="+s.dir, "--user="+me.Username,
		"--auth-root-authentication-method=normal",
		"--skip-test-db", "--skip-name-resolve", "--innodb-log-file-size=16M", "--innodb-flush-method=nosync",
		"--tmpdir="+s.dir); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	if err := s.certify(); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	// It has a folder of its own for what is temporary: a server that starts clears the one that it shares with others.
	// A file that may not grow is an error for it, and not its end.
	s.args = []string{"sh", "-c", `trap '' XFSZ && exec "$@"`, "sh", "mariadbd", "--no-defaults", "--datadir=" + s.dir,
		"--user=" + me.Username, "--port=" + strconv.Itoa(s.port), "--bind-address=127.0.0.1",
		"--socket=" + filepath.Join(s.dir, "s"), "--tmpdir=" + s.dir, "--skip-log-bin", "--skip-name-resolve",
		"--innodb-log-file-size=16M",
		"--ssl-cert=" + filepath.Join(s.dir, certFile), "--ssl-key=" + filepath.Join(s.dir, keyFile)}
	for _, setting := range settings {
		s.args = append(s.args, "--"+setting)
	}
	if err := s.Start(ctx); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

// MySQLURL is how a client reaches a database of it, without TLS.
func (s *Server) MySQLURL(database string) string {
	return "mysql://root@" + s.Address() + "/" + database
}

// mariaDBGreets reads the greeting, with which the server speaks first.
func mariaDBGreets(c net.Conn) error {
	head := make([]byte, 5)
	if _, err := io.ReadFull(c, head); err != nil {
		return fmt.Errorf("no greeting: %w", err)
	}
	if head[4] != 10 {
		return errors.New("it refuses to speak")
	}
	return nil
}
