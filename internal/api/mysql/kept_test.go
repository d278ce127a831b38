package mysql

import (
	"context"
	"database/sql"
	sqldriver "database/sql/driver"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	gms "github.com/dolthub/go-mysql-server/sql"
	driver "github.com/go-sql-driver/mysql"

	"github.com/hikyaku/hikyaku/internal/door"
	"github.com/hikyaku/hikyaku/internal/waittest"
)

// TestWhatConnectionsKeepIsBoundedTogether lets connections keep as much as they can, one kind at a time, until the
// door refuses more: all of them together stay within their share, others still work, and nothing is left when they are
// gone.
func TestWhatConnectionsKeepIsBoundedTogether(t *testing.T) {
	long := strings.Repeat("x", 1<<18)
	type kind struct {
		most int // that one connection is let keep; after those it keeps no more, or other values in their place
		keep func(c *sql.Conn, i int) error
	}
	kinds := map[string]kind{
		"prepared statements": {100, func(c *sql.Conn, i int) error {
			_, err := c.PrepareContext(t.Context(), fmt.Sprintf("SELECT ?, '%s%d'", long, i))
			return err
		}},
		"prepared statements with many values": {100, func(c *sql.Conn, i int) error {
			_, err := c.PrepareContext(t.Context(), fmt.Sprintf("SELECT 1 IN (%d%s)", i, strings.Repeat(",?", 9_000)))
			return err
		}},
		"short prepared statements": {100, func(c *sql.Conn, i int) error {
			_, err := c.PrepareContext(t.Context(), fmt.Sprintf("SELECT ?, '%s%d'", long[:8_000], i))
			return err
		}},
		"statements of PREPARE": {100, func(c *sql.Conn, i int) error {
			_, err := c.ExecContext(t.Context(),
				fmt.Sprintf("PREPARE s%d FROM 'SELECT ?, \"%s\"'", i, long[:50_000]))
			return err
		}},
		"user variables": {12, func(c *sql.Conn, i int) error {
			_, err := c.ExecContext(t.Context(), fmt.Sprintf("SET @a%d = '%s'", i%6, long))
			return err
		}},
		"system variables": {8, func(c *sql.Conn, i int) error {
			names := []string{"debug_sync", "optimizer_trace", "lc_messages", "lc_time_names"}
			_, err := c.ExecContext(t.Context(), fmt.Sprintf("SET SESSION %s = '%s'", names[i%len(names)], long))
			return err
		}},
		"locks": {100, func(c *sql.Conn, i int) error {
			var n int
			query := fmt.Sprintf("WITH RECURSIVE t(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM t WHERE n < 1000) "+
				"SELECT SUM(GET_LOCK(CONCAT(CONNECTION_ID(), '.%d.', n), 0)) FROM t", i)
			return c.QueryRowContext(t.Context(), query).Scan(&n)
		}},
	}
	for _, what := range share(t, 3, slices.Sorted(maps.Keys(kinds))...) {
		kind := kinds[what]
		t.Run(what, func(t *testing.T) {
			busy := door.NewBusy(80 << 20)
			s, stop := openStore(t, t.TempDir())
			defer stop()
			r := newRigWithin(t, Config{}, nil, s, busy)
			r.makeJobs(0)
			other := r.connect("")
			var refused *driver.MySQLError
			var all []*sql.Conn
			for refused == nil {
				if len(all) == 100 {
					t.Fatal("nothing was refused")
				}
				c := r.connect("")
				all = append(all, c)
				for i := range kind.most {
					if err := kind.keep(c, i); err != nil && !errors.As(err, &refused) {
						t.Fatal(err)
					} else if err != nil {
						break
					}
				}
			}
			if refused.Number != erOutOfResources {
				t.Errorf("refused with %v", refused)
			}
			k := r.door.keeping
			if k.Used() > k.Limit() || k.Used() < k.Limit()/2 {
				t.Errorf("%d bytes are kept of %d", k.Used(), k.Limit())
			}
			if n := exec(t, other, "INSERT INTO jobs VALUES (1)"); n != 1 {
				t.Errorf("%d rows", n)
			}
			for _, c := range append(all, other) {
				c.Raw(func(any) error { return sqldriver.ErrBadConn }) //nolint:errcheck // it closes the connection
				c.Close()
			}
			waittest.Until(t, "everything to be given back", func() bool { return r.door.standing.Used() == 0 })
		})
	}
}

