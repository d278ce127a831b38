package tsurugidb

import (
	"cmp"
	"context"
	"fmt"
	"net"
	"net/url"
	"strings"
	"testing"

	"github.com/hikyaku/hikyaku/internal/rows"
	"github.com/hikyaku/hikyaku/tsurugi"
)

// far is a server.
type far interface{ Endpoint() string }

// other is a server that is not the tests' own.
type other string

func (o other) Endpoint() string { return string(o) }

// Address is the server's host and port.
func (o other) Address(t testing.TB) string {
	t.Helper()
	u, err := url.Parse(string(o))
	if err != nil || u.Scheme != "tcp" || u.Hostname() == "" {
		t.Fatalf("TSURUGI_ENDPOINT is %q, not tcp://host:port", string(o))
	}
	return net.JoinHostPort(u.Hostname(), cmp.Or(u.Port(), "12345"))
}

// do runs statements in a transaction of their own.
func do(t testing.TB, server far, statements ...string) {
	t.Helper()
	admin(t, server, func(ctx context.Context, tx *tsurugi.Tx) error {
		for _, sql := range statements {
			if _, err := tx.Exec(ctx, sql); err != nil {
				return fmt.Errorf("%s: %w", sql, err)
			}
		}
		return nil
	})
}

// query is the rows that a query finds, each value as text, in any order.
func query(t testing.TB, server far, sql string) []string {
	t.Helper()
	var found []string
	admin(t, server, func(ctx context.Context, tx *tsurugi.Tx) error {
		r, err := tx.Query(ctx, sql)
		if err != nil {
			return err
		}
		for r.Next(ctx) {
			var parts []string
			for _, v := range r.Values() {
				parts = append(parts, v.String())
			}
			found = append(found, strings.Join(parts, "|"))
		}
		return r.Err()
	})
	return found
}

// admin works on the server's tables by a session of its own.
func admin(t testing.TB, server far, work func(ctx context.Context, tx *tsurugi.Tx) error) {
	t.Helper()
	ctx := context.WithoutCancel(t.Context()) // it may be the end of the test
	s, err := tsurugi.Connect(ctx, server.Endpoint(), tsurugi.Config{Label: adminLabel})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = s.Close(ctx) }()
	if err := s.Do(ctx, tsurugi.TxOptions{}, work); err != nil {
		t.Fatal(err)
	}
}

const adminLabel = "the test's own"

// open makes a session of the driver that ends with the test.
func open(t testing.TB, d *driver) rows.Session {
	t.Helper()
	s, err := d.Open(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// describeTable asks for a table by the driver.
func describeTable(t testing.TB, s rows.Session, name string) *rows.Table {
	t.Helper()
	table, err := s.Describe(t.Context(), rows.Name{name})
	if err != nil {
		t.Fatal(err)
	}
	return table
}

// numbered is a block of n rows for a table whose first column is a BIGINT and whose others are DOUBLEs; the first row
// has the id from.
func numbered(table *rows.Table, mode rows.Mode, from, n int) *rows.Block {
	b := &rows.Block{Table: table, Mode: mode, Columns: table.Columns}
	for r := range n {
		for c := range table.Columns {
			if c == 0 {
				b.Values = append(b.Values, rows.IntOf(int64(from+r)))
				continue
			}
			b.Values = append(b.Values, rows.FloatOf(float64(r*c)/7))
		}
	}
	return b
}

// doubles is the definition of a table of a key and n columns of numbers.
func doubles(name string, n int) string {
	var b strings.Builder
	b.WriteString("CREATE TABLE " + name + " (id BIGINT PRIMARY KEY")
	for c := range n {
		fmt.Fprintf(&b, ", value%d DOUBLE", c+1)
	}
	return b.String() + ")"
}
