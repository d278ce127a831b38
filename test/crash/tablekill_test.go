//go:build linux

package crash

import (
	"context"
	"database/sql"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"
)

const (
	tableKills   = 6
	tableClients = 16
)

// tables opens the MySQL door of a server.
func (s *served) tables(t *testing.T) *sql.DB {
	t.Helper()
	c := mysql.NewConfig()
	// it would tell of every kill
	c.User, c.Net, c.Addr, c.DBName, c.Logger = "root", "tcp", s.address(t, "mysql"), "test", &mysql.NopLogger{}
	connector, err := mysql.NewConnector(c)
	if err != nil {
		t.Fatal(err)
	}
	db := sql.OpenDB(connector)
	t.Cleanup(func() { db.Close() })
	return db
}

// rowBook is what clients of a table were promised.
type rowBook struct {
	mu       sync.Mutex
	t        *testing.T
	rows     int
	inserted map[string]bool // acknowledged
	ended    map[string]bool // true: acknowledged; false: asked for, and never answered
}

// name names a fresh row.
func (b *rowBook) name() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.rows++
	return fmt.Sprintf("row-%d", b.rows)
}

// owned is told of a row that a client was given.
func (b *rowBook) owned(id string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.ended[id] {
		b.t.Errorf("%s was ended, and is owned again", id)
	}
}

func (b *rowBook) set(m map[string]bool, value bool, ids ...string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, id := range ids {
		m[id] = value
	}
}

// TestWhatATableWasToldHoldsThroughKills has sixteen MySQL clients insert, own, end and give back rows while the server
// is killed again and again: no acknowledged INSERT is lost, no ended row comes back, and none is there twice.
//
// It runs alone: sixteen busy clients would take the processors from tests that hold how long something takes.
func TestWhatATableWasToldHoldsThroughKills(t *testing.T) {
	random := newRandom(t)
	data := filepath.Join(t.TempDir(), "data")
	config := "data_dir: " + data + `
api: { http: { listen: 127.0.0.1:0 }, mysql: { listen: 127.0.0.1:0, socket: none } }
queues: { jobs: { columns: ["id varchar(40) not null", "lane int not null"] } }
`
	book := &rowBook{t: t, inserted: map[string]bool{}, ended: map[string]bool{}}
	for range tableKills * *times {
		s := serve(t, config)
		db := s.tables(t)
		ctx, stop := context.WithCancel(t.Context())
		var clients sync.WaitGroup
		for range tableClients {
			own := rand.New(rand.NewPCG(random.Uint64(), 4))
			clients.Go(func() { workTable(ctx, db, book, own) })
		}
		<-time.After(between(random, 20*time.Millisecond, 150*time.Millisecond))
		s.kill()
		stop()
		clients.Wait()
		db.Close()
	}
	s := serve(t, config)
	left := drainTable(t, s.tables(t))
	for id, n := range left {
		if n > 1 {
			t.Errorf("%s is there %d times", id, n)
		}
		if book.ended[id] {
			t.Errorf("%s was ended, and is there", id)
		}
	}
	ended := 0
	for id := range book.inserted {
		_, asked := book.ended[id]
		if left[id] == 0 && !asked {
			t.Errorf("%s was acknowledged, and is lost", id)
		}
		if book.ended[id] {
			ended++
		}
	}
	if ended == 0 || len(left) == 0 {
		t.Errorf("%d rows were ended and %d left: nothing was tried", ended, len(left))
	}
	t.Logf("%d rows, %d acknowledged, %d ended, %d left", book.rows, len(book.inserted), ended, len(left))
	s.stop(t)
	checkJournal(t, data)
}

// workTable is one client, until its server is gone.
func workTable(ctx context.Context, db *sql.DB, book *rowBook, random *rand.Rand) {
	c, err := db.Conn(ctx)
	if err != nil {
		return
	}
	defer c.Close()
	for ctx.Err() == nil && err == nil {
		if random.IntN(2) == 0 {
			err = insertRows(ctx, c, book, random)
		} else {
			err = takeRow(ctx, c, book, random)
		}
	}
}

func insertRows(ctx context.Context, c *sql.Conn, book *rowBook, random *rand.Rand) error {
	ids := make([]string, 1+random.IntN(4))
	values := make([]string, len(ids))
	for i := range ids {
		ids[i] = book.name()
		values[i] = fmt.Sprintf("('%s', %d)", ids[i], random.IntN(4))
	}
	_, err := c.ExecContext(ctx, "INSERT INTO jobs VALUES "+strings.Join(values, ", "))
	if err == nil {
		book.set(book.inserted, true, ids...)
	}
	return err
}

func takeRow(ctx context.Context, c *sql.Conn, book *rowBook, random *rand.Rand) error {
	var place int
	if err := c.QueryRowContext(ctx, fmt.Sprintf("SELECT queue_wait('jobs:lane=%d', 'jobs', 1)",
		random.IntN(4))).Scan(&place); err != nil || place == 0 {
		return err
	}
	var id string
	if err := c.QueryRowContext(ctx, "SELECT id FROM jobs").Scan(&id); err != nil {
		return err
	}
	book.owned(id)
	var one int
	if random.IntN(5) == 0 {
		return c.QueryRowContext(ctx, "SELECT queue_abort()").Scan(&one)
	}
	book.set(book.ended, false, id)
	err := c.QueryRowContext(ctx, "SELECT queue_end()").Scan(&one)
	if err == nil {
		book.set(book.ended, true, id)
	}
	return err
}

// drainTable takes every row there is, and counts each.
func drainTable(t *testing.T, db *sql.DB) map[string]int {
	t.Helper()
	c, err := db.Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	left := map[string]int{}
	for {
		var place, one int
		if err := c.QueryRowContext(t.Context(), "SELECT queue_wait('jobs', 0)").Scan(&place); err != nil {
			t.Fatal(err)
		}
		if place == 0 {
			return left
		}
		var id string
		if err := c.QueryRowContext(t.Context(), "SELECT id FROM jobs").Scan(&id); err != nil {
			t.Fatal(err)
		}
		left[id]++
		if err := c.QueryRowContext(t.Context(), "SELECT queue_end()").Scan(&one); err != nil {
			t.Fatal(err)
		}
	}
}
