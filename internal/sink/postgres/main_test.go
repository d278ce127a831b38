//go:build linux

package postgres

import (
	"context"
	"flag"
	"fmt"
	"os"
	"strings"
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
	if server, err = databasetest.StartPostgres(context.Background(), "shared_buffers=128MB", "max_connections=200", "fsync="+fsync); err != nil {
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

// database is a new schema, which is the one that is meant where none is named. A database of its own would take the server half a second.
func database(t testing.TB) string {
	t.Helper()
	name := fmt.Sprintf("s%d", schemas.Add(1))
	tell(t, server.PostgresURL("postgres"), "CREATE SCHEMA "+name)
	return server.PostgresURL("postgres") + "&search_path=" + name
}

// tell runs statements on a connection of their own.
func tell(t testing.TB, url string, statements ...string) {
	t.Helper()
	ctx := context.WithoutCancel(t.Context()) // at the test's end, too
	c, err := pgx.Connect(ctx, url)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close(ctx)
	for _, s := range statements {
		if _, err := c.Exec(ctx, s); err != nil {
			t.Fatalf("%s: %v", s, err)
		}
	}
}

// ask is the answer of a query, a line a row.
func ask(t testing.TB, url, query string) string {
	t.Helper()
	ctx := context.WithoutCancel(t.Context()) // at the test's end, too
	c, err := pgx.Connect(ctx, url)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close(ctx)
	found, err := c.Query(ctx, query, pgx.QueryExecModeSimpleProtocol)
	if err != nil {
		t.Fatalf("%s: %v", query, err)
	}
	defer found.Close()
	var lines []string
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
	return strings.Join(lines, "\n")
}
