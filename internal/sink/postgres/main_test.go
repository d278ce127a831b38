//go:build linux

package postgres

import (
	"context"
	"flag"
	"fmt"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/hikyaku/hikyaku/internal/databasetest"
)

// fsync is off: what is written survives the end of a process without, and tests are not to wait for the disk.
const fsync = "off"

// server is that of all tests, which have a schema each.
var server *databasetest.Server

func TestMain(m *testing.M) { os.Exit(run(m)) }

func run(m *testing.M) int {
	flag.Parse()
	if flag.Lookup("test.fuzz").Value.String() != "" || flag.Lookup("test.fuzzworker").Value.String() == "true" {
		return m.Run() // which wants no server
	}
	var err error
	if server, err = databasetest.StartPostgres(context.Background(), "shared_buffers=16MB", "max_connections=100",
		"fsync="+fsync); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	code := m.Run()
	if err := server.Close(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return code
}

var schemas atomic.Int64

// database is a new schema, which is the one that is meant where none is named. A database of its own would take the
// server half a second.
func database(t testing.TB) string {
	t.Helper()
	name := fmt.Sprintf("s%d", schemas.Add(1))
	tell(t, server.PostgresURL("postgres"), "CREATE SCHEMA "+name)
	url := server.PostgresURL("postgres") + "&search_path=" + name
	t.Cleanup(func() { leave(t, url) })
	return url
}

// admins are the tests' own connections, by address. Each costs the server a process, which is most of what a test of a
// few rows costs.
var admins = struct {
	sync.Mutex
	by map[string]*pgx.Conn
}{by: map[string]*pgx.Conn{}}

// admin lends the test's own connection, a new one if the server has ended the last.
func admin(t testing.TB, url string, use func(context.Context, *pgx.Conn)) {
	t.Helper()
	ctx := context.WithoutCancel(t.Context()) // at the test's end, too
	admins.Lock()
	defer admins.Unlock()
	c := admins.by[url]
	if c == nil || c.Ping(ctx) != nil {
		if c != nil {
			_ = c.Close(ctx) // the server has ended it
		}
		var err error
		if c, err = pgx.Connect(ctx, url); err != nil {
			t.Fatal(err)
		}
		admins.by[url] = c
	}
	use(ctx, c)
}

// leave closes the test's own connection.
func leave(t testing.TB, url string) {
	admins.Lock()
	defer admins.Unlock()
	if c := admins.by[url]; c != nil {
		_ = c.Close(context.WithoutCancel(t.Context())) // the server may have ended it
		delete(admins.by, url)
	}
}

// tell runs statements.
func tell(t testing.TB, url string, statements ...string) {
	t.Helper()
	admin(t, url, func(ctx context.Context, c *pgx.Conn) {
		for _, s := range statements {
			if _, err := c.Exec(ctx, s); err != nil {
				t.Fatalf("%s: %v", s, err)
			}
		}
	})
}

// ask is the answer of a query, a line a row.
func ask(t testing.TB, url, query string) string {
	t.Helper()
	var lines []string
	admin(t, url, func(ctx context.Context, c *pgx.Conn) {
		found, err := c.Query(ctx, query, pgx.QueryExecModeSimpleProtocol)
		if err != nil {
			t.Fatalf("%s: %v", query, err)
		}
		defer found.Close()
		for found.Next() {
			var fields []string
			for _, raw := range found.RawValues() {
				if raw == nil {
					fields = append(fields, "NULL")
				} else {
					fields = append(fields, string(raw))
				}
			}
			lines = append(lines, strings.Join(fields, "|"))
		}
		if err := found.Err(); err != nil {
			t.Fatalf("%s: %v", query, err)
		}
	})
	return strings.Join(lines, "\n")
}
