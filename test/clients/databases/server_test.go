//go:build linux

package databases_test

import (
	"context"
	"database/sql"
	"fmt"
	"net"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"
	"time"

	_ "github.com/go-sql-driver/mysql" // the driver
	"github.com/jackc/pgx/v5"
)

// patience is how long a server may take to start or to end.
const patience = time.Minute

// server is a database that can be stopped and started again.
type server struct {
	name    string
	address string // as a configuration has it
	command func() *exec.Cmd
	do      func(ctx context.Context, statement string) error

	running *exec.Cmd
}

// freePort is a port that nobody listened on a moment ago.
func freePort(t *testing.T) int {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().(*net.TCPAddr).Port
}

// folder is one that a server may enter that runs as somebody else.
func folder(t *testing.T, owner *syscall.Credential) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "hikyaku-database-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	if owner != nil {
		if err := os.Chown(dir, int(owner.Uid), int(owner.Gid)); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// somebody is a user to run a server as that refuses to run as root; nil for ourselves.
func somebody(t *testing.T, name string) *syscall.Credential {
	t.Helper()
	if os.Geteuid() != 0 {
		return nil
	}
	u, err := user.Lookup(name)
	if err != nil {
		t.Fatal(err)
	}
	uid, err := strconv.ParseUint(u.Uid, 10, 32)
	if err != nil {
		t.Fatal(err)
	}
	gid, err := strconv.ParseUint(u.Gid, 10, 32)
	if err != nil {
		t.Fatal(err)
	}
	return &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}
}

// prepare runs a program to its end.
func prepare(t *testing.T, as *syscall.Credential, dir string, args ...string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), args[0], args[1:]...)
	cmd.Dir, cmd.SysProcAttr = dir, &syscall.SysProcAttr{Credential: as}
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%q: %v\n%s\nTo install what is missing: scripts/need-clients", args, err, out)
	}
}

func postgres(t *testing.T) *server {
	t.Helper()
	found, err := filepath.Glob("/usr/lib/postgresql/*/bin/initdb")
	if err != nil || len(found) == 0 {
		t.Fatal("PostgreSQL is not installed: scripts/need-clients")
	}
	bin := filepath.Dir(found[len(found)-1])
	as := somebody(t, "postgres")
	dir := folder(t, as)
	port := freePort(t)
	prepare(t, as, dir, filepath.Join(bin, "initdb"), "--pgdata="+dir, "--username=postgres", "--auth=trust", "--no-sync", "--encoding=UTF8", "--locale=C")
	address := fmt.Sprintf("postgres://postgres@127.0.0.1:%d/postgres", port)
	return &server{name: "PostgreSQL", address: address,
		command: func() *exec.Cmd {
			cmd := exec.Command(filepath.Join(bin, "postgres"), "-D", dir, "-p", strconv.Itoa(port), "-k", dir, "-h", "127.0.0.1", "-F")
			cmd.Dir, cmd.SysProcAttr = dir, &syscall.SysProcAttr{Credential: as, Pdeathsig: syscall.SIGQUIT}
			return cmd
		},
		do: func(ctx context.Context, statement string) error {
			c, err := pgx.Connect(ctx, address)
			if err != nil {
				return err
			}
			defer c.Close(ctx)
			_, err = c.Exec(ctx, statement)
			return err
		},
	}
}

func mariaDB(t *testing.T) *server {
	t.Helper()
	dir := folder(t, nil)
	port := freePort(t)
	me, err := user.Current()
	if err != nil {
		t.Fatal(err)
	}
	prepare(t, nil, dir, "mariadb-install-db", "--no-defaults", "--datadir="+dir, "--user="+me.Username, "--auth-root-authentication-method=normal", "--skip-test-db")
	dsn := fmt.Sprintf("root@tcp(127.0.0.1:%d)/", port)
	return &server{name: "MariaDB", address: fmt.Sprintf("mysql://root@127.0.0.1:%d/mysql", port),
		command: func() *exec.Cmd {
			cmd := exec.Command("mariadbd", "--no-defaults", "--datadir="+dir, "--user="+me.Username, "--port="+strconv.Itoa(port), "--bind-address=127.0.0.1",
				"--socket="+filepath.Join(dir, "s"), "--skip-log-bin")
			cmd.Dir, cmd.SysProcAttr = dir, &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
			return cmd
		},
		do: func(ctx context.Context, statement string) error {
			db, err := sql.Open("mysql", dsn+"mysql")
			if err != nil {
				return err
			}
			defer db.Close()
			_, err = db.ExecContext(ctx, statement)
			return err
		},
	}
}

// start starts the server and waits until it answers.
func (s *server) start(t *testing.T) {
	t.Helper()
	s.running = s.command()
	if err := s.running.Start(); err != nil {
		t.Fatalf("%s: %v\nTo install what is missing: scripts/need-clients", s.name, err)
	}
	t.Cleanup(s.stop)
	over := time.After(patience)
	for {
		err := s.do(t.Context(), "select 1")
		if err == nil {
			return
		}
		select {
		case <-over:
			t.Fatalf("%s does not answer: %v", s.name, err)
		case <-time.After(20 * time.Millisecond): // nobody tells when it does
		}
	}
}

// stop ends the server at once, as a crash would.
func (s *server) stop() {
	if s.running == nil {
		return
	}
	_ = s.running.Process.Signal(syscall.SIGQUIT) // PostgreSQL ends its children with it
	if s.name == "MariaDB" {
		_ = s.running.Process.Kill()
	}
	_ = s.running.Wait()
	s.running = nil
}

func (s *server) must(t *testing.T, statements ...string) {
	t.Helper()
	for _, statement := range statements {
		if err := s.do(t.Context(), statement); err != nil {
			t.Fatalf("%s: %s: %v", s.name, statement, err)
		}
	}
}
