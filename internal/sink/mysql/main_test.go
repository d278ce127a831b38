//go:build linux

package mysql

import (
	"context"
	"database/sql"
	"flag"
	"fmt"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/hikyaku/hikyaku/internal/databasetest"
	"github.com/hikyaku/hikyaku/internal/rows"
)

// server is that of all tests, which have a database each.
var server *databasetest.Server

func TestMain(m *testing.M) { os.Exit(run(m)) }

func run(m *testing.M) int {
	flag.Parse()
	if flag.Lookup("test.fuzz").Value.String() != "" || flag.Lookup("test.fuzzworker").Value.String() == "true" {
		return m.Run() // which wants no server
	}
	var err error
	// What is written survives the end of a process without a sync, and tests are not to wait for the disk.
	if server, err = databasetest.StartMariaDB(context.Background(), "local-infile=1",
		"innodb-flush-log-at-trx-commit=2", "innodb-flush-method=nosync", "max-connections=200"); err != nil {
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

var databases atomic.Int64

// database is a new one.
func database(t testing.TB) string {
	t.Helper()
	name := fmt.Sprintf("d%d", databases.Add(1))
	tell(t, server.MySQLURL("mysql"), "CREATE DATABASE "+name)
	url := server.MySQLURL(name)
	t.Cleanup(func() { leave(url) })
	return url
}

// connect opens the database of an address by database/sql.
func connect(t testing.TB, url string) *sql.DB {
	t.Helper()
	c, err := parse(url)
	if err != nil {
		t.Fatal(err)
	}
	c.Params = map[string]string{"time_zone": "'+00:00'"}
	db, err := sql.Open("mysql", c.FormatDSN())
	if err != nil {
		t.Fatal(err)
	}
	return db
}

// admins are the tests' own connections, by address.
var admins = struct {
	sync.Mutex
	by map[string]*sql.DB
}{by: map[string]*sql.DB{}}

// admin is the test's own connection, which is made again when the server has ended it.
func admin(t testing.TB, url string) *sql.DB {
	t.Helper()
	admins.Lock()
	defer admins.Unlock()
	db := admins.by[url]
	if db == nil {
		db = connect(t, url)
		db.SetMaxIdleConns(1)
		admins.by[url] = db
	}
	return db
}

// leave closes the test's own connection.
func leave(url string) {
	admins.Lock()
	defer admins.Unlock()
	if db := admins.by[url]; db != nil {
		_ = db.Close() // the server may have ended it
		delete(admins.by, url)
	}
}

// tell runs statements.
func tell(t testing.TB, url string, statements ...string) {
	t.Helper()
	db := admin(t, url)
	for _, s := range statements {
		if _, err := db.ExecContext(context.WithoutCancel(t.Context()), s); err != nil {
			t.Fatalf("%s: %v", s, err)
		}
	}
}

// ask is the answer of a query, a line a row.
func ask(t testing.TB, url, query string) string {
	t.Helper()
	db := admin(t, url)
	found, err := db.QueryContext(context.WithoutCancel(t.Context()), query)
	if err != nil {
		t.Fatalf("%s: %v", query, err)
	}
	defer found.Close()
	names, err := found.Columns()
	if err != nil {
		t.Fatal(err)
	}
	var lines []string
	for found.Next() {
		cells, into := make([]sql.NullString, len(names)), make([]any, len(names))
		for i := range cells {
			into[i] = &cells[i]
		}
		if err := found.Scan(into...); err != nil {
			t.Fatal(err)
		}
		var fields []string
		for _, c := range cells {
			if c.Valid {
				fields = append(fields, c.String)
			} else {
				fields = append(fields, "NULL")
			}
		}
		lines = append(lines, strings.Join(fields, "|"))
	}
	if err := found.Err(); err != nil {
		t.Fatal(err)
	}
	return strings.Join(lines, "\n")
}

// open is a session with a database.
func open(t testing.TB, url string, load bool) (*sessions, *session) {
	t.Helper()
	return openFor(t, url, "", load)
}

// openFor is open for a mode that needs a session of its own.
func openFor(t testing.TB, url, mode string, load bool) (*sessions, *session) {
	t.Helper()
	d, err := newDriver(Config{Database: url, LoadData: load, Config: rows.Config{Mode: mode}})
	if err != nil {
		t.Fatal(err)
	}
	s, err := d.Open(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return d, s.(*session)
}

func described(t testing.TB, s rows.Session, name ...string) *rows.Table {
	t.Helper()
	table, err := s.Describe(t.Context(), name)
	if err != nil {
		t.Fatal(err)
	}
	return table
}
