package tsurugi_test

import (
	"context"
	"os"
	"strings"
	"testing"

	"github.com/hikyaku/hikyaku/tsurugi"
	"github.com/hikyaku/hikyaku/tsurugi/tsurugitest"
)

// endpoint is that of the server which TSURUGI_ENDPOINT names, or of one for tests.
func endpoint(t testing.TB) string {
	t.Helper()
	if real := os.Getenv("TSURUGI_ENDPOINT"); real != "" {
		return real
	}
	return tsurugitest.Start(t, tsurugitest.Config{Chunk: 1 << 10, Writers: 2}).Endpoint()
}

// connect opens a session that ends with the test.
func connect(t testing.TB, endpoint string, cfg tsurugi.Config) *tsurugi.Session {
	t.Helper()
	s, err := tsurugi.Connect(t.Context(), endpoint, cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return s
}

// table makes a table that only this test has, and returns its name.
func table(t testing.TB, s *tsurugi.Session, columns string) string {
	t.Helper()
	name := "hikyaku_" + strings.ToLower(strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' {
			return r
		}
		return '_'
	}, t.Name()))
	run(t, s, "DROP TABLE IF EXISTS "+name)
	run(t, s, "CREATE TABLE "+name+" ("+columns+")")
	return name
}

// run runs statements in a transaction of their own.
func run(t testing.TB, s *tsurugi.Session, statements ...string) {
	t.Helper()
	if err := tryRun(t, s, statements...); err != nil {
		t.Fatal(err)
	}
}

func tryRun(t testing.TB, s *tsurugi.Session, statements ...string) error {
	t.Helper()
	return s.Do(t.Context(), tsurugi.TxOptions{}, func(ctx context.Context, tx *tsurugi.Tx) error {
		for _, sql := range statements {
			if _, err := tx.Exec(ctx, sql); err != nil {
				return err
			}
		}
		return nil
	})
}

func begin(t testing.TB, s *tsurugi.Session, opts tsurugi.TxOptions) *tsurugi.Tx {
	t.Helper()
	tx, err := s.Begin(t.Context(), opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = tx.Rollback(context.Background()) }) // the server may be gone by then
	return tx
}

func prepare(t testing.TB, s *tsurugi.Session, sql string, holders ...tsurugi.Placeholder) *tsurugi.Statement {
	t.Helper()
	st, err := s.Prepare(t.Context(), sql, holders...)
	if err != nil {
		t.Fatal(err)
	}
	return st
}

// query runs a query in a transaction of its own and returns all of its rows as text.
func query(t testing.TB, s *tsurugi.Session, sql string) []string {
	t.Helper()
	var found []string
	err := s.Do(t.Context(), tsurugi.TxOptions{}, func(ctx context.Context, tx *tsurugi.Tx) error {
		rows, err := tx.Query(ctx, sql)
		if err != nil {
			return err
		}
		for rows.Next(ctx) {
			var parts []string
			for _, v := range rows.Values() {
				parts = append(parts, v.String())
			}
			found = append(found, strings.Join(parts, " "))
		}
		return rows.Err()
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

func holder(name string, typ tsurugi.Type) tsurugi.Placeholder {
	return tsurugi.Placeholder{Name: name, Type: typ}
}
