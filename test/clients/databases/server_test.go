//go:build linux

package databases_test

import (
	"context"
	"database/sql"
	"strings"
	"testing"

	_ "github.com/go-sql-driver/mysql" // the driver
	"github.com/jackc/pgx/v5"

	"github.com/hikyaku/hikyaku/internal/databasetest"
)

// server is a database that can be stopped and started again.
type server struct {
	*databasetest.Server
	name    string
	address string // as a configuration has it
	do      func(ctx context.Context, statement string) error
	one     func(ctx context.Context, query string) (string, error)
}

func postgres(t *testing.T) *server {
	t.Helper()
	s, err := databasetest.StartPostgres(t.Context(), "fsync=off")
	if err != nil {
		t.Fatal(err)
	}
	address := s.PostgresURL("postgres")
	connected := func(ctx context.Context, use func(*pgx.Conn) error) error {
		c, err := pgx.Connect(ctx, address)
		if err != nil {
			return err
		}
		defer c.Close(ctx)
		return use(c)
	}
	return owned(t, &server{Server: s, name: "PostgreSQL", address: address,
		do: func(ctx context.Context, statement string) error {
			return connected(ctx, func(c *pgx.Conn) error {
				_, err := c.Exec(ctx, statement)
				return err
			})
		},
		one: func(ctx context.Context, query string) (text string, err error) {
			err = connected(ctx, func(c *pgx.Conn) error { return c.QueryRow(ctx, query).Scan(&text) })
			return text, err
		},
	})
}

func mariaDB(t *testing.T) *server {
	t.Helper()
	s, err := databasetest.StartMariaDB(t.Context(), "innodb-flush-log-at-trx-commit=2")
	if err != nil {
		t.Fatal(err)
	}
	dsn := "root@tcp(" + s.Address() + ")/mysql"
	return owned(t, &server{Server: s, name: "MariaDB", address: s.MySQLURL("mysql"),
		do: func(ctx context.Context, statement string) error {
			db, err := sql.Open("mysql", dsn)
			if err != nil {
				return err
			}
			defer db.Close()
			_, err = db.ExecContext(ctx, statement)
			return err
		},
		one: func(ctx context.Context, query string) (text string, err error) {
			db, err := sql.Open("mysql", dsn)
			if err != nil {
				return "", err
			}
			defer db.Close()
			err = db.QueryRowContext(ctx, query).Scan(&text)
			return text, err
		},
	})
}

// owned is a server that ends with its test.
func owned(t *testing.T, s *server) *server {
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// start starts a server that is down.
func (s *server) start(t *testing.T) {
	t.Helper()
	if err := s.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
}

// stop ends the server at once, as a crash would.
func (s *server) stop(t *testing.T) {
	t.Helper()
	if err := s.Kill(); err != nil {
		t.Fatal(err)
	}
}

func (s *server) must(t *testing.T, statements ...string) {
	t.Helper()
	for _, statement := range statements {
		if err := s.do(t.Context(), statement); err != nil {
			t.Fatalf("%s: %s: %v", s.name, statement, err)
		}
	}
}

// holds wants the answer of a query of one text.
func (s *server) holds(t *testing.T, query, want string) {
	t.Helper()
	got, err := s.one(t.Context(), query)
	if err != nil {
		t.Fatalf("%s: %s: %v", s.name, query, err)
	}
	if strings.TrimSpace(got) != want {
		t.Errorf("%s: %s: %s, not %s", s.name, query, got, want)
	}
}