// TestPreparedStatementsThatAreClosedLeaveNothing prepares one statement after another, and runs some, as programs do
// that write values into them.
func TestPreparedStatementsThatAreClosedLeaveNothing(t *testing.T) {
	r := newRig(t, Config{}, nil)
	c := r.connect("")
	for i := range 300 {
		st, err := c.PrepareContext(t.Context(), fmt.Sprintf("SELECT %d + ?", i))
		if err != nil {
			t.Fatal(err)
		}
		for range 2 {
			var n int
			if err := st.QueryRowContext(t.Context(), 1).Scan(&n); err != nil || n != i+1 {
				t.Fatalf("%d: %d, %v", i, n, err)
			}
		}
		if err := st.Close(); err != nil {
			t.Fatal(err)
		}
		exec(t, c, fmt.Sprintf("PREPARE s FROM 'SELECT %d'", i))
		exec(t, c, "EXECUTE s")
		exec(t, c, "DEALLOCATE PREPARE s")
	}
	exec(t, c, "DO 1") // the last closing has no answer
	err := r.door.sessions.Iter(func(one gms.Session) (bool, error) {
		s := one.(*session)
		if s.kept.taken != 0 || len(s.kept.trees)+len(s.kept.prepared)+len(s.kept.named) != 0 || s.parsed.text != "" {
			t.Errorf("%+v", s.kept)
		}
		for i := range 300 {
			if _, ok := s.GetPreparedQuery(fmt.Sprintf("SELECT %d + ?", i)); ok {
				t.Fatalf("statement %d is still there", i)
			}
		}
		return false, nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// TestLocksAreAsMySQLHasThem takes them, waits for them and gives them back.
func TestLocksAreAsMySQLHasThem(t *testing.T) {
	r := newRig(t, Config{}, nil)
	a, b := r.connect(""), r.connect("")
	is := func(c *sql.Conn, query, want string) {
		t.Helper()
		var got sql.NullString
		if err := c.QueryRowContext(t.Context(), query).Scan(&got); err != nil {
			got.String = err.Error()
		} else if !got.Valid {
			got.String = "NULL"
		}
		if !strings.HasPrefix(got.String, want) {
			t.Errorf("%s: %s, not %s", query, got.String, want)
		}
	}
	is(a, "SELECT GET_LOCK('Job', 0)", "1")
	is(a, "SELECT GET_LOCK('job', -1)", "1")
	is(b, "SELECT GET_LOCK('job', 0)", "0")
	is(b, "SELECT GET_LOCK('job', 1)", "0")
	is(b, "SELECT IS_FREE_LOCK('job')", "0")
	is(b, "SELECT IS_USED_LOCK('job') <> CONNECTION_ID()", "1")
	is(a, "SELECT IS_USED_LOCK('job') = CONNECTION_ID()", "1")
	is(b, "SELECT RELEASE_LOCK('job')", "0")
	is(a, "SELECT RELEASE_LOCK('job')", "1")
	is(b, "SELECT GET_LOCK('job', 0)", "0")
	is(a, "SELECT RELEASE_LOCK('job')", "1")
	is(a, "SELECT RELEASE_LOCK('job')", "NULL")
	is(a, "SELECT IS_USED_LOCK('job')", "NULL")
	is(a, "SELECT IS_FREE_LOCK('job')", "1")
	is(a, "SELECT GET_LOCK('', 1)", "Error 3057 (42000)")
	is(a, "SELECT GET_LOCK(NULL, 1)", "Error 3057 (42000)")
	is(a, "SELECT GET_LOCK(REPEAT('é', 64), 1)", "1")
	is(a, "SELECT GET_LOCK(REPEAT('é', 65), 1)", "Error 3057 (42000)")
	is(a, "SELECT GET_LOCK('x', 0) + GET_LOCK('y', 0) + GET_LOCK('x', 0)", "3")
	is(a, "SELECT RELEASE_ALL_LOCKS()", "4")
	is(a, "SELECT RELEASE_ALL_LOCKS()", "0")

	// Who waits gets it, in the order in which they came, when it is released or its owner goes.
	is(a, "SELECT GET_LOCK('one', 0)", "1")
	answers := make(chan string, 2)
	waiting := func(c *sql.Conn, name string, n int) {
		go func() {
			var got string
			if err := c.QueryRowContext(t.Context(), "SELECT GET_LOCK(?, 60)", name).Scan(&got); err != nil {
				got = err.Error()
			}
			answers <- name + got
		}()
		r.waitingForLock(name, n)
	}
	c := r.connect("")
	waiting(b, "one", 1)
	waiting(c, "one", 2)
	is(a, "SELECT RELEASE_LOCK('one')", "1")
	if got := <-answers; got != "one1" {
		t.Error(got)
	}
	is(a, "SELECT IS_USED_LOCK('one') = "+connectionNumber(t, b), "1")
	b.Raw(func(any) error { return sqldriver.ErrBadConn }) //nolint:errcheck // it closes the connection
	b.Close()
	if got := <-answers; got != "one1" {
		t.Error(got)
	}
	is(a, "SELECT IS_USED_LOCK('one') = "+connectionNumber(t, c), "1")

	// Two that wait for each other are told.
	is(a, "SELECT GET_LOCK('two', 0)", "1")
	waiting(c, "two", 1)
	is(a, "SELECT GET_LOCK('one', 60)", "Error 3058 (HY000)")
	is(a, "SELECT RELEASE_LOCK('two')", "1")
	if got := <-answers; got != "two1" {
		t.Error(got)
	}

	// A client that goes while it waits leaves nothing.
	d := r.connect("")
	ctx, cancel := context.WithCancel(t.Context())
	gone := make(chan error)
	go func() {
		_, err := d.ExecContext(ctx, "DO GET_LOCK('one', -1)")
		gone <- err
	}()
	r.waitingForLock("one", 1)
	cancel()
	if err := <-gone; err == nil {
		t.Error("a lock of another was taken")
	}
	r.waitingForLock("one", 0)
	is(c, "SELECT RELEASE_ALL_LOCKS()", "2")
	r.door.locks.mu.Lock()
	defer r.door.locks.mu.Unlock()
	if n := len(r.door.locks.held); n != 0 {
		t.Errorf("%d locks are held by nobody", n)
	}
}

// waitingForLock waits until so many sessions wait for a lock.
func (r *rig) waitingForLock(name string, n int) {
	r.t.Helper()
	waittest.Until(r.t, fmt.Sprintf("%d who wait for %s", n, name), func() bool {
		l := &r.door.locks
		l.mu.Lock()
		defer l.mu.Unlock()
		one := l.held[name]
		return one != nil && len(one.waiting) == n
	})
}

// connectionNumber is a connection's.
func connectionNumber(t *testing.T, c *sql.Conn) (n string) {
	t.Helper()
	if err := c.QueryRowContext(t.Context(), "SELECT CONNECTION_ID()").Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}
