package mysql

import (
	"context"
	"database/sql"
	"flag"
	"fmt"
	"testing"
	"time"

	driver "github.com/go-sql-driver/mysql"

	"github.com/hikyaku/hikyaku/internal/access"
	"github.com/hikyaku/hikyaku/internal/api/mysql/settings"
	"github.com/hikyaku/hikyaku/internal/door"
	"github.com/hikyaku/hikyaku/internal/journal"
	"github.com/hikyaku/hikyaku/internal/journal/file"
	"github.com/hikyaku/hikyaku/internal/queue"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// rig is a door over a real store over a real journal.
type rig struct {
	t     *testing.T
	store *queue.Store
	door  *Server
	addr  string
}

func newRig(t *testing.T, c Config, users *access.Users) *rig {
	t.Helper()
	s, stop := openStore(t, t.TempDir())
	t.Cleanup(stop)
	return newRigOver(t, c, users, s)
}

// openStore opens a store in a folder and returns what closes it.
func openStore(t *testing.T, dir string) (*queue.Store, func()) {
	t.Helper()
	j, err := file.Open(t.Context(), file.Options{Dir: dir, Durability: journal.OS, SegmentBytes: 4 << 20})
	if err != nil {
		t.Fatal(err)
	}
	s, err := queue.Open(t.Context(), queue.Options{Journal: j, Namespaces: map[string][]string{"default": {"test"}}})
	if err != nil {
		t.Fatal(err)
	}
	return s, func() {
		if err := s.Close(); err != nil {
			t.Error("close store:", err)
		}
		if err := j.Close(); err != nil {
			t.Error("close journal:", err)
		}
	}
}

// newRigOver opens a door over a store.
func newRigOver(t *testing.T, c Config, users *access.Users, s *queue.Store) *rig {
	t.Helper()
	return newRigWithin(t, c, users, s, nil)
}

// newRigWithin opens a door over a store, whose statements and connections have an account.
func newRigWithin(t *testing.T, c Config, users *access.Users, s *queue.Store, busy *door.Busy) *rig {
	t.Helper()
	return newRigServed(t, c, Options{Store: s, Users: users, Busy: busy}, s)
}

// newRigServed opens a door with what o says over a store, or what stands for it.
func newRigServed(t *testing.T, c Config, o Options, s *queue.Store) *rig {
	t.Helper()
	c.Listen = "127.0.0.1:0"
	if c.Socket == "" {
		c.Socket = settings.NoSocket
	}
	o.Traffic, o.Report = door.NewTraffic("mysql"), func(err error) { t.Error("reported:", err) }
	d, err := New(c, o)
	if err != nil {
		t.Fatal(err)
	}
	addr, err := d.Start(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	r := &rig{t: t, store: s, door: d, addr: addr.String()}
	t.Cleanup(r.close)
	return r
}

// close closes the door.
func (r *rig) close() {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	if err := r.door.Close(ctx); err != nil {
		r.t.Error("close door:", err)
	}
}

// connect opens one connection. args are of go-sql-driver's DSN: "interpolateParams=true".
func (r *rig) connect(args string) *sql.Conn {
	r.t.Helper()
	config, err := driver.ParseDSN(fmt.Sprintf("root@tcp(%s)/test?%s", r.addr, args))
	if err != nil {
		r.t.Fatal(err)
	}
	return r.connectTo(config)
}

func (r *rig) connectTo(config *driver.Config) *sql.Conn {
	r.t.Helper()
	connector, err := driver.NewConnector(config)
	if err != nil {
		r.t.Fatal(err)
	}
	db := sql.OpenDB(connector)
	db.SetMaxOpenConns(1)
	r.t.Cleanup(func() { db.Close() })
	c, err := db.Conn(r.t.Context())
	if err != nil {
		r.t.Fatal(err)
	}
	r.t.Cleanup(func() { c.Close() })
	return c
}
